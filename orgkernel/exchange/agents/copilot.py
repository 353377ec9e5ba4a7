"""Custom agents of VS Code and GitHub Copilot: a file `*.agent.md` for each role.

These hosts read the list of agents that an agent may call but do not enforce it, so an agent gets the tool that calls
agents only if nothing limited whom it starts: its file for Claude Code lists `Agent` alone, or it was read from Copilot
files, where the host's own list is what limited it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orgkernel.diagnostics import Place
from orgkernel.documents.records import LEVELS, ToolLevel
from orgkernel.exchange.agents import claude_code
from orgkernel.exchange.agents.equivalents import list_host_names
from orgkernel.exchange.agents.losses import (
    count_dropped,
    find_losses,
    list_dropped,
    list_withheld,
)
from orgkernel.exchange.agents.pages import page, render_markdown_lines
from orgkernel.exchange.agents.roster import (
    ExportedRole,
    HeldTool,
    Roster,
    build_front_matter,
    build_roster,
    has_all,
)
from orgkernel.exchange.exported import ConvertedFiles
from orgkernel.exchange.marks import render_mark
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.copilot.words import SETS, STARTER, convert_tool_id, get_tool_name, holds
from orgkernel.loading.formats.equipment import is_plain
from orgkernel.loading.formats.names import MCP

TARGET = "copilot"
FOLDER = ".github/agents"
PLACES = (f"{FOLDER}/*.agent.md",)
HOST = "copilot"
MAX_TEXT_LENGTH = 30_000
# The level that a tool set of the host gives. A declared tool of a lower level must not become one of its tools.
_LEVEL_OF_SET: Mapping[str, ToolLevel] = {
    "execute": "full",
    "vscode": "full",
    "edit": "write",
    "browser": "write",
}


def find_host_tool(tool_id: str, names: Mapping[str, str]) -> str | None:
    """The name of a declared tool in Copilot: the declared name, else that of an MCP server's tool, else the id if it is one of
    the host's own tools. None if the host has no such tool.
    """
    if HOST in names:
        tool = convert_tool_id(names[HOST])
        return tool if is_plain(tool) else None
    there = claude_code.find_host_name(tool_id, names)
    if there is not None:
        return there if there.startswith(MCP) else None
    return tool_id if tool_id.partition(".")[0] in SETS else None


def export_copilot(view: OrgView) -> ConvertedFiles:
    """An agent for each role. The same documents always give the same bytes."""
    roster = build_roster(view)
    mark = render_mark(view.org_id, TARGET)
    sharing = _group_tools_by_host_name(list_host_names(view))
    files: dict[str, str] = {}
    places: dict[str, tuple[Place | None, ...]] = {}
    kept: dict[str, set[str]] = {}
    # How many tools, or texts, each reason below leaves out.
    unknown = shared = calling = weaker = long = 0
    is_own = view.records.document.format == TARGET
    for role in roster.roles.values():
        given: dict[str, Place] = {}
        for held in role.held("given"):
            tool = find_host_tool(held.id, held.tool.names)
            if held.delegates or (tool is not None and tool.partition(".")[0] == STARTER):
                if tool is not None and (is_own or role.starts_every):
                    given.setdefault(get_tool_name(tool), held.place)
                    kept.setdefault(role.id, set()).add(held.id)
                else:
                    calling += 1
            elif tool is None:
                unknown += 1
            elif not (_is_not_wider(tool, held) or _is_tool_of_host(view, held)):
                weaker += 1
            elif not has_all(view, role, _list_held_tools(tool, sharing), "given"):
                shared += 1
            else:
                given.setdefault(get_tool_name(tool), held.place)
                kept.setdefault(role.id, set()).add(held.id)
        long += len(role.body.text) >= MAX_TEXT_LENGTH
        path = f"{FOLDER}/{role.name}.agent.md"
        files[path], places[path] = page(
            render_markdown_lines(mark, _build_front_matter(role, given, roster), role.body, role.place)
        )
    withheld = (
        ("tools that have no name in the host", f"left out: add the name under `names: {{{HOST}: …}}` of the tool", unknown),
        ("tools that allow more in the host", "left out: the host's tool of that name can run more than the declared one", weaker),
        ("tools that share a name in the host", "left out: the role may not use all of them", shared),
        ("tools that call agents", "left out: the host does not enforce which agents may be called", calling),
        ("long texts", f"written: VS Code runs such an agent, GitHub refuses more than {MAX_TEXT_LENGTH:,} characters", long),
    )  # fmt: skip
    lost = find_losses(
        view,
        expressed=("requirements.preferred_model",),
        roster=roster,
        withheld=(*withheld, *count_dropped(roster, HOST)),
    )
    return ConvertedFiles(
        files,
        ("roles", "descriptions", "instructions", "tools that a role may use without limits", "models"),
        tuple(lost),
        places,
        list_withheld(roster, kept),
        list_dropped(roster, HOST),
    )


def _build_front_matter(role: ExportedRole, given: Mapping[str, Place], roster: Roster) -> dict[str, object]:
    """The front matter, in which a set stands for the tools in it."""
    tools = {
        name: place for name, place in given.items() if name.partition("/")[0] not in given or "/" not in name
    }
    front = build_front_matter(role, tools, HOST)
    if STARTER in {name.partition("/")[0] for name in tools} and role.starts:
        front["agents"] = [roster.names[each] for each in role.starts]
    return front


def _is_tool_of_host(view: OrgView, held: HeldTool) -> bool:
    """Whether a tool is from the catalog of the host itself, so its name there means the same."""
    return view.records.tools[held.id].document.format == TARGET


def _is_not_wider(tool: str, held: HeldTool) -> bool:
    return LEVELS.index(_LEVEL_OF_SET.get(tool.partition(".")[0], "none")) <= LEVELS.index(held.level)


def _group_tools_by_host_name(named: Mapping[str, Mapping[str, str]]) -> Mapping[str, tuple[str, ...]]:
    """Declared tools, keyed by their name in Copilot."""
    ids_by_tool: dict[str, list[str]] = {}
    for tool_id, names in named.items():
        tool = find_host_tool(tool_id, names)
        if tool is not None:
            ids_by_tool.setdefault(tool, []).append(tool_id)
    return {tool: tuple(each) for tool, each in ids_by_tool.items()}


def _list_held_tools(tool: str, sharing: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """The declared tools that a Copilot tool grants; for a set or a server, every tool in it."""
    yield from sharing[tool]
    for other, tools in sharing.items():
        if holds(tool, other):
            yield from tools
