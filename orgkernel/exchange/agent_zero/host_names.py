"""The host's names for the tools of a catalog, and the tools that a role always keeps.

A tool without a name for Agent-Zero is called by its id there, like tools of MCP servers and a user's own tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orgkernel.graph.questions import OrgView

RUNTIME = "agent_zero"
# Tools that every role of this host needs, whatever a catalog says: the only tool that ends a turn, and the only one
# that delegates work.
ANSWER = "response"
HAND_ON = "call_subordinate"


@dataclass(frozen=True, slots=True)
class HostNames:
    """The names of an organization's tools in the host."""

    by_tool: Mapping[str, str]
    tools: Mapping[str, str]
    """Each name in the host, and the tool that it stands for."""

    def of(self, tool_id: str) -> str:
        """The host's name for a tool. A tool that no catalog declares is called by its id."""
        return self.by_tool.get(tool_id) or host_part(tool_id)

    def essential(self, view: OrgView, role_id: str) -> list[str]:
        """Host names of the tools that are never taken from a role."""
        names = [self.of(tool_id) for tool_id in view.essential_tools_of(role_id)]
        delegates = view.records.posts[role_id].profile.can_delegate
        return list(dict.fromkeys([*names, ANSWER, *([HAND_ON] if delegates else [])]))


def name_tools(view: OrgView) -> HostNames:
    """The names of all tools that the organization sees.

    If several tools share a name, it means the first one that a role is equipped with, else the first declared.
    """
    by_tool = {
        tool_id: host_part(definition.record.names.get(RUNTIME) or tool_id)
        for tool_id, definition in view.records.tools.items()
    }
    held = {tool_id for tool_id in by_tool if view.holders_of(tool_id)}
    explicit = {
        tool_id for tool_id, definition in view.records.tools.items() if RUNTIME in definition.record.names
    }
    ranked = sorted(by_tool, key=lambda tool_id: (tool_id not in held, tool_id not in explicit))
    tools: dict[str, str] = {}
    for tool_id in ranked:
        tools.setdefault(by_tool[tool_id], tool_id)
    in_order = {name: tools[name] for name in dict.fromkeys(by_tool.values())}
    for always in (ANSWER, HAND_ON):
        in_order.setdefault(always, always)
    return HostNames(by_tool, in_order)


def host_part(name: str) -> str:
    """The tool part of a name that may have a method, as in `scheduler:list_tasks`. Hooks see only the tool part."""
    return name.partition(":")[0]
