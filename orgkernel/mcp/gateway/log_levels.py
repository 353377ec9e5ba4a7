"""Which log messages of servers a client wants, in both eras of the protocol.

With a handshake, a client sets a level for its connection. Without one, each request names it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orgkernel.toolbox.upstream_tools import LEVELS, LogReceiver

if TYPE_CHECKING:
    from mcp import types

_LEVEL_KEY = "io.modelcontextprotocol/logLevel"
_INVALID_REQUEST = -32600


class LogLevels:
    """The level of a connection. Used from one event loop."""

    def __init__(self, *, has_connection: bool) -> None:
        """`has_connection` says whether all messages come on one connection that stays open."""
        self._has_connection = has_connection
        self._level: Any = None

    async def set_level(self, _: Any, params: types.SetLevelRequestParams) -> types.EmptyResult:
        """Set the level of the connection. Raises `MCPError` over HTTP, where requests with a handshake belong to no connection."""
        from mcp.shared.exceptions import MCPError
        from mcp.types import EmptyResult

        if not self._has_connection:
            raise MCPError(
                _INVALID_REQUEST,
                "over HTTP there are no sessions, so name the level in each request (protocol 2026-07-28)",
            )
        self._level = params.level
        return EmptyResult()

    def build_receiver(self, ctx: Any) -> LogReceiver | None:
        """The receiver of the log messages of a call. None if the client wants none."""
        from mcp.types import LoggingMessageNotification, LoggingMessageNotificationParams
        from mcp.types.version import MODERN_PROTOCOL_VERSIONS

        is_modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        level = (ctx.meta or {}).get(_LEVEL_KEY) if is_modern else self._level
        if level not in LEVELS:
            return None

        async def receive(level: Any, logger: str | None, data: Any) -> None:
            params = LoggingMessageNotificationParams(level=level, logger=logger, data=data)
            await ctx.session.send_notification(
                LoggingMessageNotification(params=params), related_request_id=ctx.request_id
            )

        return LogReceiver(level, receive)
