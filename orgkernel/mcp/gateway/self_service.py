"""The tools of orgkernel itself in front of a role behind the gateway: what it may do, why not, who can, and how to ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import OrgkernelError
from orgkernel.mcp.arguments import read_arguments
from orgkernel.mcp.gateway.caller import GatewayCaller
from orgkernel.mcp.gateway.names import OWN_PREFIX
from orgkernel.mcp.tools import BY_NAME, McpTool, list_tools_for
from orgkernel.mcp.words import clean_value, render_json, write_error


def find_own_tools(caller: GatewayCaller) -> Mapping[str, McpTool]:
    """The tools of orgkernel that a caller may use, by their names in front of a host. Empty without self-service."""
    if not caller.has_self_service:
        return {}
    return {f"{OWN_PREFIX}{tool.name}": tool for tool in list_tools_for(caller)}


def explain_own_name(caller: GatewayCaller, exposed: str) -> str:
    """Why a caller does not have a tool of orgkernel. Empty if no such tool has the name."""
    tool = BY_NAME.get(exposed.removeprefix(OWN_PREFIX)) if exposed.startswith(OWN_PREFIX) else None
    if tool is None:
        return ""
    if not caller.has_self_service:
        return f"{quote(exposed)} is not offered: the gateway was started with `--no-self-service`"
    return (
        f"{quote(exposed)} needs a credential with the scope {quote(tool.needs)}\nwhat to do: use another key"
    )


async def call_own_tool(
    caller: GatewayCaller, tool: McpTool, arguments: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The result in MCP's form, as over `orgkernel mcp`."""
    try:
        answer, text = await tool.run(caller, read_arguments(tool.name, tool.arguments, arguments))
    except OrgkernelError as error:
        return {"content": [{"type": "text", "text": write_error(error)}], "isError": True}
    data = clean_value(answer)
    return {"content": [{"type": "text", "text": text or render_json(data)}], "structuredContent": data}
