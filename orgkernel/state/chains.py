"""The chains this process continues: where they end, what comes next, and their head beside the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import cache
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Engine, insert, select

from orgkernel.decisions.state_records import AuditEntry, Stream, audit_id, stream_of
from orgkernel.state.chain import GENESIS, link
from orgkernel.state.checkpoints import Folder, Head, HeadFile, Link
from orgkernel.state.failures import failure_of
from orgkernel.state.tables import audit

Row = tuple[Any, ...]
_COLUMNS = tuple(column.name for column in audit.columns)
_MOST_ROWS = 64
"""In one statement: with 13 values each, what every SQLite takes."""
_STREAMS: tuple[Stream, ...] = ("decision", "history")


class Chains:
    """The chains of one writer. They are known once something was written."""

    def __init__(self, engine: Engine, folder: Folder) -> None:
        self._engine = engine
        self._folder = folder
        self._insert = str(insert(audit).compile(dialect=engine.dialect, column_keys=list(_COLUMNS)))
        self._named = engine.dialect.paramstyle in ("pyformat", "named")
        self._file: HeadFile | None = None
        self.problem: Exception | None = None
        """Why a checkpoint could not be written although the rows are; None while all is well."""

    def resume(self, connection: Connection) -> dict[Stream, Link]:
        """Where our chains end, as the table has it; a writer whose chains were cut is left alone, as the evidence it is."""

        def is_whole(head: Head) -> bool:
            for stream, known in head.heads.items():
                if known.sequence and _link_at(connection, head.writer, stream, known.sequence) != known:
                    return False
            return True

        if self._file is None:
            self._file = self._folder.lease(is_whole)
        return {stream: _last_link(connection, self._file.writer, stream) for stream in _STREAMS}

    def checkpoint(self, links: dict[Stream, Link]) -> None:
        assert self._file is not None
        try:
            self._file.write(links)
            self.problem = None
        except Exception as error:
            self.problem = failure_of(error, self._folder.path)

    def append(self, entry: AuditEntry, body: str, links: dict[Stream, Link], rows: list[Row]) -> str:
        assert self._file is not None
        writer, stream = self._file.writer, stream_of(entry.kind)
        last = links[stream]
        sequence = last.sequence + 1
        digest = link(last.digest, writer, stream, sequence, body)
        links[stream] = Link(sequence, digest)
        rows.append(
            (
                writer, stream, sequence, last.digest, digest, entry.at, entry.kind, entry.activity, entry.subject,
                entry.channel, entry.relationship, entry.record_id, body,
            )
        )  # fmt: skip
        return audit_id(writer, stream, sequence)

    def insert(self, connection: Connection, rows: list[Row]) -> None:
        """Write rows at once, below SQLAlchemy's handling of each: there are many."""
        if self._named:
            connection.exec_driver_sql(self._insert, [dict(zip(_COLUMNS, row, strict=True)) for row in rows])
            return
        for statement, values in _statements(rows):
            connection.exec_driver_sql(statement, values)

    def commit_quickly(self, rows: list[Row]) -> bool:
        """Write rows in a transaction of their own, without SQLAlchemy, which takes longer than SQLite does.

        False where that cannot be done; raises `sqlite3.Error`, and then nothing is written or it is not known.
        """
        if self._engine.dialect.name != "sqlite":
            return False
        with closing(self._engine.raw_connection()) as pooled:
            connection: Any = pooled.driver_connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                for statement, values in _statements(rows):
                    connection.execute(statement, values)
                connection.execute("COMMIT")
            except BaseException:
                # Of an error of the disk, the whole connection is in doubt.
                pooled.invalidate()
                raise
        return True

    def close(self) -> None:
        """Let another process continue them."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _statements(rows: list[Row]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Insert rows by few statements of many rows, in sizes that come again and are prepared once.

    With every statement SQLite lets other threads run, and then has to wait for its turn.
    """
    start = 0
    while start < len(rows):
        many = min(_MOST_ROWS, 1 << (len(rows) - start).bit_length() - 1)
        yield _insert_many(many), tuple(chain.from_iterable(rows[start : start + many]))
        start += many


@cache
def _insert_many(rows: int) -> str:
    places = f"({', '.join('?' * len(_COLUMNS))})"
    return f"INSERT INTO audit ({', '.join(_COLUMNS)}) VALUES {', '.join([places] * rows)}"


def _link_at(connection: Connection, writer: str, stream: Stream, sequence: int) -> Link | None:
    where = (audit.c.writer == writer, audit.c.stream == stream, audit.c.sequence == sequence)
    digest = connection.scalar(select(audit.c.digest).where(*where))
    return None if digest is None else Link(sequence, digest)


def _last_link(connection: Connection, writer: str, stream: Stream) -> Link:
    where = (audit.c.writer == writer, audit.c.stream == stream)
    row = connection.execute(
        select(audit.c.sequence, audit.c.digest).where(*where).order_by(audit.c.sequence.desc()).limit(1)
    ).first()
    return Link(0, GENESIS) if row is None else Link(row.sequence, row.digest)
