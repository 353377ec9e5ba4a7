"""Where tests write: in memory, where the system has such a place and enough of it. A disk makes each commit wait.

What a run that was killed left there is removed by the next one, because it stays in the memory until the machine starts again.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from pathlib import Path

_PLACE = Path("/dev/shm")
_ENOUGH = 8 * 1024**3
"""Bytes: a run of all tests with four workers uses half of it there, and as much in its processes."""
_FIRST_PROCESS = 1
"""The parent of a process whose own parent has ended."""
POSTGRESQL = "okpg-"
"""What the names of folders of servers of PostgreSQL begin with."""


def find_memory_folder() -> str | None:
    """A folder of the system that is in memory and has room for all that the tests write."""
    if not os.access(_PLACE, os.W_OK) or shutil.disk_usage(_PLACE).free < _ENOUGH:
        return None
    return None if _measure_available_memory() < _ENOUGH else str(_PLACE)


def remove_left_servers(place: Path = _PLACE) -> None:
    """End servers whose run was killed before it could end them, and remove their folders."""
    for folder in place.glob(f"{POSTGRESQL}*"):
        with contextlib.suppress(OSError, ValueError, IndexError):  # another run removes it, or is making it
            process = int((folder / "data" / "postmaster.pid").read_text().split()[0])
            parent = _find_parent(process)
            if parent == _FIRST_PROCESS:
                os.kill(process, signal.SIGQUIT)
            if parent in (None, _FIRST_PROCESS):
                shutil.rmtree(folder, ignore_errors=True)


def _find_parent(process: int) -> int | None:
    """The parent of a process; None for a process that has ended."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except FileNotFoundError:
        return None


def _measure_available_memory() -> int:
    """Bytes that processes and folders in memory can still take; the size of such a folder does not say it."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0
