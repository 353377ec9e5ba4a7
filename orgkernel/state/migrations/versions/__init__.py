"""One module per step; a published step is never edited."""
