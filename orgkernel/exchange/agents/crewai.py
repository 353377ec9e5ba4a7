"""CrewAI: `crew.jsonc` with one file for each role below `agents`.

One role at the top becomes the manager of a hierarchical crew, to which the others report; several top roles make a
sequential crew. No other agent may delegate, because CrewAI cannot limit delegation to some agents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orgkernel.diagnostics import Place
from orgkernel.exchange.agents.equivalents import list_host_names
from orgkernel.exchange.agents.losses import (
    count_dropped,
    find_losses,
    list_dropped,
    list_withheld,
)
from orgkernel.exchange.agents.pages import CitedValue, Line, LongText, page, render_json_lines
from orgkernel.exchange.agents.roster import ExportedRole, HeldTool, Roster, build_roster, has_all
from orgkernel.exchange.exported import ConvertedFiles
from orgkernel.exchange.marks import render_mark
from orgkernel.graph.questions import OrgView

TARGET = "crewai"
PLACES = ("crew.jsonc", "agents/*.jsonc")
HOST = "crewai"
_OWN_TOOL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_VARIABLE = re.compile(r"\{(?=[A-Za-z_])")


def escape_text(text: str) -> str:
    """Escape a string so CrewAI finds no variables in it.

    >>> escape_text("{topic} and { x }")
    '{ topic} and { x }'
    """
    return _VARIABLE.sub("{ ", text)


def find_host_name(held: HeldTool) -> str | None:
    """The name of a tool in CrewAI: the declared one, else a tool of the project, `tools/ID.py`.

    A bare word could name a class of CrewAI's library that does something else.
    """
    name = held.name_in(HOST)
    if name is not None:
        return name
    return f"custom:{held.written}" if _OWN_TOOL.match(held.written) else None


def export_crewai(view: OrgView) -> ConvertedFiles:
    """The crew and its agents. The same documents always give the same bytes."""
    roster = build_roster(view)
    mark = render_mark(view.org_id, TARGET)
    manager = roster.roots[0] if len(roster.roots) == 1 and len(roster.roles) > 1 else None
    files: dict[str, str] = {}
    places: dict[str, tuple[Place | None, ...]] = {}
    if roster.roles:
        files["crew.jsonc"], places["crew.jsonc"] = page(_render_crew(view, roster, manager, mark))
    kept: dict[str, set[str]] = {}
    sharing = _group_tools_by_library_name(view)
    of_manager = unnamed = calling = schemas = shared = 0
    for role in roster.roles.values():
        given: dict[str, Place] = {}
        for held in role.held("given"):
            name = find_host_name(held)
            if held.delegates:
                calling += role.id != manager
                if role.id == manager:
                    kept.setdefault(role.id, set()).add(held.id)
            elif role.id == manager:
                of_manager += 1
            elif name is None:
                unnamed += 1
            elif not has_all(view, role, sharing.get(name, ()), "given"):
                shared += 1
            else:
                given.setdefault(name, held.place)
                kept.setdefault(role.id, set()).add(held.id)
                schemas += held.tool.input_schema is not None
        path = f"agents/{role.name}.jsonc"
        files[path], places[path] = page(_render_agent(role, given, mark))
    below = sum(
        view.get_superior(role) is not None and (manager is None or each.superior != manager)
        for role, each in roster.roles.items()
    )
    withheld = (
        ("tools of the manager", "left out: the manager of a hierarchical crew has no tools", of_manager),
        ("tools that cannot be modules", f"left out: add the name under `names: {{{HOST}: …}}` of the tool", unnamed),
        ("tools that share a name in the host", "left out: the role may not use all of them", shared),
        ("tools that call agents", "left out: the format cannot limit delegation to some agents", calling),
        ("input schemas", "the tool of the project declares its arguments", schemas),
    )  # fmt: skip
    instead = {"chain of command": (below, f"all agents have one manager; {'the instructions of each agent describe the rest' if manager else 'this crew has none'}")}  # fmt: skip
    lost = find_losses(
        view,
        expressed=("requirements.preferred_model",),
        organization_facts=("mission",),
        instead=instead,
        roster=roster,
        withheld=(*withheld, *count_dropped(roster, HOST)),
    )
    covers = (
        "roles",
        "descriptions",
        "instructions",
        "tools that a role may use without limits",
        "models",
        "mission",
    )
    return ConvertedFiles(
        files,
        (*covers, *(("the top of the chain of command",) if manager else ())),
        tuple(lost),
        places,
        list_withheld(roster, kept),
        list_dropped(roster, HOST),
    )


def _group_tools_by_library_name(view: OrgView) -> Mapping[str, tuple[str, ...]]:
    """Declared tools, keyed by the class of CrewAI's library that stands for them."""
    tools: dict[str, list[str]] = {}
    for tool_id, names in list_host_names(view).items():
        if HOST in names:
            tools.setdefault(names[HOST], []).append(tool_id)
    return {name: tuple(each) for name, each in tools.items()}


def _render_crew(view: OrgView, roster: Roster, manager: str | None, mark: str) -> Iterator[Line]:
    organization, document = view.records.organization, view.records.document
    mission = organization.mission
    criteria = mission.success_criteria
    expected = criteria if isinstance(criteria, str) else _render_list(criteria)
    description = mission.objective or organization.description or f"The work of {organization.name}."
    constraints = f"\n{_render_list(mission.constraints)}" if mission.constraints else ""
    task: dict[str, Any] = {
        "name": "mission",
        "description": CitedValue(
            escape_text(description + constraints), document.place("mission", key=True)
        ),
        "expected_output": CitedValue(
            escape_text(expected or "The task is done."), document.place("mission", key=True)
        ),
    }
    if manager is None:
        task["agent"] = roster.names[roster.roots[0] if roster.roots else next(iter(roster.roles))]
    crew: dict[str, Any] = {
        "name": view.org_id,
        "process": "sequential" if manager is None else "hierarchical",
        "agents": [
            CitedValue(each.name, view.get_place(role))
            for role, each in roster.roles.items()
            if role != manager
        ],
        "tasks": [task],
    }
    if manager is not None:
        crew["manager_agent"] = CitedValue(roster.names[manager], roster.roles[manager].place)
    here = document.place("org_id")
    yield f"// {mark}", here
    yield from render_json_lines(crew, here)


def _render_list(texts: Iterable[str]) -> str:
    return "\n".join(f"- {each}" for each in texts)


def _render_agent(role: ExportedRole, given: dict[str, Place], mark: str) -> Iterator[Line]:
    agent: dict[str, Any] = {
        "role": escape_text(role.title),
        "goal": CitedValue(escape_text(role.description), role.field_places["description"]),
        "backstory": LongText(tuple((escape_text(line), at) for line, at in role.body.lines)),
        "allow_delegation": False,
        "tools": [CitedValue(name, place) for name, place in given.items()],
    }
    if model := role.model_in(HOST):
        agent["llm"] = CitedValue(model, role.field_places["model"])
    yield f"// {mark}", role.place
    yield from render_json_lines(agent, role.place)
