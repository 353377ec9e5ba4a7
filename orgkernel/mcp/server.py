"""The server: the tools and resources in the words of the SDK, which speaks both eras of the protocol."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from orgkernel import __version__
from orgkernel.diagnostics.wording import clean, did_you_mean, listing, quote
from orgkernel.errors import OrgkernelError, UsageError
from orgkernel.kernel.kernel import Kernel
from orgkernel.mcp.arguments import read_arguments
from orgkernel.mcp.asker import Asker
from orgkernel.mcp.governance_tools import GOVERNANCE_BY_NAME, list_tools_of
from orgkernel.mcp.resources import TEMPLATE, build_role_uri, list_roles, read_uri
from orgkernel.mcp.shapes import build_arguments_schema, build_schema
from orgkernel.mcp.tools import BY_NAME as TOOLS_BY_NAME
from orgkernel.mcp.tools import McpTool
from orgkernel.mcp.words import clean_sentence, clean_value, render_json, write_error

if TYPE_CHECKING:
    from mcp import types
    from mcp.server.lowlevel import Server

BY_NAME = {**TOOLS_BY_NAME, **GOVERNANCE_BY_NAME}
logger = logging.getLogger("orgkernel.mcp")
_INSTRUCTIONS = (
    "You are part of an organization with roles and a chain of command. Call `can` before you use a tool that you are "
    "not sure about. If it refuses, do what the answer says, or call `request_access`; do not try another way."
)
_LIST_TTL, _READ_TTL = 300_000, 5_000
"""Milliseconds for which a list and a manifest can be reused."""
_INVALID_PARAMS, _NOT_FOUND, _INTERNAL_ERROR = -32602, -32602, -32603


def require_sdk(what: str = "serving MCP") -> None:
    """Raise `UsageError` if the SDK is not installed, which `what` needs."""
    try:
        import mcp  # noqa: F401
    except ImportError:
        raise UsageError(f"{what} needs the SDK of MCP", "install the extra `orgkernel[mcp]`") from None


def build_server(find_asker: Callable[[Any], Asker]) -> Server[Any]:
    """Build a server that answers every message for the asker that `find_asker` returns for its context."""
    from mcp import types
    from mcp.server.caching import CacheHint
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[describe_tool(tool) for tool in await list_tools_of(find_asker(ctx))]
        )

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        asker = find_asker(ctx)
        tools = {tool.name: tool for tool in await list_tools_of(asker)}
        tool = tools.get(params.name)
        if tool is None:
            raise MCPError(code=_INVALID_PARAMS, message=_build_unknown_tool_message(params.name, tools))
        try:
            answer, text = await tool.run(asker, read_arguments(tool.name, tool.arguments, params.arguments))
        except OrgkernelError as error:
            refused = types.TextContent(type="text", text=write_error(error))
            return types.CallToolResult(content=[refused], is_error=True)
        data = clean_value(answer)
        text_content = types.TextContent(type="text", text=text or render_json(data))
        return types.CallToolResult(content=[text_content], structured_content=data)

    async def list_resources(ctx: Any, params: Any) -> types.ListResourcesResult:
        asker = find_asker(ctx)

        def look(kernel: Kernel) -> list[types.Resource]:
            view = kernel.organization(asker.org_id).snapshot.index
            return [
                types.Resource(
                    uri=build_role_uri(asker.org_id, role),
                    name=role,
                    title=clean_value(view.records.posts[role].profile.name),
                    mime_type="application/json",
                )
                for role in list_roles(view, asker.subject)
            ]

        return types.ListResourcesResult(resources=await asker.ask(look))

    async def list_templates(ctx: Any, params: Any) -> types.ListResourceTemplatesResult:
        org = TEMPLATE.replace("{org}", find_asker(ctx).org_id)
        template = types.ResourceTemplate(
            uri_template=org,
            name="role",
            description="What a role can do, and why.",
            mime_type="application/json",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(ctx: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        asker, uri = find_asker(ctx), str(params.uri)
        try:
            role = read_uri(uri, asker.org_id)
            text = await asker.ask(lambda kernel: kernel.manifest_bytes(asker.org_id, role).decode())
        except OrgkernelError as error:
            raise MCPError(code=_NOT_FOUND, message=write_error(error), data={"uri": uri}) from None
        contents = types.TextResourceContents(uri=uri, mime_type="application/json", text=text)
        return types.ReadResourceResult(contents=[contents])

    lists, reads = CacheHint(_LIST_TTL, "private"), CacheHint(_READ_TTL, "private")
    server: Server[Any] = Server(
        "orgkernel",
        version=__version__,
        instructions=_INSTRUCTIONS,
        get_tool_input_schema=lambda name: (
            build_arguments_schema(BY_NAME[name].arguments) if name in BY_NAME else None
        ),
        cache_hints={
            "tools/list": lists,
            "resources/list": reads,
            "resources/templates/list": lists,
            "resources/read": reads,
        },
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )
    server.middleware.append(hide_fault)
    return server


async def hide_fault(ctx: Any, call_next: Any) -> Any:
    """Answer an internal error without its text, which the SDK would send to a client with a handshake.

    It can name files, addresses and numbers of file descriptors of this process.
    """
    from mcp.shared.exceptions import MCPError
    from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data

    try:
        return await call_next(ctx)
    except Exception as error:
        if handler_exception_to_error_data(error) is not None:
            raise  # the SDK has words for it
        logger.exception("internal error in %s", clean(str(ctx.method)))
        raise MCPError(_INTERNAL_ERROR, "internal error of orgkernel, which is in its log") from None


class HttpServer:
    """A server for single requests over streamable HTTP: no session, no stream, JSON responses."""

    def __init__(self, server: Server[Any]) -> None:
        self._server = server

    async def answer(self, scope: Any, receive: Any, send: Any, *, streams: bool = False) -> None:
        """Answer one POST as an ASGI application; as an event stream if it `streams`, else as JSON."""
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        # One for each request: nothing is left of a request that is over, and none can be found by another.
        manager = StreamableHTTPSessionManager(self._server, json_response=not streams, stateless=True)
        async with manager.run():
            await manager.asgi_app(scope, receive, send)


def open_http(find_asker: Callable[[Any], Asker]) -> HttpServer:
    """The server for HTTP. It takes long the first time, when the SDK is imported. Raises `UsageError` without it."""
    require_sdk()
    return HttpServer(build_server(find_asker))


async def run_stdio(asker: Asker) -> None:
    """Serve one asker on standard input and output, until the input ends."""
    from mcp.server.stdio import stdio_server

    server = build_server(lambda _: asker)
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


def _build_unknown_tool_message(name: str, tools: dict[str, McpTool]) -> str:
    is_governed = not tools.keys().isdisjoint(GOVERNANCE_BY_NAME)
    if name in GOVERNANCE_BY_NAME and not is_governed:
        return f"{quote(name)} needs a governance document, which the organization does not have"
    if name in BY_NAME:
        needs = BY_NAME[name].needs
        return f"the credential has no scope {quote(needs)}, which {quote(name)} needs: use another key"
    return clean_sentence(
        f"there is no tool {quote(name)}; {did_you_mean(name, tools) or f'tools are {listing(tools)}'}"
    )


@cache
def describe_tool(tool: McpTool) -> types.Tool:
    """A tool as a host sees it."""
    from mcp import types

    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=build_arguments_schema(tool.arguments),
        output_schema=build_schema(tool.answer),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.only_reads,
            destructive_hint=False,
            idempotent_hint=tool.only_reads,
            open_world_hint=False,
        ),
    )
