"""The lock file next to a store: processes with the open store share it; `store restore` and `store upgrade` need it exclusively.

It is a separate file. A lock on the database would be on the file that is replaced, and closing it would drop the
locks that SQLite holds. The system frees it when a process ends.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from threading import Event

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import StoreBusy
from orgkernel.runtime.regular_files import NotRegular
from orgkernel.state.connected import ConnectedProgram, list_file_users, list_texts
from orgkernel.state.database import translate_error
from orgkernel.state.location import StoreLocation

try:
    import fcntl
except ImportError:  # no such locks there: an open file cannot be replaced anyway
    fcntl = None  # type: ignore[assignment]

_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
_PAUSE = 0.05


class StoreLock:
    """A lock that is held until it is closed."""

    def __init__(self, location: StoreLocation, *, alone: bool, seconds: float) -> None:
        """Wait for the lock for so many seconds. Raises `StoreBusy`, and `BadStore` if the file cannot be opened."""
        self._file: int | None = None
        if not location.path or fcntl is None:
            return
        try:
            file = os.open(f"{os.path.realpath(location.path)}.lock", _FLAGS, 0o600)
        except OSError as error:
            raise translate_error(error, location.shown) from None
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise translate_error(NotRegular(f"{location.path}.lock"), location.shown)
            _wait(file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH, seconds, location)
        except BaseException:
            os.close(file)
            raise
        self._file = file

    def close(self) -> None:
        """Let go of it."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)


@contextlib.contextmanager
def hold_lock(location: StoreLocation, *, alone: bool = False, seconds: float = 5.0) -> Iterator[None]:
    """Hold the lock of a store."""
    lock = StoreLock(location, alone=alone, seconds=seconds)
    try:
        yield
    finally:
        lock.close()


class StoreLocked(StoreBusy):
    """The refusal to replace a store that other processes have open, with those that the system names."""

    def __init__(self, location: StoreLocation, programs: Sequence[ConnectedProgram] = ()) -> None:
        super().__init__(
            f"the store {quote(location.shown)} is open in another process{f': {list_texts(programs)}' if programs else ''}",
            "stop `orgkernel serve` and every other program that uses it, then run the command again",
        )
        self.programs = programs


def _wait(file: int, kind: int, seconds: float, location: StoreLocation) -> None:
    for _ in range(max(1, round(seconds / _PAUSE))):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(file, kind | fcntl.LOCK_NB)
            return
        if seconds:
            Event().wait(_PAUSE)
    if kind == fcntl.LOCK_EX:
        raise StoreLocked(location, list_file_users(f"{os.path.realpath(location.path)}.lock", file))
    raise StoreBusy(
        f"the store {quote(location.shown)} is being restored or upgraded", "try again when that has ended"
    )
