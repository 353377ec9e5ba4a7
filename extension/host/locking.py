"""A lock on a folder, against other processes and threads of this host and against runs that install or activate."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # Windows; a host runs on Linux or macOS
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def hold_folder(folder: str, seconds: float) -> Iterator[None]:
    """Lock a folder. Raises `BlockingIOError` if another process holds it for `seconds`."""
    if not hasattr(fcntl, "flock"):
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        ends = time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > ends:
                    raise
                time.sleep(0.005)
        yield
    finally:
        os.close(descriptor)  # releases the lock
