"""The end of a connection: when it comes, and the first reason given for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Ending:
    """The end of a connection and the first reason given for it."""

    def __init__(self, on_come: Callable[[], None] = lambda: None) -> None:
        self.reason = ""
        self._event = asyncio.Event()
        self._on_come = on_come

    @property
    def has_come(self) -> bool:
        """Whether the connection is over."""
        return self._event.is_set()

    def come(self, reason: str) -> None:
        """End the connection. Only the first reason is kept."""
        if self.has_come:
            return
        self.reason = self.reason or reason
        self._event.set()
        self._on_come()

    async def wait(self) -> None:
        """Wait for it."""
        await self._event.wait()
