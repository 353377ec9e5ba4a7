"""Connections to upstream servers: shared, started when needed, limited, and started again."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from orgkernel.toolbox import McpServer
from orgkernel.toolbox.adapters.upstream_limits import UpstreamLimits
from orgkernel.toolbox.adapters.upstreams import Upstream, UpstreamReply
from tests.toolbox import hostile_server, mcp_tools
from tests.toolbox.serving import serving

SECRET = "s3cr3t-v4lue-of-the-key"
SDK = (sys.executable, str(Path(mcp_tools.__file__)))
SMALL = UpstreamLimits(max_bytes=200_000, call_seconds=20, start_seconds=20)


def hostile(how: str = "", notes: Path | None = None, **options: Any) -> McpServer:
    """The server that does what a test wants."""
    command = (sys.executable, str(Path(hostile_server.__file__)), how, *([str(notes)] if notes else []))
    return McpServer(command, **options)


def run(test: Callable[[Upstream], Coroutine[Any, Any, None]], *arguments: Any, **options: Any) -> None:
    """Run a test with an upstream, and close the upstream."""

    async def whole() -> None:
        upstream = Upstream("u", *arguments, **options)
        try:
            async with asyncio.timeout(60):
                await test(upstream)
        finally:
            await upstream.aclose()

    asyncio.run(whole())


def text(reply: UpstreamReply) -> str:
    """What a tool said."""
    assert reply.result is not None, reply
    said: str = reply.result["content"][0]["text"]
    return said


def runs(process: int) -> bool:
    """Whether a process is there."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def until(ask: Callable[[], bool | Awaitable[bool]]) -> None:
    """Wait until something is so."""
    while True:
        found = ask()
        if found if isinstance(found, bool) else await found:
            return
        await asyncio.sleep(0.02)


@pytest.fixture(scope="module")
def modern_url() -> Iterator[str]:
    app = mcp_tools.server.streamable_http_app()
    with serving(app) as url:
        yield f"{url}/mcp"


@pytest.fixture(params=["modern process", "older process", "modern http", "older http"])
def server(request: pytest.FixtureRequest) -> McpServer:
    if request.param == "modern process":
        return McpServer(SDK)
    if request.param == "older process":
        return McpServer((sys.executable, str(Path(mcp_tools.__file__)), "older"))
    return McpServer(request.getfixturevalue("modern_url" if "modern" in request.param else "older_url"))


def test_nothing_starts_before_it_is_needed_and_one_connection_serves_many_callers() -> None:
    """The first of many waiting callers starts the process, and all calls reach the same one."""

    async def test(upstream: Upstream) -> None:
        assert upstream.status.state == "not_started"
        calls = [asyncio.create_task(upstream.call("pid", {})) for _ in range(20)]
        await asyncio.sleep(0)
        assert upstream.status.state == "starting"
        replies = await asyncio.gather(*calls)
        assert len({text(reply) for reply in replies}) == 1
        assert upstream.status.state == "running"

    run(test, hostile())


def test_the_result_of_a_tool_is_what_the_server_sent() -> None:
    """Nothing is renamed or left out, also what the protocol does not know."""

    async def test(upstream: Upstream) -> None:
        reply = await upstream.call("hello", {})
        assert reply == UpstreamReply({"content": [{"type": "text", "text": "hello"}], "x-extra": 1})

    run(test, hostile())
