"""The end of a connection: an event to wait for, and the first reason given for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Ending:
    """The end of a connection and the first reason given for it."""

    def __init__(self, on_end: Callable[[], None] = lambda: None) -> None:
        self.reason = ""
        self._event = asyncio.Event()
        self._on_end = on_end

    @property
    def has_ended(self) -> bool:
        """Whether the connection is over."""
        return self._event.is_set()

    def end(self, reason: str) -> None:
        """End the connection. Only the first reason is kept."""
        if self.has_ended:
            return
        self.reason = self.reason or reason
        self._event.set()
        self._on_end()

    async def wait(self) -> None:
        """Wait for the end."""
        await self._event.wait()
