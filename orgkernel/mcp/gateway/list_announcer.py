"""Send the changes of lists to the clients of a server of the SDK, in both eras of the protocol.

With a handshake, a server sends them by itself. Without one, a client listens to them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from orgkernel.mcp.gateway.list_changes import ListChanges

if TYPE_CHECKING:
    from mcp import types


MAX_SUBSCRIPTIONS: Final = 256
"""Open subscriptions of all callers."""
MAX_PER_CALLER: Final = 8
SUBSCRIPTION_SECONDS: Final = 600.0
"""Seconds after which a subscription over HTTP ends, so that its caller has to show a valid credential again."""
_INTERNAL_ERROR: Final = -32603


class ListAnnouncer:
    """Knows the clients that are told of changes. Used from one event loop."""

    def __init__(self, changes: ListChanges, *, has_connection: bool) -> None:
        """`has_connection` says whether all messages come on one connection that stays open, as on standard input and output."""
        self.has_connection = has_connection
        self._session: Any = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._listening: Counter[str] = Counter()
        """Open subscriptions, by caller."""
        from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

        self._bus = InMemorySubscriptionBus()
        self._handler = ListenHandler(self._bus, max_subscriptions=MAX_SUBSCRIPTIONS)
        changes.listen(self._announce)

    def note_session(self, ctx: Any) -> None:
        """A client has read a list, so it is told when the list has changed."""
        if self.has_connection:
            self._session = ctx.session

    async def listen(
        self, ctx: Any, params: types.SubscriptionsListenRequestParams, caller_id: str
    ) -> types.SubscriptionsListenResult:
        """Keep a subscription of lists open. Changes of resources are not announced. Raises `MCPError` if the caller has too many."""
        from mcp.server.subscriptions import SUBSCRIPTION_ID_META_KEY
        from mcp.shared.exceptions import MCPError
        from mcp.types import SubscriptionsListenResult

        if self._listening[caller_id] >= MAX_PER_CALLER:
            raise MCPError(
                _INTERNAL_ERROR, f"a caller can have {MAX_PER_CALLER} open subscriptions: end one of them"
            )
        wanted = params.notifications.model_copy(update={"resource_subscriptions": None})
        self._listening[caller_id] += 1
        try:
            async with asyncio.timeout(None if self.has_connection else SUBSCRIPTION_SECONDS):
                return await self._handler(ctx, params.model_copy(update={"notifications": wanted}))
        except TimeoutError:
            return SubscriptionsListenResult.model_validate(
                {"_meta": {SUBSCRIPTION_ID_META_KEY: ctx.request_id}}
            )
        finally:
            self._listening[caller_id] -= 1
            self._listening += Counter()  # forgets those who have left

    def close(self) -> None:
        """End all subscriptions, so that a server that ends does not wait for them."""
        self._handler.close()

    def _announce(self) -> None:
        task = asyncio.get_running_loop().create_task(self._send())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self) -> None:
        from mcp.server.subscriptions import PromptsListChanged, ResourcesListChanged, ToolsListChanged

        for event in (ToolsListChanged(), PromptsListChanged(), ResourcesListChanged()):
            await self._bus.publish(event)
        session = self._session
        if session is None:
            return
        with suppress(Exception):  # the client has left
            await session.send_tool_list_changed()
            await session.send_prompt_list_changed()
            await session.send_resource_list_changed()
