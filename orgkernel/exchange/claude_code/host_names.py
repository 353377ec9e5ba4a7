"""Names of the tools and roles of an organization in Claude Code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from orgkernel.documents.records import Tool
from orgkernel.exchange.agents.names import map_names
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats import read_built_in_tools
from orgkernel.loading.formats.names import MCP, build_server_tool_id, derive_name
from orgkernel.project.hooks.claude_hook.deciding import COMMAND_ARGUMENTS, PATH_ARGUMENTS

HOST: Final = "claude_code"
USE: Final = "use"
# The action of a host tool whose declared tool has several actions.
_ACTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "Bash": ("terminal", "run", "execute"),
    "Edit": ("patch", "edit"),
    "MultiEdit": ("patch", "edit"),
    "Write": ("write",),
    "Read": ("read",),
    "Skill": ("load",),
}


def find_host_name(tool_id: str, tool: Tool) -> str | None:
    """The name of a tool in Claude Code: the declared one, else its id. None if it belongs to other hosts only."""
    if HOST in tool.names:
        return tool.names[HOST]
    if tool.names:
        return None
    if tool.type == "mcp_server" and not tool_id.startswith(MCP):
        return build_server_tool_id(tool_id)
    return tool_id


def group_tools_by_host_name(view: OrgView) -> dict[str, tuple[str, ...]]:
    """The declared tools behind each host tool: the ones that some role has, if any does."""
    ids_by_name: dict[str, list[str]] = {}
    for tool_id, declared in view.records.tools.items():
        name = find_host_name(tool_id, declared.record)
        if name is not None:
            ids_by_name.setdefault(name, []).append(tool_id)
    return {name: _list_held(view, tools) for name, tools in ids_by_name.items()}


def has_every_tool(view: OrgView, role: str) -> bool:
    """Whether the file of an agent gives it every tool of Claude Code, so that it lists none."""
    post = view.records.posts[role]
    if post.document.format != "claude-code":
        return False
    return set(read_built_in_tools("claude-code")) <= set(post.profile.capabilities.tools_primary)


def _list_held(view: OrgView, tools: Sequence[str]) -> tuple[str, ...]:
    return tuple(each for each in tools if view.list_holders(each)) or tuple(tools)


def find_action(name: str, tool: Tool) -> str:
    """The action of a call of a host tool. If nothing declares it, all actions together."""
    declared = tool.required_levels
    known = next((each for each in _ACTIONS.get(name, ()) if each in declared), USE)
    return next(iter(declared)) if known not in declared and len(declared) == 1 else known


def list_path_arguments(name: str, tool: Tool) -> tuple[str, ...]:
    """The arguments of a call that contain paths."""
    return PATH_ARGUMENTS.get(name) or tuple(tool.path_arguments or ())


def list_command_arguments(name: str, tool: Tool) -> tuple[str, ...]:
    """The arguments of a call that contain shell commands; `Bash(git log:*)` has those of `Bash`."""
    return COMMAND_ARGUMENTS.get(name.partition("(")[0]) or tool.command_arguments


def map_agent_names(roles: Iterable[str]) -> dict[str, str]:
    """The role of each name that an agent may have: the id, the name that it was made of, and the one it is exported under.

    A name that could mean two roles means none, unless it is the id of one.

    >>> map_agent_names(["code_reviewer"]), sorted(map_agent_names(["a-b", "a_b"]))
    ({'code-reviewer': 'code_reviewer', 'code_reviewer': 'code_reviewer'}, ['a-b', 'a-b-648fa9', 'a_b'])
    """
    roles = tuple(roles)
    exported = map_names(roles)
    made = {role: {derive_name(role), exported[role]} - {role} for role in roles}
    counts = Counter(name for names in made.values() for name in names)
    roles_by_name = {name: role for role in roles for name in sorted(made[role]) if counts[name] == 1}
    return roles_by_name | {role: role for role in roles}


def map_plugin_agents(view: OrgView) -> dict[str, str]:
    """The role of each agent of a plugin by its name in Claude Code, `PLUGIN:AGENT`. A name that two files give means no role."""
    roles_by_name: dict[str, list[str]] = {}
    for role in view.roles:
        post = view.records.posts[role]
        if post.document.format == "claude-code":
            roles_by_name.setdefault(post.profile.name, []).append(role)
    return {name: roles[0] for name, roles in roles_by_name.items() if ":" in name and len(roles) == 1}
