"""Microsoft's agent framework: a declarative prompt agent for each role, whose tools are functions of the program.

A string that begins with `=` is a PowerFx expression there. A leading space keeps it a string.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from orgkernel.diagnostics import Place
from orgkernel.exchange.agents.losses import (
    count_dropped,
    find_losses,
    list_dropped,
    list_withheld,
)
from orgkernel.exchange.agents.pages import CitedValue, Line, page, render_yaml_lines
from orgkernel.exchange.agents.roster import ExportedRole, HeldTool, build_roster
from orgkernel.exchange.exported import ConvertedFiles
from orgkernel.exchange.marks import render_mark
from orgkernel.graph.questions import OrgView

TARGET = "agent-framework"
PLACES = ("agents/*.yaml",)
HOST = "agent_framework"


def escape_text(text: str) -> str:
    """Escape a string so it is not read as an expression.

    >>> escape_text("=1+1"), escape_text("1+1")
    (' =1+1', '1+1')
    """
    return f" {text}" if text.startswith("=") else text


def export_agent_framework(view: OrgView) -> ConvertedFiles:
    """An agent for each role. The same documents always give the same bytes."""
    roster = build_roster(view)
    mark = render_mark(view.org_id, TARGET)
    files: dict[str, str] = {}
    places: dict[str, tuple[Place | None, ...]] = {}
    kept: dict[str, set[str]] = {}
    calling = schemas = 0
    for role in roster.roles.values():
        given = [each for each in role.held("given") if not each.delegates]
        kept[role.id] = {each.id for each in given}
        calling += len(role.held("given")) - len(given)
        schemas += sum(each.tool.input_schema is not None for each in given)
        path = f"agents/{role.name}.yaml"
        files[path], places[path] = page(_render_lines(mark, role, given))
    withheld = (
        ("tools that call agents", "left out: a workflow declares which agents work together, not an agent", calling),
        ("input schemas", "the function that the program binds declares its arguments", schemas),
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


def _render_lines(mark: str, role: ExportedRole, given: list[HeldTool]) -> Iterator[Line]:
    yield f"# {mark}", role.place
    agent: dict[str, Any] = {
        "kind": "Prompt",
        "name": role.name,
        "description": CitedValue(escape_text(role.description), role.field_places["description"]),
        "instructions": role.body,
    }
    model = role.profile.requirements.preferred_model
    if model:
        agent["model"] = CitedValue({"id": escape_text(model)}, role.field_places["model"])
    if given:
        agent["tools"] = [CitedValue(_build_tool(each), each.place) for each in given]
    yield from render_yaml_lines(agent, role.place)


def _build_tool(held: HeldTool) -> Mapping[str, Any]:
    definition = {"kind": "function", "name": escape_text(held.name_in(HOST) or held.written)}
    description = held.tool.description or held.tool.name
    return {**definition, "description": escape_text(description)} if description else definition
