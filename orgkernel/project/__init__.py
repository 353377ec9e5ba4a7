"""Tools for authors of documents: start a tree, upgrade it, test it, compare two of them."""
