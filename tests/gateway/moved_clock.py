"""The clock of a process that a test moves: the time of this machine, and as many seconds more as a file says.

It is imported before anything keeps `time.time`. A process whose folder has no such file has the time of this machine.
"""

from __future__ import annotations

import mmap
import struct
import time
from pathlib import Path

NAME = "clock"
_SECONDS = struct.Struct("d")
_real = time.time
_moved: list[mmap.mmap] = []
"""The file that this process follows, if any."""


def now() -> float:
    """What the clock says."""
    return _real() + sum(_SECONDS.unpack_from(each)[0] for each in _moved)


def follow(folder: Path) -> None:
    """Have the clock of this process moved by the file of a folder, if it has one."""
    if (folder / NAME).exists():
        with (folder / NAME).open("rb") as file:
            _moved[:] = [mmap.mmap(file.fileno(), _SECONDS.size, access=mmap.ACCESS_READ)]


def move(folder: Path, seconds: float) -> None:
    """Let the clocks of a folder be so many seconds ahead."""
    with (folder / NAME).open("r+b" if (folder / NAME).exists() else "wb") as file:
        file.write(_SECONDS.pack(seconds))
