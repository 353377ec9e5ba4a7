"""Checked snapshots from files: read, link, check and cache (docs/architecture.md)."""
