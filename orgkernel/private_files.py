"""Private files, such as a new secret, that only their owner may read. Writing one fails if the file exists."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


@contextlib.contextmanager
def one_at_a_time(folder: str) -> Iterator[None]:
    """Hold the lock of a folder, so only one process at a time changes its files."""
    file = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if fcntl:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def can_others_use(path: str) -> bool:
    """Whether users besides its owner and a group can read a file, or another user can write it.

    Its owner must be this user or the administrator, because an owner can always write.
    """
    if not hasattr(os, "getuid"):
        return False
    state = os.stat(path)
    is_open = state.st_mode & (stat.S_IROTH | stat.S_IWOTH | stat.S_IWGRP)
    return bool(is_open) or state.st_uid not in (os.getuid(), 0)


def write_new(path: str, content: bytes) -> None:
    """Write a private file that must not exist. Its content is on the disk when this function returns."""
    file = os.open(path, _NEW, 0o600)
    try:
        os.write(file, content)
        os.fsync(file)
    finally:
        os.close(file)


def make_once(path: str, temporary: str, content: bytes) -> None:
    """Write a private file unless it exists. The content is complete before the file gets its name, because others may read it.

    `temporary` is the name of a temporary file that no other process uses.
    """
    try:
        write_new(temporary, content)
        try:
            os.link(temporary, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without links: the last process replaces the file
            os.replace(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
