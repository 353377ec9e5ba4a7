"""An MCP server of the official SDK with tools that take time, report, change and ask: as a process or as an app.

The app answers in both eras, or as a server of the era with a handshake, which does not know `server/discover`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel, Field
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Name(BaseModel):
    """What is asked for."""

    name: str


def build(**options: Any) -> MCPServer:
    """A new server."""
    server = MCPServer("upstream", log_level="CRITICAL", **options)

    @server.tool()
    def echo(text: str) -> str:
        """Say it again."""
        return text

    @server.tool()
    def header(
        region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})], ctx: Context
    ) -> str:
        """An argument that also travels in a header."""
        return str((ctx.headers or {}).get("mcp-param-region"))

    @server.tool()
    def key(ctx: Context) -> str:
        """The credential that came."""
        return str((ctx.headers or {}).get("authorization"))

    @server.tool()
    async def count(to: int, ctx: Context) -> str:
        """Report each step."""
        for step in range(to):
            await ctx.report_progress(step, to, f"step {step}")
        return "counted"

    @server.tool()
    async def wait(notes: str, ctx: Context) -> str:
        """Wait until it is cancelled, and note both."""
        path = Path(notes)
        try:
            path.write_text("started", encoding="utf-8")
            await anyio.sleep(60)
        except anyio.get_cancelled_exc_class():
            path.write_text("cancelled", encoding="utf-8")
            raise
        return "waited"

    @server.tool()
    async def change(ctx: Context) -> str:
        """Announce that the tools have changed."""
        server.add_tool(echo, name="added")
        await ctx.notify_tools_changed()
        return "changed"

    @server.tool()
    async def ask(ctx: Context) -> str:
        """Ask the user."""
        return str(await ctx.elicit("who are you?", Name))

    @server.tool()
    def large(characters: int) -> str:
        """A long text."""
        return "x" * characters

    @server.prompt()
    def greet(name: str) -> str:
        """A greeting."""
        return f"hello {name}"

    @server.resource("notes://all")
    def notes() -> str:
        """All notes."""
        return "all notes"

    @server.resource("notes://{name}")
    def note(name: str) -> str:
        """One note."""
        return f"note {name}"

    return server


def older(app: ASGIApp) -> ASGIApp:
    """The app as a server that has not heard of `server/discover`."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            return await app(scope, receive, send)
        messages: list[Message] = [await receive()]
        while messages[-1].get("more_body"):
            messages.append(await receive())
        if b'"server/discover"' in b"".join(each.get("body", b"") for each in messages):
            await send({"type": "http.response.start", "status": 400, "headers": []})
            return await send({"type": "http.response.body", "body": b"unknown method"})

        async def again() -> Message:
            return messages.pop(0) if messages else await receive()

        return await app(scope, again, send)

    return answer


if __name__ == "__main__":
    build().run()
