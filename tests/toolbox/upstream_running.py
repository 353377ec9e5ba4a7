"""Runs a test with an upstream in a loop of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from orgkernel.toolbox import McpServer
from orgkernel.toolbox.adapters.upstream_limits import UpstreamLimits
from orgkernel.toolbox.adapters.upstreams import Upstream, UpstreamReply
from tests.support.patience import PATIENCE
from tests.toolbox import hostile_server

LIMITS = UpstreamLimits(start_seconds=PATIENCE, call_seconds=PATIENCE)
"""A machine that does other things starts a server slowly."""


def hostile(how: str = "", notes: Path | None = None, **options: Any) -> McpServer:
    """The server process that does what a test wants."""
    command = (sys.executable, str(Path(hostile_server.__file__)), how, *([str(notes)] if notes else []))
    return McpServer(command, **options)


def run(test: Callable[[Upstream], Coroutine[Any, Any, None]], *arguments: Any, **options: Any) -> None:
    """Run a test with an upstream, and close the upstream."""
    provider, *limits = arguments

    async def whole() -> None:
        upstream = Upstream("u", provider, *(limits or [LIMITS]), **options)
        try:
            async with asyncio.timeout(PATIENCE):
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
    async with asyncio.timeout(PATIENCE):
        while True:
            found = ask()
            if found if isinstance(found, bool) else await found:
                return
            await asyncio.sleep(0.02)
