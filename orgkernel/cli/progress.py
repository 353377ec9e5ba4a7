"""A line on the terminal about work that takes longer than a second. Pipes and files get none."""

from __future__ import annotations

import sys
import threading
from typing import TextIO

from orgkernel.runtime.progress import listen_to_stages

_PATIENCE = 1.0
"""Seconds after which work is worth a line."""
_ERASE = "\r\x1b[K"


class ProgressLine:
    """Shows the current stage of the work, and erases it when the work ends."""

    def __init__(self, stream: TextIO, patience: float = _PATIENCE) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._stage = ""
        self._is_shown = False
        self._is_due = False
        self._timer = threading.Timer(patience, self._show_first)
        self._timer.daemon = True
        self._timer.start()

    def update(self, stage: str) -> None:
        """Show a stage if the process has worked long enough. An empty one erases the line."""
        with self._lock:
            self._stage = stage
            if self._is_due:
                self._draw()

    def _show_first(self) -> None:
        with self._lock:
            self._is_due = True
            self._draw()

    def _draw(self) -> None:
        if not self._stage and not self._is_shown:
            return
        self._is_shown = bool(self._stage)
        self._stream.write(f"{_ERASE}{self._stage} …" if self._stage else _ERASE)
        self._stream.flush()


def show_progress() -> None:
    """Show a line of progress if errors go to a terminal."""
    if sys.stderr is not None and sys.stderr.isatty():
        listen_to_stages(ProgressLine(sys.stderr).update)
