"""A FastMCP proxy, in an environment of its own: `python gateway_proxy.py WAY TARGET` prints the port that it listens on.

TARGET is a URL, or a file with `mcpServers`. The ways are those of its documentation: `shared` reuses one connected client
for all requests, which is the fastest, and `fresh`, the default, opens a session for each request. `stdio` is a shared
client between standard input and output and the only server of the file.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import sys
from pathlib import Path
from typing import Any

import uvicorn
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy

_ERA = "2026-07-28"


def read_target(said: str) -> Any:
    """What the proxy stands before."""
    return said if said.startswith("http") else json.loads(Path(said).read_text(encoding="utf-8"))


async def serve(proxy: Any) -> None:
    """Answer over HTTP, stateless and in JSON."""
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    app = proxy.http_app(json_response=True, stateless_http=True)
    config = uvicorn.Config(app, log_level="error", access_log=False)
    await uvicorn.Server(config).serve([listener])


async def main(way: str, said: str) -> None:
    """Serve."""
    logging.disable(logging.WARNING)
    target = read_target(said)
    if way == "fresh":
        await serve(create_proxy(target, name="proxy"))
        return
    if way == "shared":
        async with Client(target, mode=_ERA) as client:
            await serve(create_proxy(client, name="proxy"))
        return
    (server,) = target["mcpServers"].values()
    async with Client(StdioTransport(server["command"], server["args"]), mode=_ERA) as client:
        await create_proxy(client, name="proxy").run_stdio_async(show_banner=False)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
