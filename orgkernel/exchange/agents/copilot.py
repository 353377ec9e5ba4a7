"""Custom agents of VS Code and GitHub Copilot: a file `*.agent.md` for each role.

The list of agents that an agent may call is read there and not enforced, so no agent gets the tool that calls agents.
"""

from __future__ import annotations

from collections.abc import Mapping

from orgkernel.diagnostics import Place
from orgkernel.exchange.agents import claude_code
from orgkernel.exchange.agents.losses import find_losses
from orgkernel.exchange.agents.pages import At, markdown_lines, page
from orgkernel.exchange.agents.roster import ExportedRole, has_all, roster_of
from orgkernel.exchange.exported import Export
from orgkernel.exchange.marks import mark_of
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition
from orgkernel.records.tool_catalog import Tool

TARGET = "copilot"
FOLDER = ".github/agents"
PLACES = (f"{FOLDER}/*.agent.md",)
HOST = "copilot"
LONGEST_TEXT = 30_000
_CALLS_AGENTS = ("agent", "custom-agent", "Task", "runSubagent")
# Sets of tools there that are one tool here. `edit`, `search` and `web` hold more than one.
_SAME = {"Bash": "execute", "TodoWrite": "todo"}


def host_name(tool_id: str, names: Mapping[str, str]) -> str | None:
    """What Copilot calls a tool: as it is declared, else a tool of an MCP server or one that is the same."""
    if HOST in names:
        return names[HOST]
    there = claude_code.host_name(tool_id, names) or ""
    server, _, tool = there.removeprefix("mcp__").partition("__")
    return f"{server}/{tool or '*'}" if there.startswith("mcp__") else _SAME.get(there)


def export_copilot(view: OrgView) -> Export:
    """An agent for each role. The same documents always give the same bytes."""
    roster = roster_of(view)
    mark = mark_of(view.org_id, TARGET)
    sharing = _sharing(view.records.tools)
    files: dict[str, str] = {}
    places: dict[str, tuple[Place | None, ...]] = {}
    unknown = shared = calling = weaker = long = 0
    for role in roster.roles.values():
        given: dict[str, Place] = {}
        for held in role.held("given"):
            name = host_name(held.id, held.tool.names)
            if held.delegates or name in _CALLS_AGENTS:
                calling += 1
            elif name is None:
                unknown += 1
            elif name == "execute" and held.level != "full":
                weaker += 1
            elif not has_all(view, role, _with_server(name, sharing), "given"):
                shared += 1
            else:
                given.setdefault(name, held.place)
        if len(role.body.text) >= LONGEST_TEXT:
            long += 1
            continue
        path = f"{FOLDER}/{role.name}.agent.md"
        files[path], places[path] = page(markdown_lines(mark, _front(role, given), role.body, role.place))
    withheld = (
        ("tools without a name there", f"not given: write it under `names: {{{HOST}: …}}` of the tool", unknown),
        ("tools that open more there", "not given: the tool of that name runs what ours does not", weaker),
        ("tools that share a name there", "not given: the role may not use all of them", shared),
        ("tools that call agents", "not given: the host does not enforce which agents may be called", calling),
        ("roles with long texts", f"not exported: a text has at most {LONGEST_TEXT:,} characters", long),
    )  # fmt: skip
    lost = find_losses(view, said=("models",), roster=roster, withheld=withheld)
    return Export(
        files,
        ("roles", "descriptions", "texts", "tools that a role may use as a whole", "models"),
        tuple(lost),
        places,
    )


def _front(role: ExportedRole, given: Mapping[str, Place]) -> dict[str, object]:
    front: dict[str, object] = {
        "name": role.name,
        "description": At(role.description, role.says["description"]),
        # No field would mean every tool.
        "tools": [At(name, place) for name, place in given.items()],
    }
    if role.profile.requirements.preferred_model:
        front["model"] = At(role.profile.requirements.preferred_model, role.says["model"])
    return front


def _sharing(tools: Mapping[str, Definition[Tool]]) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for tool_id, declared in tools.items():
        name = host_name(tool_id, declared.record.names)
        if name is not None:
            found.setdefault(name, []).append(tool_id)
    return {name: tuple(each) for name, each in found.items()}


def _with_server(name: str, sharing: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The tools of ours that a name gives: for a whole server, every tool of it."""
    inside = (
        tools for other, tools in sharing.items() if name.endswith("/*") and other.startswith(name[:-1])
    )
    return (*sharing[name], *(tool for tools in inside for tool in tools))
