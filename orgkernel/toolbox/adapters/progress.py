"""Passes the progress of a call to a receiver that can be slower than the server."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

OnProgress = Callable[[float, float | None, str | None], Awaitable[None]]
_MAX_WAITING: Final = 32
_LAST_SECONDS: Final = 0.5
"""How long the receiver has for the rest when the call is over."""


class ProgressQueue:
    """Reports that the receiver has not taken yet. The oldest ones give way, because each report replaces them."""

    def __init__(self, receiver: OnProgress) -> None:
        self._receiver = receiver
        self._waiting: deque[tuple[float, float | None, str | None]] = deque(maxlen=_MAX_WAITING)
        self._task: asyncio.Task[None] | None = None

    async def put(self, progress: float, total: float | None, message: str | None) -> None:
        """Take a report. It never waits, because the SDK has a task for each."""
        self._waiting.append((progress, total, message))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._pass_on())

    async def aclose(self) -> None:
        """Give the receiver a moment for the rest."""
        if self._task is not None and not self._task.done():
            try:
                await asyncio.wait([self._task], timeout=_LAST_SECONDS)
            finally:
                self._task.cancel()

    async def _pass_on(self) -> None:
        while self._waiting:
            try:
                await self._receiver(*self._waiting.popleft())
            except Exception:
                self._waiting.clear()  # a receiver that raises gets no more progress
