"""Commands for work: contracts, dispatches, claims, and the files and commands that work may touch."""
