"""Log messages of a server during a call, for the caller.

They are passed on only from a connection that one caller has for itself. A message names no call, and one that a server sends late
would reach another caller, if the connection were shared.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, NamedTuple

from mcp_types import LoggingLevel, LoggingMessageNotificationParams

LEVELS: Final[tuple[LoggingLevel, ...]] = (
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency",
)  # fmt: skip
"""From the least severe to the most severe (RFC 5424)."""
_LAST_SECONDS: Final = 0.5
_MAX_SENDING: Final = 64
"""Messages that the client has not taken yet. Further ones are dropped."""


class LogReceiver(NamedTuple):
    """The receiver of the log messages of one call."""

    level: LoggingLevel
    """The least severe messages that it wants."""
    receive: Callable[[LoggingLevel, str | None, Any], Coroutine[Any, Any, None]]
    """Takes the level, the name of the logger and the data of a message."""


class ServerLogs:
    """The calls of one connection that take log messages. Used from one event loop."""

    def __init__(self) -> None:
        self._receivers: list[LogReceiver] = []
        self._sending: set[asyncio.Task[None]] = set()
        self._level = len(LEVELS)
        """The place of the level that the server was told. The number of levels if it was told none."""

    def enter(self, receiver: LogReceiver | None) -> None:
        """A call begins."""
        if receiver is not None:
            self._receivers.append(receiver)

    async def leave(self, receiver: LogReceiver | None) -> None:
        """A call has ended. Its receiver has a moment for the messages that came before the result."""
        if receiver is None:
            return
        try:
            if self._sending:
                await asyncio.wait(self._sending, timeout=_LAST_SECONDS)
        finally:
            self._receivers.remove(receiver)

    def has_receivers(self) -> bool:
        """Whether a call takes messages now."""
        return bool(self._receivers)

    def lower(self, level: LoggingLevel) -> bool:
        """Whether a server with a handshake has to be told of a level, because it knows only more severe ones."""
        place = LEVELS.index(level)
        is_lower = place < self._level
        self._level = min(self._level, place)
        return is_lower

    async def receive(self, params: LoggingMessageNotificationParams) -> None:
        """Pass a message on to the latest call, if that wants messages of its level. Otherwise it is dropped."""
        if not self._receivers or len(self._sending) >= _MAX_SENDING:
            return
        receiver = self._receivers[-1]
        if LEVELS.index(params.level) >= LEVELS.index(receiver.level):
            sending = asyncio.ensure_future(receiver.receive(params.level, params.logger, params.data))
            self._sending.add(sending)
            sending.add_done_callback(self._forget)

    def _forget(self, sending: asyncio.Task[None]) -> None:
        self._sending.discard(sending)
        if not sending.cancelled():
            sending.exception()  # the client has left, or the message cannot be searched for secrets
