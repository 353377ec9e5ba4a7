"""Replace a file in one step: readers see the old or the new content, even after a crash."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from typing import Final

try:
    import fcntl
except ImportError:  # no such locks there
    fcntl = None  # type: ignore[assignment]

BEFORE_US: Final = ".before-orgkernel"
"""The suffix of the file that is kept when orgkernel replaces an existing one."""


def replace_file(target: str, content: bytes) -> None:
    """Write or replace a file. A replaced file keeps its owner and mode. Raises OSError and then leaves nothing behind.

    `target` must not be a link: a link would be replaced, not followed.
    """
    beside = _build_temporary_name(target)
    with open(beside, "xb") as new:
        try:
            if os.path.exists(target):
                _keep_owner_and_mode(target, beside)
            new.write(content)
            new.flush()
            os.fsync(new.fileno())
            os.replace(beside, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise


@contextlib.contextmanager
def change_alone(target: str, seconds: float) -> Iterator[None]:
    """Let one process at a time read a file and replace it. Raises `TimeoutError` if another process takes longer.

    The folder is locked, so no lock file is left behind.
    """
    folder = os.open(os.path.dirname(os.path.abspath(target)), os.O_RDONLY)
    try:
        end = time.monotonic() + seconds
        while fcntl and not _lock_folder(folder):
            if time.monotonic() > end:
                raise TimeoutError("another process is changing it")
            time.sleep(0.01)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_build_temporary_name(target))  # of a process with our number that was killed
        yield
    finally:
        os.close(folder)


def _lock_folder(folder: int) -> bool:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _build_temporary_name(target: str) -> str:
    return f"{target}.{os.getpid()}.new"


def _keep_owner_and_mode(old: str, new: str) -> None:
    state = os.stat(old)
    with contextlib.suppress(OSError):  # only an administrator may change the owner
        os.chown(new, state.st_uid, state.st_gid)
    shutil.copymode(old, new)
