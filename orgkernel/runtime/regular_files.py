"""Opens regular files for reading, and refuses everything else. Every reader of orgkernel opens its files here.

Opening a pipe waits for a writer, and reading a device might never end. So the path is checked first and opened
without blocking. Then its descriptor is checked again, because another process could have replaced the file in
between.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

_FLAGS = os.O_RDONLY
for _name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"):
    _FLAGS |= getattr(os, _name, 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
# A link that passes through here leads to whatever a process has open, such as its standard input.
_OPEN_FILES = ("/dev/", "/proc/")
_MEMORY = "/dev/shm/"
"""A RAM file system, whose files are regular."""
_MAX_LINKS = 40
FileIdentity = tuple[int, int, int, int]


class NotRegular(OSError):
    """Raised for a folder, a pipe, a device or a socket, or a link to one."""

    def __init__(self, path: str, *, is_folder: bool = False) -> None:
        super().__init__(errno.EISDIR if is_folder else errno.EINVAL, "not a regular file", path)
        self.is_folder = is_folder


def open_regular(path: str, *, follow: bool = True) -> BinaryIO:
    """Open a regular file for reading, without blocking. Raises `NotRegular`, other system errors, and `ValueError`.

    With `follow=False`, the path itself must not be a link.
    """
    state = os.lstat(path)
    flags = _FLAGS | _NO_FOLLOW
    if stat.S_ISLNK(state.st_mode):
        if not follow:
            raise NotRegular(path)
        _refuse_open_files(path)
        state, flags = os.stat(path), _FLAGS
    _require_regular(path, state)
    descriptor = os.open(path, flags)
    try:
        _require_regular(path, os.fstat(descriptor))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: str, most: int) -> bytes:
    """The content of a regular file, at most `most` bytes of it. Raises what `open_regular` raises."""
    with open_regular(path) as file:
        return file.read(most)


def get_file_identity(status: os.stat_result) -> FileIdentity:
    """The values that show whether a file is still the same, and unchanged."""
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


def find_identity(path: str) -> FileIdentity | None:
    """The identity of the target of a path. None if it does not exist."""
    try:
        return get_file_identity(os.stat(path))
    except OSError:
        return None


def _require_regular(path: str, state: os.stat_result) -> None:
    if not stat.S_ISREG(state.st_mode):
        raise NotRegular(path, is_folder=stat.S_ISDIR(state.st_mode))


def _refuse_open_files(path: str) -> None:
    """Refuse a link to a file that a process has open. Its target can be a regular file, but it is never a document."""
    here = path
    for _ in range(_MAX_LINKS):
        try:
            here = os.path.join(os.path.dirname(here), os.readlink(here))
        except OSError:  # the end of the chain, or nothing there
            return
        leads_to = os.path.normpath(here)
        if leads_to.startswith(_OPEN_FILES) and not leads_to.startswith(_MEMORY):
            raise NotRegular(path)
