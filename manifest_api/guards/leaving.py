"""Cancel the work for a client that has disconnected, so tool servers stop working on its call."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

from starlette.types import Receive

_AFTER_SECONDS = 0.05
"""Seconds before the connection is checked: most answers are complete by then, and a task for each would cost more."""


class ForClient:
    """Work that is canceled when its client disconnects, and then ends quietly.

    `receive` must have delivered the whole body before.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.is_gone = False
        """Whether the client has left; the work was canceled then."""
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        task = asyncio.current_task()
        assert task is not None
        self._work = task
        self._later = asyncio.get_running_loop().call_later(_AFTER_SECONDS, self._begin)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self._later.cancel()
        if self._watch is not None:
            self._watch.cancel()
        if not self.is_gone or kind is not asyncio.CancelledError:
            return False
        return self._work.uncancel() == 0  # otherwise, other code has canceled it too

    def _begin(self) -> None:
        self._watch = asyncio.create_task(self._wait_until_gone())

    async def _wait_until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.is_gone = True
        self._work.cancel()
