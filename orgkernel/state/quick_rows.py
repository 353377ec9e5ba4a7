"""Rows of the audit and counts of calls, written to SQLite below SQLAlchemy.

There are such rows for every call of a tool. SQLAlchemy would take most of the time of their transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache
from typing import cast

from sqlalchemy import Engine, PoolProxiedConnection
from sqlalchemy.dialects import sqlite

from orgkernel.state.chain import AuditValues, insert_rows
from orgkernel.state.use_counts import CountedCall, adding, sum_up


class QuickRows:
    """A connection of one thread that is kept, for transactions that only add rows."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: PoolProxiedConnection | None = None
        self._cursor: sqlite3.Cursor

    def write(self, rows: list[AuditValues], uses: Sequence[CountedCall]) -> None:
        """Write rows and counts in one transaction. Raises `sqlite3.Error`; then nothing is written."""
        if self._connection is None:
            self._connection = self._engine.raw_connection()
            self._cursor = cast("sqlite3.Connection", self._connection.driver_connection).cursor()
        cursor = self._cursor
        cursor.execute("BEGIN IMMEDIATE")
        try:
            insert_rows(cursor, rows)
            if uses:
                cursor.executemany(_adding(), sum_up(uses))
            cursor.execute("COMMIT")
        except BaseException:
            cursor.connection.rollback()  # nothing, if SQLite has done it
            raise

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._cursor.close()
            self._connection.close()
            self._connection = None


@cache
def _adding() -> str:
    return str(adding("sqlite").compile(dialect=sqlite.dialect(paramstyle="named")))
