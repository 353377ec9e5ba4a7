"""The time at which a server last believed the clock of its machine, in a file beside the checkpoints.

A machine that starts with an empty battery has a clock that is years behind, until the network sets it. What is written in
these minutes would be over before it began: a restriction of a week would never hold. So nothing is dated before this time, unless
a server believes the earlier clock, or an operator runs `orgkernel store fix-dates`. The file is of this machine, because the clock is.
"""

from __future__ import annotations

import contextlib
import os
from math import inf, isfinite

from orgkernel.private_files import write_new

TOLERANCE_SECONDS = 60.0
"""Seconds by which a clock may be behind, because it is adjusted now and then."""
_MAX_BYTES = 64


class BelievedClock:
    """The file with the time at which the clock was last believed. Thread-safe, and of several processes the last one counts."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, "clock")
        self._seen: tuple[int, int] | None = None
        self._at = -inf

    def correct(self, now: float) -> float:
        """The time to date rows with: the clock, or the time when it was last believed, if the clock is behind that."""
        believed = self._read()
        return believed if now < believed - TOLERANCE_SECONDS else now

    def note(self, now: float) -> None:
        """Keep the time of a clock that is believed. A folder that does not exist or cannot be written changes nothing."""
        new = f"{self.path}.{os.getpid()}"
        with contextlib.suppress(OSError):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(new)
            write_new(new, f"{now:.3f}\n".encode())
            os.rename(new, self.path)

    def _read(self) -> float:
        """The time in the file. Before every other time if there is none, or if it cannot be read."""
        try:
            state = os.lstat(self.path)
        except OSError:
            return -inf
        seen = (state.st_mtime_ns, state.st_ino)
        if seen != self._seen:
            self._at = _read_time(self.path)
            self._seen = seen
        return self._at


def _read_time(path: str) -> float:
    from orgkernel.runtime.regular_files import read_regular

    try:
        at = float(read_regular(path, _MAX_BYTES))
    except (OSError, ValueError):
        return -inf
    return at if isfinite(at) else -inf
