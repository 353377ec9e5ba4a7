"""Decisions about work: contracts, bills, batches, and the handling of intents."""
