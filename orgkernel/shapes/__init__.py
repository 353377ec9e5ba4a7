"""What a document of each kind has to look like: one struct per model, with its constraints, generated from it."""
