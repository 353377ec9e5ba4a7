"""Clients over HTTP that listen to changes of their lists."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from manifest_api.server import DRAIN_SECONDS
from orgkernel.mcp.gateway.list_announcer import MAX_PER_CALLER
from tests.api.keys import bearer
from tests.gateway.gateways import over_http
from tests.gateway.shop import Shop, profile
from tests.mcp.calling import connect
from tests.support.patience import PATIENCE


def test_a_client_over_http_hears_of_changes(tmp_path: Path) -> None:
    """The official client listens over HTTP, with its key: to a server that was removed, and to a role that was edited. A caller has a
    limited number of subscriptions, and a gateway that ends does not wait for them.
    """
    shop = Shop(tmp_path)
    with over_http(shop) as http:
        key = http.key("ann")

        async def expect_change(client: Client, changes: Any) -> set[str]:
            """The names of the tools after the next change. Lists make the gateway look at the file with the servers."""
            change = asyncio.ensure_future(anext(changes))
            while not change.done():
                await client.list_tools(cache_mode="bypass")
                await asyncio.wait([change], timeout=0.2)
            return {each.name for each in (await client.list_tools(cache_mode="bypass")).tools}

        async def listen() -> None:
            async with asyncio.timeout(PATIENCE), AsyncExitStack() as stack:
                client = await stack.enter_async_context(Client(connect(f"{http.url}/mcp", bearer(key))))
                subscription = await stack.enter_async_context(client.listen(tools_list_changed=True))
                changes = aiter(subscription)
                shop.declare({"box": shop.box.command})
                while "crate__look" in await expect_change(client, changes):  # its start is a change, too
                    pass
                shop.edit("roles/clerk.yaml", profile("clerk", "specialist", "lead", mcp__box__look="read"))
                while "box__send" in await expect_change(client, changes):
                    pass
                for _ in range(MAX_PER_CALLER - 1):
                    await stack.enter_async_context(client.listen(tools_list_changed=True))
                with pytest.raises(MCPError, match="a caller can have 8 open subscriptions"):
                    await stack.enter_async_context(client.listen(tools_list_changed=True))
                connections = stack.pop_all()
                os.kill(http.process.pid or 0, signal.SIGTERM)
                began = time.monotonic()
                await asyncio.to_thread(http.process.join, PATIENCE)
                took = time.monotonic() - began
                with suppress(Exception):  # the client tells a server that is gone
                    await connections.aclose()
                assert took < DRAIN_SECONDS + 4

        asyncio.run(listen())
