"""Rows of the audit and counts of calls, written below SQLAlchemy, which would take most of the time of their transaction.

There are such rows for every decision and every call of a tool. If this engine is off, the writer of the store puts them into the
database as it puts everything else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import chain
from typing import cast

from sqlalchemy import Connection, Engine, PoolProxiedConnection, insert
from sqlalchemy.dialects import sqlite

from orgkernel.state.database import get_sqlite_connection, require_same_file
from orgkernel.state.schema_version import SELECT_VERSION, require_newest
from orgkernel.state.tables import AuditValues, audit
from orgkernel.state.use_counts import CountedCall, build_add_statement, sum_up

_COLUMNS = tuple(column.name for column in audit.columns)
_MAX_ROWS = 64
"""Rows per statement: with 13 values each, the maximum that every SQLite accepts."""


class RowInserts:
    """A connection of one thread to SQLite that is kept, for transactions that only add rows."""

    def __init__(self, engine: Engine, shown: str) -> None:
        self._engine = engine
        self._shown = shown
        self._connection: PoolProxiedConnection | None = None
        self._cursor: sqlite3.Cursor

    def write(self, rows: list[AuditValues], uses: Sequence[CountedCall]) -> None:
        """Write rows and counts in one transaction. Raises `sqlite3.Error` and `StoreError`; then nothing is written."""
        require_same_file(self._engine)
        if self._connection is None:
            self._connection = self._engine.raw_connection()
            self._cursor = cast("sqlite3.Connection", self._connection.driver_connection).cursor()
        cursor = self._cursor
        cursor.execute("BEGIN IMMEDIATE")
        try:
            (version,) = cursor.execute(SELECT_VERSION).fetchone() or (None,)
            require_newest(version, self._shown)
            _insert_in_blocks(cursor, rows)
            if uses:
                cursor.executemany(_build_insert_text(), sum_up(uses))
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


def make_insert(engine: Engine) -> Callable[[Connection, list[AuditValues]], None]:
    """A statement that inserts audit rows within a transaction of SQLAlchemy, for one engine."""
    if engine.dialect.paramstyle not in ("pyformat", "named"):
        return lambda connection, rows: _insert_in_blocks(get_sqlite_connection(connection), rows)
    statement = str(insert(audit).compile(dialect=engine.dialect, column_keys=list(_COLUMNS)))
    return partial(_insert_by_names, statement)


def _insert_by_names(statement: str, connection: Connection, rows: list[AuditValues]) -> None:
    connection.exec_driver_sql(statement, [dict(zip(_COLUMNS, row, strict=True)) for row in rows])


def _insert_in_blocks(connection: sqlite3.Connection | sqlite3.Cursor, rows: list[AuditValues]) -> None:
    """Insert rows by few statements of many rows, in sizes that come again and are prepared once.

    With every statement SQLite lets other threads run, and then has to wait for its turn.
    """
    start = 0
    while start < len(rows):
        many = min(_MAX_ROWS, 1 << (len(rows) - start).bit_length() - 1)
        connection.execute(_insert_many(many), tuple(chain.from_iterable(rows[start : start + many])))
        start += many


@cache
def _insert_many(rows: int) -> str:
    places = f"({', '.join('?' * len(_COLUMNS))})"
    return f"INSERT INTO audit ({', '.join(_COLUMNS)}) VALUES {', '.join([places] * rows)}"


@cache
def _build_insert_text() -> str:
    return str(build_add_statement("sqlite").compile(dialect=sqlite.dialect(paramstyle="named")))
