"""Wrap the message streams of a transport: limit the unrequested messages of a server, and record why a stream ended.

The SDK starts a task for each notification and each request of a server. If a server sends too many, these streams read it more
slowly, so it delays only itself. Unused and malformed notifications are dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Self

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from orgkernel.toolbox.adapters.ending import Ending
from orgkernel.toolbox.adapters.server_logs import LEVELS
from orgkernel.toolbox.adapters.upstream_limits import UpstreamLimits

_CHANGES = ("tools", "prompts", "resources")
_CHANGED = {f"notifications/{kind}/list_changed": kind for kind in _CHANGES}
_Item = SessionMessage | Exception


class TooLong(Exception):
    """A server sent a message that is too long, and its connection can no longer be used."""


class _Traffic:
    """Shared state of both directions."""

    def __init__(self, limits: UpstreamLimits) -> None:
        self.answers_due = 0
        self.unanswered = 0
        self._rate = limits.unasked_per_second
        self._left = self._rate
        self._time = 0.0

    async def charge(self) -> None:
        """Count a message that is not an answer to a request, and wait if there were too many."""
        now = asyncio.get_running_loop().time()
        self._left = min(self._rate, self._left + (now - self._time) * self._rate) - 1
        self._time = now
        if self._left < 0:
            await asyncio.sleep(-self._left / self._rate)


class WatchedReader:
    """Reads the messages of a server."""

    def __init__(
        self,
        inner: Any,
        traffic: _Traffic,
        limits: UpstreamLimits,
        ending: Ending,
        wants_logs: Callable[[], bool],
    ) -> None:
        self._wants_logs = wants_logs
        self._inner = inner
        self._traffic = traffic
        self._limits = limits
        self._ending = ending

    async def receive(self) -> _Item:
        """The next message that is not dropped. Raises `EndOfStream`."""
        while True:
            try:
                item = await self._inner.receive()
            except TooLong as error:
                self._ending.end(str(error))
                raise anyio.EndOfStream from None
            except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
                self._ending.end("its connection ended")
                raise anyio.EndOfStream from None
            if await self._is_significant(item):
                return item  # type: ignore[no-any-return]

    async def _is_significant(self, item: _Item) -> bool:
        traffic = self._traffic
        message = None if isinstance(item, Exception) else item.message
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            if traffic.answers_due:
                traffic.answers_due -= 1
            else:
                await traffic.charge()
            return True
        await traffic.charge()
        if isinstance(message, JSONRPCRequest):
            if traffic.unanswered >= self._limits.most_unanswered:
                return False
            traffic.unanswered += 1
            return True
        if not isinstance(message, JSONRPCNotification):
            return False
        if message.method == "notifications/message":
            return self._wants_logs() and _is_log_message(message)
        return _is_useful(message)

    async def aclose(self) -> None:
        """Close the stream of the transport."""
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> _Item:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class WatchedWriter:
    """Writes messages to a server."""

    def __init__(self, inner: Any, traffic: _Traffic) -> None:
        self._inner = inner
        self._traffic = traffic

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message."""
        if isinstance(item.message, JSONRPCRequest):
            self._traffic.answers_due += 1
        elif not isinstance(item.message, JSONRPCNotification):
            self._traffic.unanswered = max(0, self._traffic.unanswered - 1)
        await self._inner.send(item)

    async def aclose(self) -> None:
        """Close the stream of the transport."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


@asynccontextmanager
async def watch_transport(
    transport: AbstractAsyncContextManager[Any], limits: UpstreamLimits, ending: Ending,
    wants_logs: Callable[[], bool] = lambda: False,
) -> AsyncIterator[tuple[WatchedReader, WatchedWriter]]:  # fmt: skip
    """A transport with watched streams. `wants_logs` is whether log messages are used now."""
    async with transport as (read, write):
        traffic = _Traffic(limits)
        yield WatchedReader(read, traffic, limits, ending, wants_logs), WatchedWriter(write, traffic)


def _is_log_message(message: JSONRPCNotification) -> bool:
    """Whether a log message has a valid form."""
    params = message.params or {}
    return params.get("level") in LEVELS and isinstance(params.get("logger"), str | None) and "data" in params


def _is_useful(message: JSONRPCNotification) -> bool:
    """Whether a client acts on a notification, and its form is valid. The SDK logs malformed ones."""
    params = message.params or {}
    if message.method in _CHANGED:
        meta = params.get("_meta")
        message.params = {"_meta": meta} if isinstance(meta, dict) else None
        return True
    if message.method == "notifications/progress":
        total, progress_message = params.get("total"), params.get("message")
        return (
            isinstance(params.get("progressToken"), str | int)
            and isinstance(params.get("progress"), int | float)
            and (total is None or isinstance(total, int | float))
            and (progress_message is None or isinstance(progress_message, str))
        )
    if message.method == "notifications/cancelled":
        return isinstance(params.get("requestId"), str | int)
    return message.method == "notifications/subscriptions/acknowledged"
