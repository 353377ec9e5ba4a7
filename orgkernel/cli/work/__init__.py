"""Work that is handed down: contracts, hand-offs, claims, and what may be written or run."""
