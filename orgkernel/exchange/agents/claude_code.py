"""Claude Code: a subagent for each role, and the permissions of a project.

An agent gets a host tool if its role may use every declared tool of that name without limits. `settings.json` asks
for tools that some role must ask for, and denies disabled tools. It applies to the whole session, so it only
restricts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from orgkernel.diagnostics import Place
from orgkernel.documents.records import LEVEL_OF_SIDE_EFFECTS, LEVELS, Doctrine, ToolLevel
from orgkernel.exchange.agents.claude_rules import list_file_rules
from orgkernel.exchange.agents.equivalents import list_host_names
from orgkernel.exchange.agents.losses import (
    count_dropped,
    find_losses,
    list_dropped,
    list_withheld,
)
from orgkernel.exchange.agents.pages import CitedValue, page, render_json_lines, render_markdown_lines
from orgkernel.exchange.agents.roster import (
    ExportedRole,
    HeldTool,
    Roster,
    build_front_matter,
    build_roster,
    has_all,
    without_policies,
)
from orgkernel.exchange.exported import ConvertedFiles
from orgkernel.exchange.marks import render_mark
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats import read_built_in_tools
from orgkernel.loading.formats.equipment import is_plain

TARGET = "claude-code"
FOLDER, SETTINGS = ".claude/agents", ".claude/settings.json"
PLACES = (f"{FOLDER}/*.md", SETTINGS)
HOST = "claude_code"
_MCP = "mcp__"
_DELEGATING = ("Agent", "Task")
_MAX_TURNS = Doctrine().max_turns_without_progress
# Types of tools that change files or run commands here.
_CHANGING = ("computer_use", "deterministic_function")


@cache
def _list_lowest_levels() -> Mapping[str, ToolLevel]:
    """The host's own tools, each with the lowest level of a declared tool that can grant it."""
    return {
        name: LEVEL_OF_SIDE_EFFECTS[tool["side_effects"]] if _does_change(tool) else "none"
        for name, tool in read_built_in_tools(TARGET).items()
    }


def _does_change(tool: Mapping[str, Any]) -> bool:
    """Whether a tool changes files or runs commands."""
    is_of_files = tool["type"] == "computer_use" or tool.get("path_arguments", ("",)) != ()
    return tool["side_effects"] in ("write", "destructive") and tool["type"] in _CHANGING and is_of_files


def find_host_name(tool_id: str, names: Mapping[str, str]) -> str | None:
    """The name of a tool in Claude Code: the declared one, else its id if Claude Code has a tool of that name."""
    if HOST in names:
        # A star means more than one tool, and an argument does not limit a tool in a list.
        return names[HOST] if is_plain(names[HOST]) else None
    return tool_id if tool_id in _list_lowest_levels() or tool_id.startswith(_MCP) else None


def export_claude_code(view: OrgView) -> ConvertedFiles:
    """Agents and permissions. The same documents always give the same bytes."""
    named = {tool: find_host_name(tool, names) for tool, names in list_host_names(view).items()}
    rules = tuple(list_file_rules(view, named))
    roster = without_policies(view, build_roster(view), frozenset(policy for policy, _, _, _ in rules))
    mark = render_mark(view.org_id, TARGET)
    sharing = _group_tools_by_host_name(view)
    files: dict[str, str] = {}
    places: dict[str, tuple[Place | None, ...]] = {}
    kept: dict[str, set[str]] = {}
    unknown = shared = weaker = undelegated = 0
    for role in roster.roles.values():
        given: dict[str, Place] = {}
        for held in role.held("given", "asked"):
            name = find_host_name(held.id, held.tool.names)
            if name is None:
                unknown += 1
            elif held.delegates or name in _DELEGATING:
                if held.given == "given" and view.records.document.format == TARGET:
                    # Its own file allows starting agents, and no orgkernel organization limits which ones.
                    given.setdefault(name, held.place)
                    kept.setdefault(role.id, set()).add(held.id)
                elif held.given == "given" and role.starts:
                    given.setdefault(_name_agents_below(role, roster), held.place)
                    kept.setdefault(role.id, set()).add(held.id)
                else:
                    undelegated += 1
            elif not _is_not_wider(name, held):
                weaker += 1
            elif not has_all(view, role, _with_server(name, sharing), "given", "asked"):
                shared += 1
            else:
                given.setdefault(name, held.place)
                kept.setdefault(role.id, set()).add(held.id)
        path = f"{FOLDER}/{role.name}.md"
        files[path], places[path] = page(
            render_markdown_lines(mark, _build_front_matter(role, given), role.body, role.place)
        )
    ask_rules, denied = _list_permissions(view, roster)
    for _, effect, words, place in rules:
        (denied if effect == "deny" else ask_rules).extend(CitedValue(word, place) for word in words)
    if ask_rules or denied:
        permissions = {key: value for key, value in (("deny", denied), ("ask", ask_rules)) if value}
        settings = {"$comment": mark, "permissions": permissions}
        files[SETTINGS], places[SETTINGS] = page(render_json_lines(settings, view.records.document.place()))
    elsewhere = _count_asked_elsewhere(roster, {each.value for each in ask_rules})
    withheld = (
        ("tools that have no name in the host", f"left out: add the name under `names: {{{HOST}: …}}` of the tool", unknown),
        ("tools that allow more in the host", "left out: the host's tool of that name can write or run more than the declared one", weaker),
        ("tools that share a name in the host", "left out: the role may not use all of them", shared),
        ("delegation without subordinates", "left out: the role has no subordinates, or may not always delegate", undelegated),
        ("approval for others", "`settings.json` asks for these tools for every caller, even if the role need not ask", elsewhere),
    )  # fmt: skip
    lost = find_losses(
        view,
        expressed=("requirements.preferred_model", "doctrine.max_turns_without_progress"),
        roster=roster,
        withheld=(*withheld, *count_dropped(roster, HOST)),
        asks=True,
    )
    covers = [
        "roles",
        "descriptions",
        "instructions",
        "tools that a role may use without limits",
        "models",
        "turn limits",
    ]
    covers += [
        "agents that a role may call",
        *(["approval"] if ask_rules else []),
        *(["denied tools"] if denied else []),
        *(["policies about files"] if rules else []),
    ]
    return ConvertedFiles(
        files, tuple(covers), tuple(lost), places, list_withheld(roster, kept), list_dropped(roster, HOST)
    )


def _build_front_matter(role: ExportedRole, given: Mapping[str, Place]) -> dict[str, object]:
    front = build_front_matter(role, given, HOST)
    if role.profile.doctrine.max_turns_without_progress != _MAX_TURNS:
        front["maxTurns"] = CitedValue(
            role.profile.doctrine.max_turns_without_progress, role.field_places["turns"]
        )
    return front


def _name_agents_below(role: ExportedRole, roster: Roster) -> str:
    """The entry that allows starting only the agents that the role may start. The format cannot limit `Task` to some agents."""
    return f"Agent({', '.join(roster.names[each] for each in role.starts)})"


def _group_tools_by_host_name(view: OrgView) -> Mapping[str, tuple[str, ...]]:
    """Declared tools, keyed by their name in the host."""
    tools_by_name: dict[str, list[str]] = {}
    for tool_id, names in list_host_names(view).items():
        name = find_host_name(tool_id, names)
        if name is not None:
            tools_by_name.setdefault(name, []).append(tool_id)
    return {name: tuple(tools) for name, tools in tools_by_name.items()}


def _with_server(name: str, sharing: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The declared tools behind a name of the host; for a whole server, all of its tools."""
    inside = (
        tools for other, tools in sharing.items() if name.startswith(_MCP) and other.startswith(f"{name}__")
    )
    return (*sharing[name], *(tool for tools in inside for tool in tools))


def _is_not_wider(name: str, held: HeldTool) -> bool:
    return LEVELS.index(_list_lowest_levels().get(name, "none")) <= LEVELS.index(held.level)


def _list_permissions(view: OrgView, roster: Roster) -> tuple[list[CitedValue], list[CitedValue]]:
    """The host's tools that some role must ask for, and those that are switched off."""
    ask_places: dict[str, Place] = {}
    for role in roster.roles.values():
        for held in role.held("asked"):
            name = find_host_name(held.id, held.tool.names)
            if name is not None:
                ask_places.setdefault(name, held.place)
    denied = dict(_list_disabled_tools(view))
    return (
        [CitedValue(name, ask_places[name]) for name in sorted(ask_places) if name not in denied],
        [CitedValue(name, denied[name]) for name in sorted(denied)],
    )


def _list_disabled_tools(view: OrgView) -> Iterator[tuple[str, Place]]:
    """Tools of the host that are switched off here, whatever else has the name."""
    for tool_id, declared in view.records.tools.items():
        name = find_host_name(tool_id, list_host_names(view)[tool_id])
        if name is not None and not declared.record.enabled:
            yield name, declared.place("enabled")


def _count_asked_elsewhere(roster: Roster, ask_names: set[str]) -> int:
    return sum(
        find_host_name(held.id, held.tool.names) in ask_names
        for role in roster.roles.values()
        for held in role.held("given")
    )
