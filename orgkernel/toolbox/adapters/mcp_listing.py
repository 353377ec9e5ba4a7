"""Asks an MCP server which tools it has, with the official SDK."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from typing import Any, NamedTuple

import mcp  # noqa: F401  # without it, nothing here works

from orgkernel.toolbox.adapters.adapter import Reply
from orgkernel.toolbox.adapters.ending import Ending
from orgkernel.toolbox.adapters.mcp_server import connect
from orgkernel.toolbox.failures import describe_failure
from orgkernel.toolbox.literal_secrets import build_maskers
from orgkernel.toolbox.masking import TooDeep
from orgkernel.toolbox.providers import McpServer

_MAX_PAGES = 100


class ToolList(NamedTuple):
    """The tools that a server lists, or the error."""

    tools: list[dict[str, Any]]
    error: str = ""


async def list_tools(provider: McpServer, seconds: float) -> ToolList:
    """All tools of a server. The server has `seconds` in total. Errors are returned, not raised.

    Values of the provider in places of secrets are masked.
    """
    maskers = build_maskers(provider, {})
    try:
        tools, error = await _list_tools(provider, seconds)
        return ToolList(maskers.results.mask(tools), maskers.texts.mask(error))
    except TooDeep as too_deep:
        return ToolList([], str(too_deep))


async def _list_tools(provider: McpServer, seconds: float) -> ToolList:
    try:
        async with asyncio.timeout(seconds), AsyncExitStack() as stack:
            client = await connect(stack, provider, {}, Ending())
            if isinstance(client, Reply):
                return ToolList([], client.error)
            tools: list[dict[str, Any]] = []
            cursor: str | None = None
            for _ in range(_MAX_PAGES):
                page = await client.list_tools(cursor=cursor)
                tools += (
                    each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in page.tools
                )
                if len(json.dumps(tools)) > provider.max_bytes:
                    return ToolList([], f"its list is longer than {provider.max_bytes} bytes")
                cursor = page.next_cursor
                if not cursor:
                    return ToolList(tools)
            return ToolList([], f"its list has more than {_MAX_PAGES} pages")
    except TimeoutError:
        return ToolList([], f"it did not answer within {seconds:g} seconds")
    except Exception as error:
        cause: BaseException = error
        while isinstance(cause, BaseExceptionGroup):  # the SDK bundles errors in groups
            cause = cause.exceptions[0]
        if isinstance(cause, TimeoutError):
            return ToolList([], f"it did not answer within {seconds:g} seconds")
        return ToolList([], f"it cannot be asked: {describe_failure(cause)}")
