"""Work that is handed down: contracts, dispatches, claims, and what may be written or run."""
