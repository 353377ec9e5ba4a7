"""Map tools of servers to declared tools and their actions.

A declared tool belongs to a server by its type `mcp_server` and its `provider`. From the most to the least exact:
the tool with this name for MCP (`names.mcp`), the tool `mcp__SERVER__NAME`, an action NAME of a tool, the tool with
the id NAME, and the tool `mcp__SERVER`, which is every tool of the server.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from orgkernel.diagnostics.wording import clean
from orgkernel.documents.records import Tool
from orgkernel.graph.memo import per_view_and_key
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.names import build_server_tool_id, build_tool_id

_TYPE = "mcp_server"
_RUNTIME = "mcp"
_MAX_LENGTH = 100


class ToolBinding(msgspec.Struct, frozen=True):
    """The declared tool behind a tool of a server."""

    tool_id: str
    actions: tuple[str, ...]
    """The action of a call; if an argument names the action, all actions that it can name."""
    argument: str = ""
    """The argument whose value is the action."""

    def get_action_in(self, arguments: Mapping[str, Any]) -> str:
        """The action of a call. An unknown value is returned in a printable form, which is denied as unknown."""
        if not self.argument:
            return self.actions[0]
        value = arguments.get(self.argument)
        if not isinstance(value, str) or not value:
            return f"({self.argument} not given)"
        return value if value in self.actions else shorten_text(value)


def shorten_text(text: str) -> str:
    """A foreign string, shortened for refusals and the audit."""
    shown = _cleaned(text) if len(text) <= _MAX_LENGTH else clean(text)
    return shown if len(shown) <= _MAX_LENGTH else f"{shown[: _MAX_LENGTH - 1]}…"


_cleaned = lru_cache(maxsize=4_096)(clean)
"""The names of servers and tools come again with every call."""


@per_view_and_key(1_000)
def map_server_tools(view: OrgView, server: str) -> dict[str, Tool]:
    """The declared tools that a server provides."""
    return {
        tool_id: definition.record
        for tool_id, definition in view.records.tools.items()
        if definition.record.type == _TYPE and definition.record.provider == server
    }


def list_servers(view: OrgView) -> tuple[str, ...]:
    """The servers that declared tools name as their provider."""
    providers = {
        each.record.provider
        for each in view.records.tools.values()
        if each.record.type == _TYPE and each.record.provider
    }
    return tuple(sorted(providers))


@per_view_and_key(10_000)
def find_bindings(view: OrgView, called: tuple[str, str]) -> tuple[ToolBinding, ...]:
    """Map the tools of a server to the declared tools behind them, by name."""
    server, name = called
    return bind(map_server_tools(view, server), server, name)


def bind(tools: Mapping[str, Tool], server: str, name: str) -> tuple[ToolBinding, ...]:
    """The declared tools behind a tool of a server, by the most exact match.

    Empty if it is not declared. If there are several, the declarations contradict each other.
    """
    whole = build_server_tool_id(server)
    if exact := bind_exactly(tools, name):
        return exact
    own = build_tool_id(server, name)
    if own in tools and own != whole:
        return (_bind_whole_tool(own, tools[own], name),)
    by_action = tuple(
        ToolBinding(tool_id, (name,))
        for tool_id, tool in tools.items()
        if name in tool.actions and not tool.action_argument
    )
    if by_action:
        return by_action
    for tool_id in (name, whole):
        if tool_id in tools and _RUNTIME not in tools[tool_id].names:
            return (_bind_whole_tool(tool_id, tools[tool_id], name),)
    return ()


def bind_exactly(tools: Mapping[str, Tool], name: str) -> tuple[ToolBinding, ...]:
    """The declared tools that have this name for MCP."""
    return tuple(
        _bind_whole_tool(tool_id, tool, name)
        for tool_id, tool in tools.items()
        if tool.names.get(_RUNTIME) == name
    )


def _bind_whole_tool(tool_id: str, tool: Tool, name: str) -> ToolBinding:
    actions = tuple(tool.required_levels)
    if tool.action_argument:
        return ToolBinding(tool_id, actions, tool.action_argument)
    if name in actions:
        return ToolBinding(tool_id, (name,))
    # If nothing tells which of several actions a call is, it needs the action with the highest requirement.
    return ToolBinding(tool_id, (_get_highest_action(tool),))


def _get_highest_action(tool: Tool) -> str:
    from orgkernel.documents.records import LEVELS

    levels = tool.required_levels
    return max(levels, key=lambda action: LEVELS.index(levels[action]))
