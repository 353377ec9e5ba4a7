"""`store backup` and `store info`: a consistent copy while others write, and the contents of a store."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3

import msgspec
from sqlalchemy import func, select, text

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadStore, StoreError
from orgkernel.state.engine import failure_of, reading
from orgkernel.state.migrating import version_of
from orgkernel.state.store import Store
from orgkernel.state.tables import metadata, state_version


class StoreInfo(msgspec.Struct, frozen=True):
    """The size of a store."""

    engine: str
    place: str
    version: str | None
    """Of its tables."""
    state_version: int
    bytes: int | None
    """Bytes of its files. None for PostgreSQL."""
    rows: dict[str, int]
    checkpoints: str


def back_up(store: Store, target: str) -> None:
    """Copy a SQLite store and its checkpoints to a new file and the folder beside it; raises `BadStore`, `StoreError`."""
    if not store.location.path:
        raise BadStore(
            f"the store {quote(store.location.shown)} is a database of PostgreSQL",
            "use `pg_dump --format=custom`, and copy the folder of checkpoints that `orgkernel store info` prints",
        )
    for name in (target, f"{target}.audit"):
        if os.path.lexists(name):
            raise BadStore(
                f"{quote(name)} exists",
                "choose a file that does not exist, and whose folder of checkpoints does not exist",
            )
    if not os.path.isdir(os.path.dirname(target)):
        raise BadStore(f"{quote(os.path.dirname(target))} is not a folder", "make it first")
    beside = f"{target}.{os.getpid()}.new"
    try:
        # Checkpoints first: the rows then go at least as far as they say.
        if os.path.isdir(store.folder.path):
            shutil.copytree(store.folder.path, f"{target}.audit")
        os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        _copy(store.location.path, beside)
        os.replace(beside, target)
    except (OSError, sqlite3.Error) as error:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        shutil.rmtree(f"{target}.audit", ignore_errors=True)
        raise failure_of(error, target) from None


def _copy(path: str, target: str) -> None:
    with (
        contextlib.closing(sqlite3.connect(path)) as source,
        contextlib.closing(sqlite3.connect(target)) as copy,
    ):
        source.backup(copy)
        (answer,) = copy.execute("PRAGMA quick_check").fetchone()
        if answer != "ok":
            raise StoreError(
                f"the copy of {quote(path)} is damaged: {answer}",
                "check the store itself with `orgkernel audit verify`",
            )
        copy.execute("PRAGMA journal_mode=DELETE")  # one file, nothing beside it


def measure_size(store: Store) -> int:
    """Bytes that a store uses. Space that deleted rows have left, and that new rows will use, does not count."""
    with reading(store.engine, store.location.shown) as connection:
        if not store.location.path:
            return int(connection.scalar(text("SELECT pg_database_size(current_database())")) or 0)
        pages, free, size = (
            int(connection.scalar(text(f"PRAGMA {name}")) or 0)
            for name in ("page_count", "freelist_count", "page_size")
        )
    return (pages - free) * size


def read_info(store: Store) -> StoreInfo:
    """The contents of a store."""
    version = version_of(store.engine, store.location.shown)
    with reading(store.engine, store.location.shown) as connection:
        rows = {
            table.name: connection.scalar(select(func.count()).select_from(table)) or 0
            for table in metadata.sorted_tables
            if table is not state_version
        }
        state = connection.execute(select(state_version.c.version)).scalar_one()
    size = None
    if store.location.path:
        files = (f"{store.location.path}{suffix}" for suffix in ("", "-wal"))
        size = sum(os.path.getsize(name) for name in files if os.path.exists(name))
    name = "sqlite" if store.location.path else "postgresql"
    return StoreInfo(
        name, store.location.shown, version, state, size, dict(sorted(rows.items())), store.folder.path
    )
