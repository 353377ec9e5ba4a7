"""Commands for work: contracts, hand-offs, claims, and the files and commands that work may touch."""
