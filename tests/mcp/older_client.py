"""A client of the SDK 1.x, which speaks 2025-11-25; run in an environment that has it. It prints what it was told as JSON.

Called with the command of a server, or with a URL and a key.
"""

from __future__ import annotations

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


def connect(words):
    if words[0].startswith("http"):
        return streamablehttp_client(words[0], headers={"Authorization": f"Bearer {words[1]}"})
    return stdio_client(StdioServerParameters(command=words[0], args=words[1:], env=None))


async def main(words):
    async with connect(words) as streams, ClientSession(streams[0], streams[1]) as session:
        greeted = await session.initialize()
        listed = await session.list_tools()
        asked = await session.call_tool("can", {"resource": "tool:scheduler"})
        refused = await session.call_tool("can", {"resource": "tool:scheduler", "subject": "role:co"})
        resources = await session.list_resources()
        read = await session.read_resource(resources.resources[0].uri)
        told = {
            "version": greeted.protocolVersion,
            "tools": [tool.name for tool in listed.tools],
            "answer": asked.structuredContent,
            "text": asked.content[0].text,
            "refused": [refused.isError, refused.content[0].text],
            "manifest": json.loads(read.contents[0].text)["role_id"],
        }
        print(json.dumps(told))


asyncio.run(main(sys.argv[1:]))
