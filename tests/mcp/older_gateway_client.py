"""A client of the SDK 1.x before the gateway; run in an environment that has it. It prints what it was told as JSON.

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
    progress = []

    async def on_progress(done, total, message):
        progress.append([done, total])

    async with connect(words) as streams, ClientSession(streams[0], streams[1]) as session:
        greeted = await session.initialize()
        tools = await session.list_tools()
        content = await session.call_tool("everything__test_multiple_content_types", {})
        failed = await session.call_tool("everything__test_error_handling", {})
        told = await session.call_tool(
            "everything__test_tool_with_progress", {}, progress_callback=on_progress
        )
        prompt = await session.get_prompt(
            "everything__test_prompt_with_arguments", {"arg1": "a", "arg2": "b"}
        )
        resource = await session.read_resource("test://static-text")
        print(
            json.dumps(
                {
                    "version": greeted.protocolVersion,
                    "tools": [tool.name for tool in tools.tools],
                    "content": [each.type for each in content.content],
                    "failed": [failed.isError, failed.content[0].text],
                    "progress": [told.content[0].text, progress],
                    "prompt": prompt.messages[0].content.text,
                    "resource": resource.contents[0].text,
                }
            )
        )


asyncio.run(main(sys.argv[1:]))
