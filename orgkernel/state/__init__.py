"""State that survives: what is remembered about agents, grants, requests, locks and keys, and the audit (docs/how-to/store.md).

`store.py` puts a store together from its parts; SQLite and PostgreSQL run the same code. Nothing here
knows a clock or chance: both are given when a store is opened.
"""
