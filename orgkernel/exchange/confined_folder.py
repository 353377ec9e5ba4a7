"""File access in a folder that other programs can write to, perhaps with bad intent: links are not followed, and
only regular files are opened.

An agent in a host can put a link or a pipe anywhere in it, even while an operator installs or activates. So each
step of a path is opened relative to the step before it, without following links; a path that has `..` or leaves the
tree is refused; temporary names cannot be guessed; nothing but a regular file is read. The root itself is trusted,
because the operator names it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from orgkernel.errors import UsageError

try:
    import fcntl
except ImportError:  # Windows; a host runs on Linux or macOS
    fcntl = None  # type: ignore[assignment]

MAX_FILE_BYTES = 64 * 1024 * 1024
_DIRECTORY, _NO_FOLLOW, _NO_WAIT, _CLOSED = (
    getattr(os, name, 0) for name in ("O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC")
)
_FOLDER = os.O_RDONLY | _DIRECTORY | _NO_FOLLOW | _CLOSED
_READ = os.O_RDONLY | _NO_FOLLOW | _NO_WAIT | _CLOSED
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _CLOSED
_NEVER_SEARCHED = frozenset({".git", "node_modules", "__pycache__", ".venv"})
_WAIT = 60.0
"""Seconds to wait for another run."""


class ConfinedFolder:
    """A folder whose files are named by paths relative to it, with slashes. Methods raise OSError.

    >>> ConfinedFolder.is_below("usr/organizations/active.json"), ConfinedFolder.is_below("usr/../../etc/passwd")
    (True, False)
    """

    def __init__(self, root: str) -> None:
        """Open the folder, through links if the operator's path has any; raises OSError, and `UsageError` on Windows."""
        if fcntl is None or os.open not in os.supports_dir_fd:
            raise UsageError("this works on Linux and macOS only", "run it on Linux or macOS")
        self.root = root
        self._descriptor = os.open(root, os.O_RDONLY | _DIRECTORY | _CLOSED)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the folder."""
        os.close(self._descriptor)

    @staticmethod
    def is_below(path: str) -> bool:
        """Whether a path names something inside the tree."""
        return all(step not in ("", ".", "..") for step in path.split("/")) and not set(path) & {
            "\\",
            "\0",
            "\n",
        }

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder for one run; a second run waits. Raises `UsageError` if it waits too long."""
        ends = time.monotonic() + _WAIT
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > ends:
                    raise UsageError(
                        f"another run has been working in `{self.root}` for {_WAIT:g} seconds",
                        "wait until it has ended, or end it, and try again",
                    ) from None
                time.sleep(0.05)
        try:
            yield
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def read(self, path: str) -> bytes | None:
        """The content of a file; None if there is none, if it is not a regular file, or if it is larger than 64 MiB."""
        with self._open_parent(path) as (folder, name):
            if folder is None:
                return None
            try:
                descriptor = os.open(name, _READ, dir_fd=folder)
            except OSError:
                return None
            with os.fdopen(descriptor, "rb") as file:
                state = os.fstat(descriptor)
                if not stat.S_ISREG(state.st_mode) or state.st_size > MAX_FILE_BYTES:
                    return None
                return file.read(MAX_FILE_BYTES + 1)

    def state(self, path: str) -> os.stat_result | None:
        """The status of a path itself, without following a link; None if it does not exist or cannot be reached."""
        with self._open_parent(path) as (folder, name):
            if folder is None:
                return None
            try:
                return os.stat(name, dir_fd=folder, follow_symlinks=False)
            except OSError:
                return None

    def exists(self, path: str) -> bool:
        """Whether the path exists, or one of its parents is a link or a file."""
        if self.state(path) is not None:
            return True
        steps = path.split("/")
        outer = (self.state("/".join(steps[:count])) for count in range(1, len(steps)))
        return any(state is not None and not stat.S_ISDIR(state.st_mode) for state in outer)

    def is_file(self, path: str) -> bool:
        """Whether it is a regular file."""
        state = self.state(path)
        return state is not None and stat.S_ISREG(state.st_mode)

    def is_folder(self, path: str) -> bool:
        """Whether it is a folder, and no link to one."""
        state = self.state(path)
        return state is not None and stat.S_ISDIR(state.st_mode)

    def names(self, path: str) -> list[str]:
        """The sorted names in a folder; none if it is not one."""
        try:
            with self._open_folder(path) as folder:
                return [] if folder is None else sorted(os.listdir(folder))
        except OSError:
            return []

    def walk(self, path: str, depth: int) -> Iterator[str]:
        """All files and links below a folder, down to a depth. Links are not followed."""
        with self._open_folder(path) as folder:
            if folder is None:
                return
            for where, folders, files, descriptor in os.fwalk(".", dir_fd=folder, follow_symlinks=False):
                inner = where.removeprefix(".").lstrip("/")
                inside = [name for name in (path, inner) if name]
                links = [name for name in folders if _is_link(name, descriptor)]
                yield from ("/".join((*inside, name)) for name in sorted((*files, *links)))
                deep = len(inner.split("/")) + 1 if inner else 1
                folders[:] = sorted(set(folders) - {*links, *_NEVER_SEARCHED}) if deep < depth else []

    def is_writable(self, path: str) -> bool:
        """Whether files can be made in a folder. If it does not exist, whether they can be made in the first existing folder above it."""
        while path and not self.exists(path):
            path = path.rpartition("/")[0]
        with self._open_folder(path) as folder:
            if folder is None:
                return False
            return os.access(
                ".", os.W_OK | os.X_OK, dir_fd=folder, effective_ids=os.access in os.supports_effective_ids
            )

    def write(self, path: str, content: bytes) -> None:
        """Write or replace a file in one step, making its folders. A replaced file keeps its owner and mode.

        A link of the name is replaced, never followed.
        """
        with self._open_parent(path, make=True) as (folder, name):
            assert folder is not None
            _sweep(folder, name)
            beside = f".{name}.{secrets.token_hex(8)}.new"
            new = os.open(beside, _NEW, 0o666, dir_fd=folder)
            try:
                with os.fdopen(new, "wb") as file:
                    self._keep_owner_and_mode(folder, name, new)
                    file.write(content)
                    file.flush()
                    os.fsync(new)
                os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(beside, dir_fd=folder)
                raise

    def rename(self, path: str, name: str) -> None:
        """Give a file another name in its folder."""
        with self._open_parent(path) as (folder, old):
            if folder is not None:
                os.replace(old, name, src_dir_fd=folder, dst_dir_fd=folder)

    def remove(self, path: str) -> None:
        """Remove a file or a link if it exists, and temporary files of a killed run next to it."""
        with self._open_parent(path) as (folder, name):
            if folder is not None:
                _sweep(folder, name)
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=folder)

    def remove_folder(self, path: str) -> bool:
        """Remove a folder if it is empty. Whether it was removed."""
        with self._open_parent(path) as (folder, name):
            try:
                if folder is not None:
                    os.rmdir(name, dir_fd=folder)
                    return True
            except OSError:  # not empty, not a folder, or not there
                pass
        return False

    @staticmethod
    def _keep_owner_and_mode(folder: int, name: str, new: int) -> None:
        try:
            state = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return
        if stat.S_ISREG(state.st_mode):
            with contextlib.suppress(OSError):  # only an administrator may change the owner
                os.fchown(new, state.st_uid, state.st_gid)
            os.fchmod(new, stat.S_IMODE(state.st_mode) & 0o777)

    @contextlib.contextmanager
    def _open_parent(self, path: str, *, make: bool = False) -> Iterator[tuple[int | None, str]]:
        """The descriptor of the folder that a path is in, and the name in it."""
        outer, _, name = path.rpartition("/")
        with self._open_folder(outer, make=make, of=path) as folder:
            yield folder, name

    @contextlib.contextmanager
    def _open_folder(self, path: str, *, make: bool = False, of: str = "") -> Iterator[int | None]:
        """The descriptor of a folder; None if it is missing, or a link or a file is in its place."""
        if (of or path) and not self.is_below(of or path):
            raise OSError(errno.EINVAL, "the path leaves the folder", of or path)
        descriptor: int | None = os.dup(self._descriptor)
        try:
            for step in path.split("/") if path else ():
                assert descriptor is not None
                inner = self._step(descriptor, step, path, make=make)
                os.close(descriptor)
                descriptor = inner
                if inner is None:
                    break
            yield descriptor
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def _step(self, folder: int, name: str, path: str, *, make: bool) -> int | None:
        try:
            try:
                return os.open(name, _FOLDER, dir_fd=folder)
            except FileNotFoundError:
                if not make:
                    return None
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=folder)
                return os.open(name, _FOLDER, dir_fd=folder)
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                raise
            if not make:
                return None
            where = os.path.join(self.root, path)
            raise OSError(
                error.errno, "a link or a file has the name of a folder that is needed", where
            ) from None


def _sweep(folder: int, name: str) -> None:
    """Remove what writing a file left when it was killed."""
    left = re.compile(rf"\.{re.escape(name)}\.[0-9a-f]{{16}}\.new")
    for each in os.listdir(folder):
        if left.fullmatch(each):
            os.unlink(each, dir_fd=folder)


def _is_link(name: str, folder: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return True
