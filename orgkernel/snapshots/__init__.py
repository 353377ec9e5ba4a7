"""From files to a checked snapshot: what is read, linked, found and remembered in one load (docs/architecture.md)."""
