"""Edits of documents that leave the rest of the file unchanged."""
