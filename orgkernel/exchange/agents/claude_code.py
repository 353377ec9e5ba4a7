"""Claude Code: a subagent for each role, and the permissions of a project.

A host's tool is given to an agent if the role may use all of every tool of ours that has its name. `settings.json` asks
for what some role must ask for, and denies what is switched off. It holds for the whole session, so it only takes away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orgkernel.diagnostics import Place
from orgkernel.documents.records import LEVELS, Doctrine, ToolLevel
from orgkernel.exchange.agents.claude_rules import rules_about_files
from orgkernel.exchange.agents.losses import find_losses
from orgkernel.exchange.agents.pages import At, json_lines, markdown_lines, page
from orgkernel.exchange.agents.roster import (
    ExportedRole,
    HeldTool,
    Roster,
    front_of,
    has_all,
    roster_of,
    without_policies,
)
from orgkernel.exchange.exported import Export
from orgkernel.exchange.marks import mark_of
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.equipment import is_plain

TARGET = "claude-code"
FOLDER, SETTINGS = ".claude/agents", ".claude/settings.json"
PLACES = (f"{FOLDER}/*.md", SETTINGS)
HOST = "claude_code"
_MCP = "mcp__"
_DELEGATING = ("Agent", "Task")
_MOST_TURNS = Doctrine().max_turns_without_progress
# What the host's own tools open at least: one of ours that claims less does not give them.
_OPENS: Mapping[str, ToolLevel] = {
    "Bash": "full", "PowerShell": "full", "SlashCommand": "full", "Edit": "write", "MultiEdit": "write",
    "NotebookEdit": "write", "Write": "write",
}  # fmt: skip
_OTHERS = (
    "AskUserQuestion", "BashOutput", "CronCreate", "CronDelete", "CronList", "EnterPlanMode", "EnterWorktree",
    "ExitPlanMode", "ExitWorktree", "Glob", "Grep", "KillShell", "LS", "LSP", "ListMcpResourcesTool", "NotebookRead",
    "Read", "ReadMcpResourceTool", "SendMessage", "Skill", "TaskCreate", "TaskGet", "TaskList", "TaskOutput",
    "TaskStop", "TaskUpdate", "TodoRead", "TodoWrite", "ToolSearch", "WebFetch", "WebSearch",
)  # fmt: skip
BUILT_IN = frozenset({*_OTHERS, *_OPENS, *_DELEGATING})


def host_name(tool_id: str, names: Mapping[str, str]) -> str | None:
    """What Claude Code calls a tool: as it is declared, else its id where that is a name there."""
    if HOST in names:
        # A star is more than a tool, and an argument is no bound where tools are listed.
        return names[HOST] if is_plain(names[HOST]) else None
    return tool_id if tool_id in BUILT_IN or tool_id.startswith(_MCP) else None


def export_claude_code(view: OrgView) -> Export:
    """Agents and permissions. The same documents always give the same bytes."""
    named = {tool: host_name(tool, each.record.names) for tool, each in view.records.tools.items()}
    rules = tuple(rules_about_files(view, named))
    roster = without_policies(view, roster_of(view), frozenset(policy for policy, _, _, _ in rules))
    mark = mark_of(view.org_id, TARGET)
    sharing = _sharing(view)
    files: dict[str, str] = {}
    places: dict[str, tuple[Place | None, ...]] = {}
    unknown = shared = weaker = undelegated = 0
    for role in roster.roles.values():
        given: dict[str, Place] = {}
        for held in role.held("given", "asked"):
            name = host_name(held.id, held.tool.names)
            if name is None:
                unknown += 1
            elif held.delegates or name in _DELEGATING:
                if held.given == "given" and role.subordinates:
                    given.setdefault(_name_agents_below(role, roster), held.place)
                else:
                    undelegated += 1
            elif not _opens_no_more(name, held):
                weaker += 1
            elif not has_all(view, role, _with_server(name, sharing), "given", "asked"):
                shared += 1
            else:
                given.setdefault(name, held.place)
        path = f"{FOLDER}/{role.name}.md"
        files[path], places[path] = page(markdown_lines(mark, _front(role, given), role.body, role.place))
    ask_rules, denied = _permissions(view, roster)
    for _, effect, words, place in rules:
        (denied if effect == "deny" else ask_rules).extend(At(word, place) for word in words)
    if ask_rules or denied:
        permissions = {key: value for key, value in (("deny", denied), ("ask", ask_rules)) if value}
        settings = {"$comment": mark, "permissions": permissions}
        files[SETTINGS], places[SETTINGS] = page(json_lines(settings, view.records.document.place()))
    elsewhere = _asked_elsewhere(roster, {each.value for each in ask_rules})
    withheld = (
        ("tools without a name there", f"not given: write it under `names: {{{HOST}: …}}` of the tool", unknown),
        ("tools that open more there", "not given: the tool of that name writes or runs what ours does not", weaker),
        ("tools that share a name there", "not given: the role may not use all of them", shared),
        ("delegation to nobody", "not given: the role has no subordinates, or may not always delegate", undelegated),
        ("approval for others", "`settings.json` asks for these tools whoever calls them, also where the role need not ask", elsewhere),
    )  # fmt: skip
    lost = find_losses(
        view,
        says=("requirements.preferred_model", "doctrine.max_turns_without_progress"),
        roster=roster,
        withheld=withheld,
        asks=True,
    )
    covers = ["roles", "descriptions", "texts", "tools that a role may use as a whole", "models", "turns"]
    covers += [
        "whom a role may call",
        *(["approval"] if ask_rules else []),
        *(["denied tools"] if denied else []),
        *(["policies about files"] if rules else []),
    ]
    return Export(files, tuple(covers), tuple(lost), places)


def _front(role: ExportedRole, given: Mapping[str, Place]) -> dict[str, object]:
    front = front_of(role, given)
    if role.profile.doctrine.max_turns_without_progress != _MOST_TURNS:
        front["maxTurns"] = At(role.profile.doctrine.max_turns_without_progress, role.says["turns"])
    return front


def _name_agents_below(role: ExportedRole, roster: Roster) -> str:
    """The right to start just the agents below: the format knows no `Task` for some of them."""
    return f"Agent({', '.join(roster.names[each] for each in role.subordinates)})"


def _sharing(view: OrgView) -> Mapping[str, tuple[str, ...]]:
    """The tools of ours by what the host calls them."""
    tools_by_name: dict[str, list[str]] = {}
    for tool_id, declared in view.records.tools.items():
        name = host_name(tool_id, declared.record.names)
        if name is not None:
            tools_by_name.setdefault(name, []).append(tool_id)
    return {name: tuple(tools) for name, tools in tools_by_name.items()}


def _with_server(name: str, sharing: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The tools of ours that a name of the host gives: for a whole server, every tool of it."""
    inside = (
        tools for other, tools in sharing.items() if name.startswith(_MCP) and other.startswith(f"{name}__")
    )
    return (*sharing[name], *(tool for tools in inside for tool in tools))


def _opens_no_more(name: str, held: HeldTool) -> bool:
    return LEVELS.index(_OPENS.get(name, "none")) <= LEVELS.index(held.level)


def _permissions(view: OrgView, roster: Roster) -> tuple[list[At], list[At]]:
    """The host's tools that some role must ask for, and those that are switched off."""
    ask_places: dict[str, Place] = {}
    for role in roster.roles.values():
        for held in role.held("asked"):
            name = host_name(held.id, held.tool.names)
            if name is not None:
                ask_places.setdefault(name, held.place)
    denied = dict(_disabled(view))
    return (
        [At(name, ask_places[name]) for name in sorted(ask_places) if name not in denied],
        [At(name, denied[name]) for name in sorted(denied)],
    )


def _disabled(view: OrgView) -> Iterator[tuple[str, Place]]:
    """Tools of the host that are switched off here, whatever else has the name."""
    for tool_id, declared in view.records.tools.items():
        name = host_name(tool_id, declared.record.names)
        if name is not None and not declared.record.enabled:
            yield name, declared.place("enabled")


def _asked_elsewhere(roster: Roster, ask_names: set[str]) -> int:
    return sum(
        host_name(held.id, held.tool.names) in ask_names
        for role in roster.roles.values()
        for held in role.held("given")
    )
