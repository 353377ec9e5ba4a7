"""The MCP server of the demo: insights about readers, and a queue for posts that cannot be published."""

from __future__ import annotations

import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("insights", log_level="CRITICAL")


@server.tool()
def audience_insights(topic: str) -> dict[str, str]:
    """Say who reads posts about a topic, and when."""
    return {"topic": topic, "readers": "engineers and people who hire them", "best_time": "Tuesday, 9:00"}


@server.tool()
def post_queue(content: str, hashtags: list[str] | None = None) -> dict[str, str | int]:
    """Keep a post until it can be published."""
    return {"queued": content[:40], "hashtags": len(hashtags or ())}


if __name__ == "__main__":
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
