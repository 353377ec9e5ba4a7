"""`store backup` and `store info`: a consistent copy during other writes, and the size of a store."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from threading import Event
from urllib.parse import quote as urlquote

import msgspec
from sqlalchemy import func, select, text

from orgkernel.decisions.evidence.state_records import Stream
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadStore, StoreError
from orgkernel.private_files import write_new
from orgkernel.runtime.regular_files import read_regular
from orgkernel.state.chain import GENESIS, follow_sealed
from orgkernel.state.checkpoints import Checkpoints, Head, Link
from orgkernel.state.database import open_for_reading, translate_error
from orgkernel.state.identity_keys import copy_identities
from orgkernel.state.location import StoreLocation
from orgkernel.state.migrating import read_store_version
from orgkernel.state.seals import ChainRow
from orgkernel.state.signing import Tokens
from orgkernel.state.store import Store
from orgkernel.state.store_lock import hold_lock
from orgkernel.state.tables import audit, metadata, state_version

SIDECARS = ("-wal", "-shm", "-journal")
"""Files that SQLite can keep next to a database. They are not part of a copy."""

_LOOKS, _PAUSE = 10, 0.05
"""Number of attempts, and seconds between them, to read checkpoints that another process is writing."""


class StoreInfo(msgspec.Struct, frozen=True):
    """The size of a store."""

    engine: str
    place: str
    version: str | None
    """Number of rows, keyed by table."""
    state_version: int
    bytes: int | None
    """Bytes of its files. None for PostgreSQL."""
    rows: dict[str, int]
    checkpoints: str


def back_up(location: StoreLocation, target: str, tokens: Tokens, clock: Callable[[], float]) -> str:
    """Copy a store of any version to a new file, and its checkpoints to the folder next to it. Returns its version.

    Nothing is upgraded, and other processes can write in the meantime. Raises `BadStore` and `StoreError`.
    """
    if not location.path:
        raise BadStore(
            f"the store {quote(location.shown)} is a database of PostgreSQL",
            f"copy the folder of checkpoints {quote(location.checkpoints)}, and then use `pg_dump --format=custom`",
        )
    for name in (target, f"{target}.audit", *(f"{target}{suffix}" for suffix in SIDECARS)):
        if os.path.lexists(name):
            raise BadStore(
                f"{quote(name)} exists",
                "choose a file that does not exist, and whose folder of checkpoints does not exist",
            )
    if not os.path.isdir(os.path.dirname(target)):
        raise BadStore(f"{quote(os.path.dirname(target))} is not a folder", "create it first")
    beside = f"{target}.{os.getpid()}.new"
    try:
        with hold_lock(location):
            # Checkpoints are copied first, so the rows reach at least as far as the checkpoints.
            folder = Checkpoints(location.checkpoints, tokens, clock)
            before = folder.read_trusted_heads()
            write_new(beside, b"")
            version = copy_database(location.path, beside)
            if folder.exists():
                _wait_for_checkpoints(beside, folder)
                copied = Checkpoints(f"{target}.audit", tokens, clock)
                copy_checkpoints(folder.path, copied.path)
                _sign_ends(beside, copied, before)
        os.replace(beside, target)
    except (OSError, sqlite3.Error) as error:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        shutil.rmtree(f"{target}.audit", ignore_errors=True)
        raise translate_error(error, target) from None
    return version


def copy_database(path: str, target: str, options: str = "mode=rw", check: str = "quick_check") -> str:
    """Copy a store into an empty file, and check the copy. Returns its version. Raises `BadStore`, `StoreError`."""
    with (
        contextlib.closing(sqlite3.connect(f"{_build_uri(path)}?{options}", uri=True)) as source,
        contextlib.closing(sqlite3.connect(target, isolation_level=None)) as copy,
    ):
        source.backup(copy)
        (answer,) = copy.execute(f"PRAGMA {check}").fetchone()
        if answer != "ok":
            raise StoreError(
                f"the copy of {quote(path)} is damaged: {answer}",
                "use another backup, or check the store itself with `orgkernel audit verify`",
            )
        copy.execute("PRAGMA journal_mode=DELETE")  # one file, without files next to it
        names = {name for (name,) in copy.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not {"alembic_version", audit.name} <= names:
            raise BadStore(f"{quote(path)} is not a store or a backup of one", "name another file")
        (version,) = copy.execute("SELECT version_num FROM alembic_version").fetchone()
    sync(target)
    return str(version)


def sync(path: str) -> None:
    """Have a file or folder written to the disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _build_uri(path: str) -> str:
    return f"file:{urlquote(os.path.abspath(path))}"


def copy_checkpoints(folder: str, target: str) -> None:
    """Copy the files of a folder of checkpoints. A copy has a temporary name until it is complete."""
    os.makedirs(target, mode=0o700)
    for name in sorted(os.listdir(folder)):
        if name == "key" or name.endswith((".head", ".jsonl")):
            write_new(os.path.join(target, name), read_regular(os.path.join(folder, name), -1))
    copy_identities(folder, target)


def _wait_for_checkpoints(path: str, folder: Checkpoints) -> None:
    """Wait until the checkpoints prove the rows in a copy. They are written a moment after the rows."""
    with contextlib.closing(sqlite3.connect(path)) as rows:
        ends = rows.execute(
            "SELECT writer, stream, max(sequence) FROM audit"
            " WHERE typeof(writer) = 'text' AND typeof(sequence) = 'integer' GROUP BY writer, stream"
        ).fetchall()
    for _ in range(_LOOKS):
        # Only a running writer will still write a checkpoint. If it has ended, waiting is useless.
        held = {writer for writer, _, _ in ends if folder.is_held(writer)}
        heads = folder.read_trusted_heads()
        ends = [
            (writer, stream, last)
            for writer, stream, last in ends
            if writer not in heads or heads[writer].heads.get(stream, Link(0, "")).sequence < last
        ]
        if not held & {writer for writer, _, _ in ends}:
            return
        Event().wait(_PAUSE)


def _sign_ends(path: str, copied: Checkpoints, before: dict[str, Head]) -> None:
    """Sign where the chains end in a copy. The checkpoints that were copied after the rows are ahead of them.

    INVARIANT: only rows that the checkpoints of the store or seals prove are signed. Others stay after the last checkpoint.
    """
    keys = copied.signing.read()
    with contextlib.closing(sqlite3.connect(path)) as rows:
        for writer, after in copied.read_trusted_heads().items():
            known = before[writer].heads if writer in before else {}
            heads: dict[Stream, Link] = {}
            for stream, reached in after.heads.items():
                end = _find_end(rows, keys, writer, stream, known.get(stream, Link(0, GENESIS)))
                # The row of the checkpoint itself may be in the copy: then nothing has to be signed again.
                signed = reached if end.sequence >= reached.sequence else end
                if signed.sequence:
                    heads[stream] = signed
            if heads != after.heads:
                copied.write_head(Head(writer, heads, copied.measure_roster()))


def _find_end(
    rows: sqlite3.Connection, keys: Sequence[bytes], writer: str, stream: Stream, known: Link
) -> Link:
    """The last row of a chain in a copy that its seal proves, from a checkpoint on. If there is none, the checkpoint."""
    query = (
        "SELECT sequence, previous, digest, body FROM audit"
        " WHERE writer = ? AND stream = ? AND sequence > ? AND typeof(sequence) = 'integer' ORDER BY sequence"
    )
    links = rows.execute(query, (writer, stream, known.sequence))
    return follow_sealed(keys, writer, stream, known, (ChainRow(*row) for row in links)) or known


def measure_size(store: Store) -> int:
    """Bytes that a store uses, without free space that new rows will reuse."""
    with open_for_reading(store.engine, store.location.shown) as connection:
        if not store.location.path:
            return int(connection.scalar(text("SELECT pg_database_size(current_database())")) or 0)
        pages, free, size = (
            int(connection.scalar(text(f"PRAGMA {name}")) or 0)
            for name in ("page_count", "freelist_count", "page_size")
        )
    return (pages - free) * size


def read_info(store: Store) -> StoreInfo:
    """Read the size of a store."""
    version = read_store_version(store.engine, store.location.shown)
    with open_for_reading(store.engine, store.location.shown) as connection:
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
