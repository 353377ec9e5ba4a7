"""`store restore`: replace a store by a backup.

The copy is complete and checked before it gets the name of the store, and SQLite's files next to the old store are
removed. The checkpoints stay, so the audit can name the rows that the backup lacks.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
from collections.abc import Callable

import msgspec

from orgkernel.decisions.evidence.state_records import AuditEntry
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadStore, OrgkernelError, StoreError
from orgkernel.private_files import write_new
from orgkernel.runtime.regular_files import NotRegular, open_regular
from orgkernel.runtime.utc import as_utc
from orgkernel.state.backup import SIDECARS, copy_checkpoints, copy_database, sync
from orgkernel.state.chain import read_last_link
from orgkernel.state.checkpoints import Segment
from orgkernel.state.database import close_engine, make_engine, make_folder, translate_error
from orgkernel.state.location import StoreLocation
from orgkernel.state.migrating import upgrade
from orgkernel.state.schema_version import NEWEST, VERSIONS
from orgkernel.state.signing import Tokens
from orgkernel.state.store import Store
from orgkernel.state.store_lock import StoreLocked, hold_lock


class RestoreReport(msgspec.Struct, frozen=True):
    """The result of a restoration."""

    version: str
    """Version of the tables in the backup. Older tables were upgraded."""
    replaced: str
    """The file that the replaced store has now. Empty if there was none."""
    copied_checkpoints: bool
    """Whether the checkpoints of the backup were copied, because there were none here."""
    lost: dict[str, tuple[int, int]]
    """The first and the last row of the audit that the backup lacks, keyed by `WRITER:STREAM`."""


def restore(
    location: StoreLocation,
    backup: str,
    *,
    actor: str,
    reason: str,
    clock: Callable[[], float],
    tokens: Tokens,
) -> RestoreReport:
    """Replace a store by a backup.

    Raises `BadStore`, `StoreBusy` if another process has the store open, and `StoreError`.
    """
    if not location.path:
        raise BadStore(
            f"the store {quote(location.shown)} is a database of PostgreSQL",
            "use `pg_restore --clean --if-exists --single-transaction`, then run `orgkernel audit verify`",
        )
    at = as_utc(clock()) or ""
    path = os.path.realpath(location.path)
    _require_backup(backup, path)
    make_folder(location)
    beside = f"{path}.{tokens(6).hex()}.new"
    with hold_lock(location, alone=True, seconds=0):
        try:
            write_new(beside, b"")
            version = _fill(backup, beside, location)
            _close_old(path, location)
            copied = _copy_checkpoints(f"{backup}.audit", location.checkpoints)
            replaced = _keep_old(path, re.sub("[^0-9TZ]", "", at))
            # INVARIANT: no SQLite file is next to the store when the copy gets its name, or SQLite would apply it to the copy.
            for suffix in SIDECARS:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(f"{path}{suffix}")
            os.replace(beside, path)
            sync(os.path.dirname(path))
        except (OSError, sqlite3.Error) as error:
            raise translate_error(error, location.shown) from None
        finally:
            for suffix in ("", *SIDECARS):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(f"{beside}{suffix}")
    try:
        with Store(location, clock=clock, tokens=tokens) as store:
            done = RestoreReport(version, replaced, copied, _find_lost(store))
            _note(store, done, os.path.basename(backup), actor, reason, at)
    except OrgkernelError as error:
        text = f"the store was restored, but that could not be written into its audit: {error.message}"
        raise StoreError(text, error.help) from None
    return done


def _require_backup(backup: str, path: str) -> None:
    """Raise `BadStore` if a backup is not a single regular file."""
    if os.path.realpath(backup) == path:
        raise BadStore(f"{quote(backup)} is the store itself", "name the file of a backup")
    try:
        open_regular(backup).close()
    except FileNotFoundError:
        raise BadStore(f"there is no file {quote(backup)}", "name the file of a backup") from None
    except NotRegular:
        raise BadStore(f"{quote(backup)} is not a regular file", "name the file of a backup") from None
    except OSError as error:
        raise translate_error(error, backup) from None
    for suffix in ("-wal", "-journal"):
        with contextlib.suppress(OSError):
            if os.path.getsize(f"{backup}{suffix}"):
                raise BadStore(
                    f"{quote(backup + suffix)} is next to the backup: a program has the backup open, or the file belongs to another store",
                    f"stop the program, or make a backup of it with `orgkernel store backup NEW --store {backup}`",
                )


def _fill(backup: str, beside: str, location: StoreLocation) -> str:
    """Copy a backup, check it, and upgrade the copy. Returns the version of the backup."""
    try:
        version = copy_database(backup, beside, "mode=ro&immutable=1", "integrity_check")
    except sqlite3.Error as error:
        raise BadStore(
            f"{quote(backup)} cannot be restored: {error}", "use another backup; the store was not changed"
        ) from None
    if version not in VERSIONS:
        raise BadStore(
            f"the backup {quote(backup)} has version {quote(version)}, which this program does not know",
            f"it knows versions up to {NEWEST}: use a newer orgkernel",
        )
    if version != NEWEST:
        engine = make_engine(StoreLocation("", beside, "", location.shown))
        try:
            upgrade(engine, location.shown)
        except Exception as error:
            raise translate_error(error, location.shown) from None
        finally:
            close_engine(engine)
        with contextlib.closing(sqlite3.connect(beside)) as copy:
            copy.execute("PRAGMA journal_mode=DELETE")
        sync(beside)
    return version


def _close_old(path: str, location: StoreLocation) -> None:
    """Have SQLite write the log of the old store into its file. Raises `StoreBusy` if another process has it open.

    This also detects programs that do not use orgkernel's lock. A damaged store is unchanged.
    """
    if not os.path.exists(path):
        return
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as old:
            old.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise StoreLocked(location) from None


def _copy_checkpoints(source: str, target: str) -> bool:
    """Copy the checkpoints of a backup if there are none here. Existing ones stay, because they are more recent."""
    if os.path.lexists(target) or not os.path.isdir(source):
        return False
    new = f"{target}.new"
    shutil.rmtree(new, ignore_errors=True)
    copy_checkpoints(source, new)
    os.rename(new, target)
    return True


def _keep_old(path: str, stamp: str) -> str:
    """Give the old store and the files next to it a second name. The store always has a name in the meantime."""
    files = [suffix for suffix in ("", "-wal", "-journal") if os.path.lexists(f"{path}{suffix}")]
    if not files:
        return ""
    name, number = f"{path}.replaced-{stamp}", 1
    while any(os.path.lexists(f"{name}{suffix}") for suffix in ("", *SIDECARS)):
        number += 1
        name = f"{path}.replaced-{stamp}-{number}"
    for suffix in files:
        try:
            os.link(f"{path}{suffix}", f"{name}{suffix}")
        except OSError:  # no such names on this disk
            shutil.copy2(f"{path}{suffix}", f"{name}{suffix}")
            sync(f"{name}{suffix}")
    sync(os.path.dirname(path))
    return name


def _find_lost(store: Store) -> dict[str, tuple[int, int]]:
    """The rows that the checkpoints know and the store does not have."""
    lost: dict[str, tuple[int, int]] = {}
    dropped: dict[tuple[str, str], int] = {}
    for _, segment in store.folder.segments.read(Segment):
        if segment is not None and segment.dropped_at is not None:
            chain = segment.writer, segment.stream
            dropped[chain] = max(dropped.get(chain, 0), segment.last)
    with store.context.reading() as connection:
        for writer, head in store.folder.read_trusted_heads().items():
            for stream, signed in head.heads.items():
                last = read_last_link(connection, writer, stream).sequence
                if max(last, dropped.get((writer, stream), 0)) < signed.sequence:
                    # As `audit verify` has it: rows that were dropped since are missing as well.
                    lost[f"{writer}:{stream}"] = (
                        (last or dropped.get((writer, stream), 0)) + 1,
                        signed.sequence,
                    )
    return dict(sorted(lost.items()))


def _note(store: Store, done: RestoreReport, backup: str, actor: str, reason: str, at: str) -> None:
    detail = {
        "at": at,
        "backup": backup,
        "version": done.version,
        "replaced": os.path.basename(done.replaced),
        "lost": {chain: [*ends] for chain, ends in done.lost.items()},
    }
    store.context.change(
        lambda transaction: transaction.audit(
            AuditEntry("audit", transaction.now, "restored", actor=actor, reason=reason, detail=detail)
        )
    )
