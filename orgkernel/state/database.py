"""Connections to SQLite and PostgreSQL such that the code above needs no difference between them, and their errors in our words.

SQLite: one file in WAL mode, synchronous=FULL (a commit is on the disk), waiting for others up to `busy_seconds`. A
write transaction takes the lock at its beginning, so it never fails in the middle because it first read. PostgreSQL
makes the same promises (`postgresql.py`).
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast
from urllib.parse import quote as url_quote

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from orgkernel.diagnostics.wording import printable, quote
from orgkernel.errors import BadStore, OrgkernelError, Refused, StoreBusy, StoreError, StoreFull
from orgkernel.state.location import StoreLocation

_FULL = (
    "SQLITE_FULL",
    "SQLITE_IOERR_WRITE",
    "SQLITE_IOERR_FSYNC",
    "SQLITE_IOERR_SHMSIZE",
    "SQLITE_IOERR_TRUNCATE",
)
_HELP = {
    "SQLITE_READONLY": ("cannot be written", "allow this user to write the file and its folder"),
    "SQLITE_CANTOPEN": ("cannot be opened", "its folder must exist, and this user must be able to write it"),
    "SQLITE_NOTADB": ("is not a database", "choose another file, or move this one away"),
    "SQLITE_CORRUPT": ("is damaged", "restore a backup with `orgkernel store restore FILE`"),
    "SQLITE_PERM": ("cannot be opened", "allow this user to read and write the file"),
    "SQLITE_AUTH": ("cannot be opened", "allow this user to read and write the file"),
}  # fmt: skip
_WRITES, _FILE = "orgkernel_writes", "orgkernel_file"
_PAGES = 10_000
"""Pages in the journal, each of 4 KiB, before a commit moves them into the file, which takes it several milliseconds."""
_CALLERS = 64
"""Connections beyond those kept open."""


def translate_error(error: Exception, shown: str) -> OrgkernelError:
    """The error to raise instead of one of the database or the system; errors of orgkernel are passed on unchanged."""
    if isinstance(error, OrgkernelError):
        return error
    if isinstance(error, UnicodeError | OverflowError | DataError):
        return Refused(
            "a string or a number cannot be stored", "remove NUL characters and lone surrogates", "BAD_VALUE"
        )
    cause: object = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, sqlite3.Error):
        return _translate_sqlite_error(cause, shown)
    if isinstance(cause, OSError):
        kind = StoreFull if cause.errno in (27, 28, 122) else BadStore  # EFBIG, ENOSPC, EDQUOT
        return kind(f"the store {quote(shown)} cannot be used: {cause.strerror or cause}")
    if isinstance(error, SQLAlchemyError):
        state = getattr(cause, "sqlstate", None) or ""
        reason = printable(str(cause).strip().splitlines()[0] if str(cause).strip() else type(cause).__name__)
        if state.startswith("53"):  # insufficient resources: disk, memory, connections
            return StoreFull(f"the store {quote(shown)} is full: {reason}")
        if state in ("40001", "40P01", "55P03", "57014"):
            return StoreBusy(f"the store {quote(shown)} is busy: {reason}", "try again")
        if state.startswith(
            ("28", "3D", "42", "25")
        ):  # who may log in, which database, which tables, read-only
            return BadStore(f"the store {quote(shown)} cannot be used: {reason}")
        return StoreError(
            f"the store {quote(shown)} does not answer: {reason}", "check that the database is running"
        )
    return StoreError(f"the store {quote(shown)} failed: {type(error).__name__}: {printable(str(error))}")


def _translate_sqlite_error(cause: sqlite3.Error, shown: str) -> StoreError:
    name = getattr(cause, "sqlite_errorname", None) or ""
    if name in _FULL:
        return StoreFull(
            f"the store {quote(shown)} is full: {cause}", "free some space on its disk; nothing was written"
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreBusy(
            f"the store {quote(shown)} is locked by another process",
            "try again when the other process has ended",
        )
    for begins, (says, help) in _HELP.items():
        if name.startswith(begins):
            return BadStore(f"the store {quote(shown)} {says}", help)
    return StoreError(f"the store {quote(shown)} failed: {cause}")


def make_engine(location: StoreLocation, busy_seconds: float = 5.0, *, read_only: bool = False) -> Engine:
    """An engine for a location. A missing file is created, unless it is only read. Raises `BadStore`."""
    if not location.path:
        return _open_postgresql(location, busy_seconds, read_only)
    if read_only:
        return _open_read_only(location, busy_seconds)
    _make_file(location)
    file = OpenedFile(location)
    engine = create_engine(
        URL.create("sqlite", database=location.path),
        connect_args={"timeout": busy_seconds, "isolation_level": None, "check_same_thread": False},
        max_overflow=_CALLERS,
    )
    engine.update_execution_options(**{_FILE: file})
    event.listen(engine, "do_connect", lambda *_: file.require_same())  # or SQLite would make an empty file
    event.listen(engine, "connect", _set_pragmas)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def get_sqlite_connection(connection: Connection) -> sqlite3.Connection:
    """The connection of SQLite below one of SQLAlchemy, for what every row needs: it takes a fifth of the time there."""
    return cast("sqlite3.Connection", connection.connection.driver_connection)


def close_engine(engine: Engine) -> None:
    """Close every connection: the idle ones now, and each of those that other threads still use when it comes back.

    `Engine.dispose` alone leaves the latter open: they return to a pool that no longer belongs to any engine.
    """
    event.listen(engine, "checkin", _close_returned)
    engine.dispose()


def _close_returned(_: object, record: ConnectionPoolEntry) -> None:
    record.close()


@contextmanager
def open_for_writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that writes: committed at the end, rolled back when anything is raised."""
    with engine.connect().execution_options(**{_WRITES: True}) as connection, connection.begin():
        yield connection


@contextmanager
def open_for_reading(engine: Engine, shown: str) -> Iterator[Connection]:
    """A transaction that sees one moment of the store; raises our errors instead of the database's."""
    try:
        with engine.connect() as connection:
            if engine.dialect.name == "postgresql":
                connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection
    except (SQLAlchemyError, sqlite3.Error, OSError, UnicodeError, OverflowError) as error:
        raise translate_error(error, shown) from error


def make_folder(location: StoreLocation) -> None:
    """Create the folder of a store file, if it has orgkernel's own name. It is excluded from git. Raises `BadStore`."""
    folder = os.path.dirname(location.path)
    if os.path.isdir(location.path):
        raise BadStore(f"the store {quote(location.shown)} is a folder", "choose a file in the folder")
    with _translate_errors(location):
        if os.path.basename(folder) == ".orgkernel" and not os.path.isdir(folder):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            with open(os.path.join(folder, ".gitignore"), "w", encoding="utf-8") as ignore:
                ignore.write("*\n")


class OpenedFile:
    """The file of a store that is open.

    A file that was removed, moved or replaced stays open, and SQLite continues to write to it. These changes are
    lost when the process ends, so each transaction compares first.
    """

    def __init__(self, location: StoreLocation) -> None:
        self._path = location.path
        self._shown = location.shown
        self._identity = self._find_identity()

    def require_same(self) -> None:
        """Raise `StoreError` if the path no longer leads to the file. Putting the file back is enough."""
        if self._find_identity() != self._identity:
            raise StoreError(
                f"the store {quote(self._shown)} was removed, moved or replaced while it was open",
                "put the file back, or end this program before you replace it with `orgkernel store restore`",
            )

    def _find_identity(self) -> tuple[int, int] | None:
        try:
            state = os.stat(self._path)
        except OSError:
            return None
        return state.st_dev, state.st_ino


def require_same_file(engine: Engine | Connection) -> None:
    """Raise `StoreError` if the file of an open store was removed, moved or replaced."""
    file: OpenedFile | None = engine.get_execution_options().get(_FILE)
    if file is not None:
        file.require_same()


def _make_file(location: StoreLocation) -> None:
    """Create the file, readable only by its owner, because it decides about permissions."""
    make_folder(location)
    with _translate_errors(location), contextlib.suppress(FileExistsError):
        os.close(os.open(location.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


@contextmanager
def _translate_errors(location: StoreLocation) -> Iterator[None]:
    """Raise orgkernel errors instead of system errors."""
    try:
        yield
    except OSError as error:
        failure = translate_error(error, location.shown)
        failure.help = failure.help or "its folder must exist, and this user must be able to write it"
        raise failure from None


def _open_read_only(location: StoreLocation, busy_seconds: float) -> Engine:
    """An engine that leaves the file and its folder as they are."""
    # Without a journal, no process has the store open, and SQLite would create one to read it.
    is_alone = not os.path.exists(f"{location.path}-wal")
    url = f"file:{url_quote(location.path)}?mode=ro{'&immutable=1' * is_alone}"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(
            url, uri=True, timeout=busy_seconds, isolation_level=None, check_same_thread=False
        )

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_pragmas(connection: Any, _: object) -> None:
    cursor = connection.cursor()
    try:
        _write_ahead(cursor)
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute(f"PRAGMA wal_autocheckpoint={_PAGES}")
        cursor.close()
    except BaseException:
        connection.close()  # the pool forgets a connection that could not be prepared
        raise


def _write_ahead(cursor: Any) -> None:
    """Switch to write-ahead logging.

    SQLite does not wait for another process that does the same, and reports `locked`.
    """
    for _ in range(_CALLERS):
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
        # For this lock it waits, as long as for any other.
        cursor.execute("BEGIN IMMEDIATE")
        cursor.execute("COMMIT")
    cursor.execute("PRAGMA journal_mode=WAL")


def _begin_sqlite(connection: Connection) -> None:
    require_same_file(connection)
    writes = connection.get_execution_options().get(_WRITES)
    get_sqlite_connection(connection).execute("BEGIN IMMEDIATE" if writes else "BEGIN")


def _open_postgresql(location: StoreLocation, busy_seconds: float, read_only: bool = False) -> Engine:
    try:
        from orgkernel.state.postgresql import set_limits

        url = make_url(location.url)
        arguments = {"options": "-c default_transaction_read_only=on"} if read_only else {}
        engine = create_engine(url, max_overflow=_CALLERS, pool_pre_ping=True, connect_args=arguments)
    except ImportError:
        raise BadStore(
            f"the store {quote(location.shown)} needs the driver of PostgreSQL",
            "install the extra `orgkernel[postgres]`",
        ) from None
    except (ArgumentError, ValueError):
        raise BadStore(
            f"the store {quote(location.shown)} is not the URL of a database",
            "`postgresql://USER@HOST/DATABASE`",
        ) from None
    set_limits(engine, busy_seconds)
    return engine
