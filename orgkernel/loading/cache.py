"""The cache on disk: bytes under keys, verified when they are read. With `files` and `skill_files`, the only modules that
read the disk.

Nothing here raises, and no entry is trusted. An entry is treated as missing if it is incomplete, changed, moved to
another key, written without this user's secret, or in a place that other users may write to. If an entry cannot be
written, `problem` contains the reason, and answers are still correct. Files are written under a temporary name,
synchronized and renamed, so concurrent or killed processes leave only complete entries.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import stat
from typing import NamedTuple

from orgkernel.runtime.regular_files import open_regular

# Header of every cache file. The number changes with the layout of the files.
_MAGIC = b"orgkernel cache 2\n"
_SUM_BYTES = 32
_HEAD = len(_MAGIC) + _SUM_BYTES
_SUFFIX = ".cached"
_TEMPORARY = ".new"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
# Entries used longest ago are removed above this size; the one just written stays in any case.
MAX_BYTES = 2**30
# Temporary files of processes that died are removed when others this much newer (in ns) are written.
_ABANDONED = 3_600 * 10**9
_TAG = (
    b"Signature: 8a477f597d28d172789f06886806bc55\n# The cache of orgkernel; it can be deleted at any time.\n"
)
# Beside the entries: no backup and no repository takes a cache.
_BESIDE = {"CACHEDIR.TAG": _TAG, ".gitignore": b"*\n"}

Signature = tuple[int, int, int, int]
"""Size, modification time, change time (both in ns) and inode of a file."""


def sign_file(path: str) -> Signature | None:
    """The signature of a file, which shows without reading it whether it is unchanged. None if the file is not
    accessible.
    """
    try:
        return compute_signature(os.stat(path))
    except (OSError, ValueError):
        return None


def compute_signature(state: os.stat_result) -> Signature:
    """The signature of a file from its `stat` result."""
    return state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino


class _Stored(NamedTuple):
    used_ns: int
    size: int
    path: str


class Cache:
    """A folder of cache entries. `None` is never stored. Keys are file names without a slash."""

    def __init__(self, folder: str, max_bytes: int = MAX_BYTES, secret: bytes = b"") -> None:
        """Open a cache. Only entries that were written with the same `secret` are found."""
        self.folder = folder
        self.problem = ""
        """Why entries cannot be read or written, as a sentence. Empty if they can."""
        self._secret = secret
        self._max_bytes = max_bytes
        self._found: list[str] = []

    def find_problem(self) -> str:
        """Why entries cannot be read or written, as a sentence. Empty if they can, or if there are none yet."""
        self._is_safe()
        return self.problem

    def find(self, key: str) -> memoryview | None:
        """The bytes under a key. None if there is no valid entry."""
        if not self._is_safe():
            return None
        try:
            with open_regular(self._locate_entry(key), follow=False) as file:
                state = os.fstat(file.fileno())
                # Checked on the open file, not its path, which could be replaced between the check and the read.
                if not is_trusted(state) or state.st_size > self._max_bytes:
                    return None
                content = memoryview(file.read())
        except (OSError, ValueError, MemoryError):
            return None
        body = content[_HEAD:]
        sum_ = content[len(_MAGIC) : _HEAD]
        if content[: len(_MAGIC)] != _MAGIC or not hmac.compare_digest(sum_, self._sum(key, body)):
            self.discard(key)
            return None
        with contextlib.suppress(OSError):
            os.utime(self._locate_entry(key))  # used now: kept longer
        self._found.append(key)
        return body

    def has(self, key: str) -> bool:
        """Whether there is an entry under a key, valid or not."""
        try:
            return self._is_safe() and is_trusted(os.lstat(self._locate_entry(key)))
        except (OSError, ValueError):
            return False

    def put(self, key: str, body: bytes) -> bool:
        """Write bytes under a key. Returns whether it succeeded."""
        try:
            self._prepare()
            if not self._is_safe():
                return False
            self._replace(self._locate_entry(key), _MAGIC + self._sum(key, body) + body)
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or "its name cannot be used").lower()
            self.problem = self.problem or f"the cache {self.folder} cannot be written: {reason}"
            return False
        with contextlib.suppress(OSError):
            self._evict(self._locate_entry(key))
        return True

    def discard(self, key: str) -> None:
        """Delete the entry under a key."""
        with contextlib.suppress(OSError, ValueError):
            os.unlink(self._locate_entry(key))

    def distrust(self) -> bool:
        """Delete all entries that were read so far, because one of them is wrong. Returns whether there were any."""
        keys, self._found = self._found, []
        for key in keys:
            self.discard(key)
        return bool(keys)

    def _locate_entry(self, key: str) -> str:
        return os.path.join(self.folder, key + _SUFFIX)

    def _sum(self, key: str, body: bytes | memoryview) -> bytes:
        """The checksum that binds an entry to its key, its content and the secret."""
        name = key.encode("utf-8", "surrogateescape")
        # The length comes first, so no byte can move from the key to the content and keep the checksum.
        mac = hmac.new(self._secret, len(name).to_bytes(4, "big") + name, "sha256")
        mac.update(body)
        return mac.digest()

    def _is_safe(self) -> bool:
        """Whether only this user and the administrator can write to the folder. If not, `problem` explains it."""
        try:
            state = os.stat(self.folder)
        except (OSError, ValueError):
            return False
        if is_trusted(state):
            return True
        self.problem = self.problem or (
            f"the cache {self.folder} is not used: other users may write to it; remove the folder, or run `chmod go-w` on it"
        )
        return False

    def _prepare(self) -> None:
        if os.path.isdir(self.folder):
            return
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        for name, content in _BESIDE.items():
            with contextlib.suppress(OSError), open(os.path.join(self.folder, name), "xb") as file:
                file.write(content)

    def _replace(self, path: str, content: bytes) -> None:
        beside = f"{path}.{os.getpid()}.{id(content):x}{_TEMPORARY}"  # by process and thread
        try:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(beside)  # left by a process that was killed
            with os.fdopen(os.open(beside, _NEW, 0o600), "wb") as new:
                new.write(content)
                new.flush()
                # Before the rename: after a power failure, the new name must not lead to an empty file.
                os.fsync(new.fileno())
            os.replace(beside, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise

    def _evict(self, written: str) -> None:
        """Delete the least recently used entries above the limit, and temporary files of processes that have ended."""
        stored: list[_Stored] = []
        now = os.stat(written).st_mtime_ns
        with os.scandir(self.folder) as entries:
            for entry in entries:
                state = entry.stat(follow_symlinks=False)
                if entry.name.endswith(_TEMPORARY) and state.st_mtime_ns < now - _ABANDONED:
                    os.unlink(entry.path)
                elif entry.name.endswith(_SUFFIX):
                    stored.append(_Stored(state.st_mtime_ns, state.st_size, entry.path))
        total = sum(each.size for each in stored)
        for each in sorted(stored):
            if total <= self._max_bytes:
                return
            if each.path != written:
                os.unlink(each.path)
                total -= each.size


def is_trusted(state: os.stat_result) -> bool:
    """Whether only this user and the administrator can write a file or a folder. Cache entries determine answers, so
    others must not write them.
    """
    if not hasattr(os, "getuid"):
        return True
    return state.st_uid in (os.getuid(), 0) and not state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
