"""Which version the state has now: asked before every answer, so it is asked below SQLAlchemy."""

from __future__ import annotations

import contextlib
from typing import Any

from sqlalchemy import select

from orgkernel.state.rows import Rows
from orgkernel.state.tables import state_version


class VersionReader:
    """Reads the state version by a connection of its own."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._query = str(select(state_version.c.version).compile(dialect=rows.engine.dialect))
        self._connection: Any = None

    def peek(self) -> int | None:
        """The version, where looking waits for nobody: of a file that is not locked whole."""
        if self._connection is None or self._rows.engine.dialect.name != "sqlite":
            return None
        try:
            return self._ask()
        except Exception:
            self.close()
            return None

    def read(self) -> int:
        """The version now. Raises `StoreError`."""
        try:
            return self._ask()
        except Exception:
            self.close()
            # Whatever is wrong is said in our words by the way that knows them, or it works again.
            with self._rows.reading() as connection:
                return int(connection.execute(select(state_version.c.version)).scalar_one())

    def _ask(self) -> int:
        if self._connection is None:
            self._connection = self._connect()
        cursor = self._connection.cursor()
        try:
            cursor.execute(self._query)
            return int(cursor.fetchone()[0])
        finally:
            cursor.close()

    def close(self) -> None:
        """Give the connection back; the next question takes another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.close()

    def _connect(self) -> Any:
        pooled = self._rows.engine.raw_connection()
        connection: Any = pooled.driver_connection
        pooled.detach()  # it is ours from here on
        if self._rows.engine.dialect.name == "postgresql":
            connection.autocommit = True
        else:
            connection.execute("PRAGMA busy_timeout = 0")
        return connection
