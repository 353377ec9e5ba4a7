"""What a database says when it cannot, in our words."""

from __future__ import annotations

import sqlite3

from sqlalchemy.exc import DataError, DBAPIError, SQLAlchemyError

from orgkernel.diagnostics.wording import printable, quote
from orgkernel.errors import BadStore, OrgkernelError, Refused, StoreBusy, StoreError, StoreFull

_FULL = (
    "SQLITE_FULL",
    "SQLITE_IOERR_WRITE",
    "SQLITE_IOERR_FSYNC",
    "SQLITE_IOERR_SHMSIZE",
    "SQLITE_IOERR_TRUNCATE",
)
_HELP = {
    "SQLITE_READONLY": ("cannot be written", "give this user the right to write it and its folder"),
    "SQLITE_CANTOPEN": ("cannot be opened", "its folder must exist, and this user must be able to write it"),
    "SQLITE_NOTADB": ("is not a database", "name another file, or move this one away"),
    "SQLITE_CORRUPT": ("is damaged", "restore the last backup (`orgkernel store backup`)"),
    "SQLITE_PERM": ("may not be opened", "give this user the right to read and write it"),
    "SQLITE_AUTH": ("may not be opened", "give this user the right to read and write it"),
}  # fmt: skip


def failure_of(error: Exception, shown: str) -> OrgkernelError:
    """The error to raise instead of one of the database or the system; ours are passed on as they are."""
    if isinstance(error, OrgkernelError):
        return error
    if isinstance(error, UnicodeError | OverflowError | DataError):
        return Refused(
            "a text or a number is one no store can hold", "no NUL, no lone surrogates", "BAD_VALUE"
        )
    cause: object = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, sqlite3.Error):
        return _sqlite_failure(cause, shown)
    if isinstance(cause, OSError):
        kind = StoreFull if cause.errno in (27, 28, 122) else BadStore  # EFBIG, ENOSPC, EDQUOT
        return kind(f"the store {quote(shown)} cannot be used: {cause.strerror or cause}")
    if isinstance(error, SQLAlchemyError):
        state = getattr(cause, "sqlstate", None) or ""
        said = printable(str(cause).strip().splitlines()[0] if str(cause).strip() else type(cause).__name__)
        if state.startswith("53"):  # insufficient resources: disk, memory, connections
            return StoreFull(f"the store {quote(shown)} has no room: {said}")
        if state in ("40001", "40P01", "55P03", "57014"):
            return StoreBusy(f"the store {quote(shown)} is busy: {said}", "try again")
        if state.startswith(
            ("28", "3D", "42", "25")
        ):  # who may log in, which database, which tables, read-only
            return BadStore(f"the store {quote(shown)} cannot be used: {said}")
        return StoreError(f"the store {quote(shown)} does not answer: {said}", "is the database running?")
    return StoreError(f"the store {quote(shown)} failed: {type(error).__name__}: {printable(str(error))}")


def _sqlite_failure(cause: sqlite3.Error, shown: str) -> StoreError:
    name = getattr(cause, "sqlite_errorname", None) or ""
    if name in _FULL:
        return StoreFull(
            f"the store {quote(shown)} cannot grow: {cause}", "make room on its disk; nothing was written"
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreBusy(
            f"the store {quote(shown)} is locked by another process", "try again when it is done"
        )
    for begins, (says, help) in _HELP.items():
        if name.startswith(begins):
            return BadStore(f"the store {quote(shown)} {says}", help)
    return StoreError(f"the store {quote(shown)} failed: {cause}")
