"""Send the changes of lists to the clients of a server of the SDK, in both eras of the protocol.

With a handshake, a server sends them by itself. Without one, a client listens to them.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from orgkernel.mcp.gateway.list_changes import ListChanges

if TYPE_CHECKING:
    from mcp import types


class ListAnnouncer:
    """Knows the connection of a client. Used from one event loop."""

    def __init__(self, changes: ListChanges | None) -> None:
        """Without `changes`, nothing is announced."""
        self._is_on = changes is not None
        self._session: Any = None
        self._tasks: set[asyncio.Task[None]] = set()
        if changes is None:
            return
        from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

        self._bus = InMemorySubscriptionBus()
        self._handler = ListenHandler(self._bus)
        changes.listen(self._announce)

    def note_session(self, ctx: Any) -> None:
        """A client has read a list, so it is told when the list has changed."""
        if self._is_on:
            self._session = ctx.session

    async def listen(
        self, ctx: Any, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Keep a subscription of lists open. Changes of resources are not announced."""
        wanted = params.notifications.model_copy(update={"resource_subscriptions": None})
        return await self._handler(ctx, params.model_copy(update={"notifications": wanted}))

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
