"""Tell the clients of a gateway that a list has changed, but not as often as a server can say so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

PAUSE_SECONDS: Final = 1.0
"""The least seconds between two announcements, because a client reads every list again for each."""


class ListChanges:
    """The listeners, and when they were last told. Used from one event loop."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[], None]] = []
        self._told_at = float("-inf")
        self._timer: asyncio.TimerHandle | None = None

    def listen(self, listener: Callable[[], None]) -> None:
        """Call a function for each announcement from now on."""
        self._listeners.append(listener)

    def announce(self) -> None:
        """Tell the listeners, now or when the pause is over."""
        if self._timer is not None or not self._listeners:
            return
        loop = asyncio.get_running_loop()
        wait = max(0.0, self._told_at + PAUSE_SECONDS - loop.time())
        self._timer = loop.call_later(wait, self._tell)

    def close(self) -> None:
        """Tell nothing more."""
        self._listeners.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _tell(self) -> None:
        self._timer = None
        self._told_at = asyncio.get_running_loop().time()
        for each in self._listeners:
            each()
