"""What an author does with a tree of documents: begin it, upgrade it, test it, compare two of them."""
