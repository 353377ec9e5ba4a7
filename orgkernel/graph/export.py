"""Export an organization as a new `networkx.MultiDiGraph`, for questions that need networkx.

Nodes are named `KIND:ID`: `role:co`, `tool:text_editor`, `organization:software_dev`. Their attributes are

    kind, id             as in the name
    name                 the name for readers; the id if no other is written
    file, line, column   where it is declared; absent for undeclared ids, such as `role:user` and intents

Everything the organization sees is a node, even a catalog entry without edges. An edge is a statement of a
document, `role:xo reports_to role:co`; its attributes are

    kind                 the verb, such as `reports_to` (the list is `EdgeKind`)
    file, line, column   where it is declared
    level, tier, …       its attributes, with the names in `SCHEMA`
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import networkx

from orgkernel.diagnostics import Place
from orgkernel.graph.records import OrgRecords
from orgkernel.graph.schema import SCHEMA, Edge, NodeKind

if TYPE_CHECKING:
    from networkx import MultiDiGraph


def build_networkx(records: OrgRecords, edges: Iterable[Edge]) -> MultiDiGraph[str]:
    """A new graph that the caller owns."""
    graph: MultiDiGraph[str] = networkx.MultiDiGraph()
    for kind, id, name, place in _list_declared(records):
        graph.add_node(
            _name_node(kind, id), kind=kind.value, id=id, name=name or id, **_describe_place(place)
        )
    for edge in edges:
        row = SCHEMA[edge.kind]
        for kind, id in ((row.source, edge.source), (row.target, edge.target)):
            if _name_node(kind, id) not in graph:
                graph.add_node(_name_node(kind, id), kind=kind.value, id=id, name=id)
        graph.add_edge(
            _name_node(row.source, edge.source),
            _name_node(row.target, edge.target),
            kind=edge.kind.value,
            **row.read_attribute(edge.attribute),
            **_describe_place(edge.place),
        )
    return graph


def _name_node(kind: NodeKind, id: str) -> str:
    return f"{kind.value}:{id}"


def _describe_place(place: Place) -> dict[str, Any]:
    return {"file": place.file, "line": place.line, "column": place.column}


def _list_declared(records: OrgRecords) -> Iterator[tuple[NodeKind, str, str, Place]]:
    """The entries that the organization declares or sees: kind, id, name and place."""
    organization, document = records.organization, records.document
    yield NodeKind.ORGANIZATION, records.org_id, organization.name, document.place("org_id")
    for role_id, post in records.posts.items():
        yield NodeKind.ROLE, role_id, post.profile.name, post.document.place("role_id")
    for role_id, place in records.without_profile.items():
        yield NodeKind.ROLE, role_id, "", place
    for department_id, department in organization.departments.items():
        yield (
            NodeKind.DEPARTMENT,
            department_id,
            department.name,
            document.place("departments", department_id, key=True),
        )
    if records.ladder is not None:
        for number, rank in enumerate(records.ranks):
            yield NodeKind.RANK, rank.id, rank.name, records.ladder.place("ranks", number)
    for kind, entries in (
        (NodeKind.DOMAIN, records.domains),
        (NodeKind.PLAN, records.plans),
        (NodeKind.TOOL, records.tools),
        (NodeKind.SKILL, records.skills),
        (NodeKind.QUALIFICATION, records.qualifications),
        (NodeKind.POLICY, records.policies),
        (NodeKind.COGNITIVE_SKILL, records.cognitive_skills),
        (NodeKind.PROCEDURE, records.procedures),
    ):
        for entry in entries.values():
            yield kind, entry.id, getattr(entry.record, "name", ""), entry.place()
    for agent in records.agents.values():
        yield NodeKind.AGENT, agent.id, agent.record.callsign, agent.place()
