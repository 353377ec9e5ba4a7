"""Edits of documents that leave everything else in the file as it is."""
