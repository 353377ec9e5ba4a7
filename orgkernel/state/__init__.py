"""Persistent state: agents, grants, requests, locks, keys, reports and the audit (docs/how-to/store.md).

`store.py` builds a store from its parts. SQLite and PostgreSQL run the same code. Clock and random numbers are
arguments of an opened store.
"""
