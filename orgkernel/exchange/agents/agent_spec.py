"""Open Agent Spec: the chain of command as nested `ManagerWorkers`, one file for each role at the top.

Models are references, `llm` or `llm-MODEL`; the program that loads the file resolves them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orgkernel.diagnostics import Place
from orgkernel.exchange.agents.losses import (
    count_dropped,
    find_losses,
    list_dropped,
    list_withheld,
)
from orgkernel.exchange.agents.pages import CitedValue, Line, LongText, page, render_yaml_lines
from orgkernel.exchange.agents.roster import ExportedRole, HeldTool, Roster, build_roster
from orgkernel.exchange.exported import ConvertedFiles
from orgkernel.exchange.marks import render_mark
from orgkernel.graph.questions import OrgView

TARGET = "agent-spec"
PLACES = ("*.agent-spec.yaml",)
HOST = "agent_spec"
VERSION = "25.4.2"


def export_agent_spec(view: OrgView) -> ConvertedFiles:
    """A file for each role at the top. The same documents always give the same bytes."""
    roster = build_roster(view)
    files: dict[str, str] = {}
    places: dict[str, tuple[Place | None, ...]] = {}
    for root in roster.roots:
        path = f"{roster.names[root]}.agent-spec.yaml"
        files[path], places[path] = page(_render_lines(view.org_id, roster, roster.roles[root]))
    kept = [role.held("given", "asked") for role in roster.roles.values()]
    alone = sum(
        each.delegates
        for role in roster.roles.values()
        if not role.subordinates
        for each in role.held("given")
    )
    schemas = sum(
        each.tool.input_schema is not None and not each.delegates for tools in kept for each in tools
    )
    roles_in_cycles = sum(
        view.get_superior(role) is not None and each.superior is None for role, each in roster.roles.items()
    )
    withheld = (
        ("delegation without subordinates", "left out: the role has no subordinates", alone),
        ("input schemas", "the tool that the program registers declares its arguments", schemas),
    )
    instead = {"chain of command": (roles_in_cycles, "a cycle has no top")}
    lost = find_losses(
        view,
        expressed=("requirements.preferred_model",),
        instead=instead,
        roster=roster,
        withheld=(*withheld, *count_dropped(roster, HOST)),
        asks=True,
    )
    covers = (
        "roles", "descriptions", "instructions", "tools that a role may use without limits", "approval", "models",
        "chain of command",
    )  # fmt: skip
    given = {
        role.id: {each.id for each in role.held("given", "asked") if role.subordinates or not each.delegates}
        for role in roster.roles.values()
    }
    return ConvertedFiles(
        files, covers, tuple(lost), places, list_withheld(roster, given), list_dropped(roster, HOST)
    )


def _render_lines(org_id: str, roster: Roster, root: ExportedRole) -> Iterator[Line]:
    yield f"# {render_mark(org_id, TARGET)}", root.place
    tools: dict[str, CitedValue] = {}
    top = _build_component(roster, root, tools)
    whole = {**top, "$referenced_components": tools, "agentspec_version": VERSION}
    if not tools:
        del whole["$referenced_components"]
    yield from render_yaml_lines(whole, root.place)


def _build_component(roster: Roster, role: ExportedRole, tools: dict[str, CitedValue]) -> dict[str, Any]:
    agent = _build_agent(role, tools)
    if not role.subordinates:
        return agent
    return {
        "component_type": "ManagerWorkers",
        "id": f"{role.id}:group",
        "name": f"{role.name}-group",
        "group_manager": CitedValue(agent, role.place),
        "workers": [
            CitedValue(_build_component(roster, roster.roles[each], tools), roster.roles[each].place)
            for each in role.subordinates
        ],
    }


def _build_agent(role: ExportedRole, tools: dict[str, CitedValue]) -> dict[str, Any]:
    model = role.profile.requirements.preferred_model
    return {
        "component_type": "Agent",
        "id": role.id,
        "name": role.name,
        "description": CitedValue(role.description, role.field_places["description"]),
        "llm_config": CitedValue(
            {"$component_ref": f"llm-{model}" if model else "llm"}, role.field_places["model"]
        ),
        # Two braces would be a placeholder.
        "system_prompt": LongText(tuple((_without_placeholders(line), at) for line, at in role.body.lines)),
        "tools": [
            CitedValue({"$component_ref": _refer(each, tools)}, each.place)
            for each in role.held("given", "asked")
            if not each.delegates
        ],
    }


def _without_placeholders(text: str) -> str:
    """Escape a string so it contains no placeholders.

    >>> _without_placeholders("{{{x}}")
    '{ { {x}}'
    """
    while "{{" in text:
        text = text.replace("{{", "{ {")
    return text


def _refer(held: HeldTool, tools: dict[str, CitedValue]) -> str:
    """The id of a tool in the file. A tool that needs approval has another id than the same tool without approval."""
    is_asked = held.given == "asked"
    name = f"tool:{held.id}:ask" if is_asked else f"tool:{held.id}"
    tools[name] = CitedValue(
        {
            "component_type": "ServerTool",
            "id": name,
            "name": held.name_in(HOST) or held.written,
            "description": held.tool.description or held.tool.name or held.written,
            "inputs": [],
            "outputs": [],
            "requires_confirmation": is_asked,
        },
        held.place,
    )
    return name
