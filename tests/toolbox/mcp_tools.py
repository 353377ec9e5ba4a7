"""An MCP server with a few tools: on standard input and output when it is run."""

from __future__ import annotations

import os
import time
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel


class Mail(BaseModel):
    """What is read."""

    id: str
    key: str


server = MCPServer("mails", log_level="CRITICAL")


@server.tool()
def read_mail(id: str) -> Mail:
    """Read one."""
    return Mail(id=id, key=os.environ.get("MAILBOX_KEY", ""))


@server.tool()
def look(where: str) -> str:
    """Look somewhere."""
    if where == "nowhere":
        raise ValueError("there is no such place")
    if where.startswith("far"):
        Path(where.partition(" ")[2] or os.devnull).write_text(str(os.getpid()), encoding="utf-8")
        time.sleep(5)
    return f"seen {where}"


@server.tool()
def read_much(characters: int) -> str:
    """A long text."""
    return "x" * characters


if __name__ == "__main__":
    server.run()
