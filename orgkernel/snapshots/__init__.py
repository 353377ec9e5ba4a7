"""Checked snapshots of documents: read, link, check and cache (docs/architecture.md)."""
