"""Statements are compiled once in a test process, not once for each of the thousands of stores that tests open."""

from __future__ import annotations

from typing import Any

import sqlalchemy
from sqlalchemy.util import LRUCache

_COMPILED: LRUCache[Any, Any] = LRUCache(2_000)
_first: list[sqlalchemy.Dialect] = []


def create_engine(*arguments: Any, **named: Any) -> sqlalchemy.Engine:
    """As SQLAlchemy does it; all engines for SQLite have one dialect, by which compiled statements are found."""
    engine = sqlalchemy.create_engine(*arguments, execution_options={"compiled_cache": _COMPILED}, **named)
    if engine.dialect.name == "sqlite":
        if not _first:
            first = sqlalchemy.create_engine("sqlite://")
            with first.connect() as connection:  # which initializes the dialect
                _first.append(connection.dialect)
            first.dispose()
        engine.dialect = _first[0]
    return engine
