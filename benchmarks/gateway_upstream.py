"""The server behind the gateway: `python -m benchmarks.gateway_upstream http SERVERS TOOLS` prints its port, and `stdio` has one
server on standard input and output.

It is written with the official SDK. Over HTTP it is stateless and answers in JSON, at `/0/mcp`, `/1/mcp` and so on. The
first tool of each server is `echo`; the others are there to be listed.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import uvicorn
from mcp.server.mcpserver import MCPServer
from starlette.applications import Starlette
from starlette.routing import Mount

_DESCRIPTION = (
    "Finds the records that a text names, in the order in which they were written, and says of each who "
    "wrote it and when. Use it before you change a record."
)


def build(number: int, tools: int) -> MCPServer:
    """A server with so many tools."""
    server = MCPServer(f"upstream-{number}", version="1.0.0", log_level="ERROR")

    @server.tool(description="Answers with the text.", structured_output=False)
    async def echo(text: str) -> str:
        return text

    async def find(text: str, limit: int = 10, newest_first: bool = False) -> str:
        return text

    for each in range(1, tools):
        server.add_tool(find, name=f"find_{each}", description=_DESCRIPTION, structured_output=False)
    return server


def main() -> None:
    """Serve."""
    if sys.argv[1] == "stdio":
        build(0, 1).run()
        return
    servers = [build(number, int(sys.argv[3])) for number in range(int(sys.argv[2]))]
    apps = [each.streamable_http_app(json_response=True, stateless_http=True) for each in servers]

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for each in servers:
                await stack.enter_async_context(each.session_manager.run())
            yield

    routes = [Mount(f"/{number}", app) for number, app in enumerate(apps)]
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    app = Starlette(routes=routes, lifespan=running)
    uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False)).run([listener])


if __name__ == "__main__":
    main()
