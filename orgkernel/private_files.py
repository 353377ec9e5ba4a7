"""Private files, such as a new secret, which must not exist before: only their owner may read them."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # no such locks there
    fcntl = None  # type: ignore[assignment]

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


@contextlib.contextmanager
def one_at_a_time(folder: str) -> Iterator[None]:
    """One process after the other changes the files of a folder that all share."""
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
    """Write a private file that must not exist. It is on the disk when this returns."""
    file = os.open(path, _NEW, 0o600)
    try:
        os.write(file, content)
        os.fsync(file)
    finally:
        os.close(file)


def make_once(path: str, beside: str, content: bytes) -> None:
    """Make a private file unless there is one. It is complete before it has its name, because others may read it.

    `beside` is a name that no other process uses.
    """
    try:
        write_new(beside, content)
        try:
            os.link(beside, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without links: the last process to come here makes the file
            os.replace(beside, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)
