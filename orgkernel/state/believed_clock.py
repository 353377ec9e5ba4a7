"""The time at which a server last accepted the clock of its machine as correct, in a file next to the checkpoints.

A machine that starts with an empty battery has a clock that is years behind, until the network sets it. A row that is written in
these minutes would have a wrong date: a restriction for one week would already be over when the clock is set. So no row gets a date
before the accepted time, unless a server accepts the earlier clock, or an operator runs `orgkernel store fix-dates`. The file belongs
to this machine, like the clock.
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
    """The file with the time at which the clock was last accepted. Thread-safe. If several processes write it,
    the last one applies.
    """

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, "clock")
        self._seen: tuple[int, int] | None = None
        self._at = -inf

    def correct(self, now: float) -> float:
        """The time for the date of a row: `now`, or the last accepted time if the clock is behind it."""
        believed = self._read()
        return believed if now < believed - TOLERANCE_SECONDS else now

    def note(self, now: float) -> None:
        """Record the time of an accepted clock. If the folder does not exist or cannot be written, this has no
        effect.
        """
        new = f"{self.path}.{os.getpid()}"
        with contextlib.suppress(OSError):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(new)
            write_new(new, f"{now:.3f}\n".encode())
            os.rename(new, self.path)

    def _read(self) -> float:
        """The time in the file; minus infinity if there is no file, or if it cannot be read."""
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
