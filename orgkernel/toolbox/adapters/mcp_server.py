"""Calls a tool of an MCP server with the official SDK: over HTTP, or by starting the server as a process.

Each call has its own connection. Over HTTP, this is how the protocol works since 2026-07-28. A server process starts
and ends with the call, so the calls of two agents share nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from orgkernel.errors import BadToolbox
from orgkernel.toolbox.adapters.adapter import (
    Adapter,
    Call,
    Redeem,
    Reply,
    build_headers,
    choose_entry,
    reply_missing,
    reply_not_served,
)
from orgkernel.toolbox.adapters.ending import Ending
from orgkernel.toolbox.failures import describe_failure
from orgkernel.toolbox.providers import McpServer

if TYPE_CHECKING:
    from mcp import Client


class McpAdapter(Adapter):
    """Calls a tool of an MCP server."""

    def __init__(self, tool_id: str, provider: McpServer, redeem: Redeem) -> None:
        """Raises `BadToolbox` for an empty command, and if the SDK is not installed."""
        super().__init__(tool_id, redeem, provider)
        try:
            import mcp  # noqa: F401
        except ImportError:
            raise BadToolbox(
                "calling an MCP server needs its SDK", "install the extra `orgkernel[mcp]`"
            ) from None
        if not provider.server:
            raise BadToolbox(f"`{tool_id}`: an MCP server needs an address or a command")
        if provider.authorization is not None:
            raise BadToolbox(
                f"`{tool_id}`: only the gateway requests access tokens for a server",
                "remove `authorization`, and name a credential in `credential_headers`",
            )
        self._provider = provider

    async def _call(self, call: Call) -> Reply:
        name = choose_entry(self._provider.tools or None, call.action, call.is_sole_action)
        if name is None and self._provider.tools:
            return reply_not_served(self.tool_id, call.action)
        name = name or (self.tool_id if call.is_sole_action else call.action)
        connected = False
        reply: Reply | None = None
        try:
            async with AsyncExitStack() as stack:
                ending = Ending()
                client = await connect(stack, self._provider, call.credentials, ending)
                if isinstance(client, Reply):
                    return client
                connected = True
                reply = _require_size(
                    await _ask(client, ending, name, call.arguments), self._provider.max_bytes
                )
        except Exception as error:
            if reply is not None:
                return reply  # it has answered; that the connection then ended badly changes nothing
            cause: BaseException = error
            while isinstance(cause, BaseExceptionGroup):  # the SDK bundles errors in groups
                cause = cause.exceptions[0]
            what = "it did not answer" if connected else "it cannot be reached"
            return Reply("unavailable", error=f"{what}: {describe_failure(cause)}", is_uncertain=connected)
        return reply


async def connect(
    stack: AsyncExitStack, provider: McpServer, credentials: Mapping[str, str], ending: Ending
) -> Client | Reply:
    """Connect to a server, or return the error. The stack closes the connection.

    The ending tells why a process ended.
    """
    from mcp import Client

    if isinstance(provider.server, str):
        from httpx2 import AsyncClient
        from mcp.client.streamable_http import streamable_http_client

        from orgkernel.toolbox.adapters.limited_http import LimitedTransport

        headers, lacks = build_headers(provider, credentials)
        if lacks:
            return Reply("unavailable", error=lacks)
        if provider.transport == "sse":
            from orgkernel.toolbox.adapters.sse_http import open_sse
            from orgkernel.toolbox.adapters.upstream_limits import UpstreamLimits

            limits = UpstreamLimits(max_bytes=provider.max_bytes)
            return await stack.enter_async_context(Client(open_sse(provider.server, headers, limits, ending)))
        limited = LimitedTransport(provider.max_bytes)
        http = await stack.enter_async_context(AsyncClient(headers=headers, timeout=None, transport=limited))
        transport: Any = streamable_http_client(
            provider.server, http_client=http, max_sse_event_size=provider.max_bytes
        )
    else:
        from orgkernel.toolbox.adapters.limited_stdio import open_limited_stdio
        from orgkernel.toolbox.adapters.upstream_limits import UpstreamLimits
        from orgkernel.toolbox.adapters.watched_streams import watch_transport

        environment = dict(provider.environment)
        for variable, credential in provider.credential_environment.items():
            if credential not in credentials:
                return Reply("unavailable", error=reply_missing(credential))
            environment[variable] = credentials[credential]
        limits = UpstreamLimits(max_bytes=provider.max_bytes)
        process = open_limited_stdio(provider.server, environment, provider.max_bytes, ending)
        transport = watch_transport(process, limits, ending)
    return await stack.enter_async_context(Client(transport))


async def _ask(client: Client, ending: Ending, name: str, arguments: dict[str, Any]) -> Reply:
    from mcp.shared.exceptions import MCPError

    try:
        result = await client.call_tool(name, arguments)
    except MCPError as error:
        # The request may have reached the server before it ended, so its effect is uncertain.
        if ending.has_ended:
            return Reply("failed", error=ending.reason, is_uncertain=True)
        if await _does_list(client, name):
            return Reply("failed", error=f"{error.message} ({error.code})", metadata={"mcp_code": error.code})
        return Reply("unavailable", error=f"the server has no tool `{name}`")
    texts = [getattr(block, "text", None) for block in result.content]
    answer_text = "\n".join(text for text in texts if text is not None)
    if result.is_error:
        if not await _does_list(client, name):
            return Reply("unavailable", error=f"the server has no tool `{name}`")
        return Reply("failed", error=answer_text or "the tool failed", is_uncertain=True)
    if result.structured_content is not None:
        return Reply("done", result.structured_content)
    # A block that is not text (an image, a resource) would be lost in a joined text.
    if None in texts:
        return Reply("done", [block.model_dump(mode="json", exclude_none=True) for block in result.content])
    return Reply("done", answer_text)


def _require_size(reply: Reply, limit: int) -> Reply:
    """A reply, or an error if it is too large. The output of a process is measured after the SDK has read it."""
    reply_json = json.dumps([reply.output, reply.error], ensure_ascii=False)
    # A character has at most four bytes, so a short reply need not be encoded to be measured.
    if len(reply_json) <= limit // 4 or len(reply_json.encode("utf-8", "surrogatepass")) <= limit:
        return reply
    return Reply("failed", error=f"the answer is longer than {limit} bytes", is_uncertain=True)


async def _does_list(client: Client, name: str) -> bool:
    """Whether a server has a tool. Servers give the same answer for an unknown tool and a failing one."""
    try:
        listed = await client.list_tools()
        while True:
            if any(tool.name == name for tool in listed.tools):
                return True
            if not listed.next_cursor:
                return False
            listed = await client.list_tools(cursor=listed.next_cursor)
    except Exception:
        return True  # unknown; then the first reason is kept
