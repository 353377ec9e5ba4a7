"""Hand-off edges: the edge from one role to another, and the next role on the path if there is no direct edge."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import msgspec

from orgkernel.decisions.reasons import Why, cite_place
from orgkernel.documents.records import GovernedEdge
from orgkernel.graph.governance import read_governance
from orgkernel.graph.records import OrgRecords


class FoundEdge(msgspec.Struct, frozen=True):
    """An edge from one layer to another, with the entry in the governance document."""

    source: str
    target: str
    edge: GovernedEdge
    why: Why


def has_edges(records: OrgRecords) -> bool:
    """Whether hand-off edges apply to the roles of an organization."""
    return bool(records.organization.dispatch_edges)


def get_layer(records: OrgRecords, role_id: str) -> str | None:
    """The layer of a role."""
    return records.posts[role_id].profile.layer


def list_roles_of_layer(records: OrgRecords, layer: str) -> tuple[str, ...]:
    """The roles of a layer, in the order of the hierarchy."""
    return tuple(role_id for role_id in records.posts if get_layer(records, role_id) == layer)


def find_edge(records: OrgRecords, sender: str, receiver: str) -> FoundEdge | None:
    """The edge from the layer of one role to that of another."""
    wanted = get_layer(records, sender), get_layer(records, receiver)
    for number, edge in enumerate(records.organization.dispatch_edges):
        if (edge.source, edge.target) == wanted:
            return _get_edge(records, number)
    return None


def do_edges_forbid(records: OrgRecords, sender: str, receiver: str) -> bool:
    """Whether edges apply to two roles and none leads from one to the other.

    With a governance document, edges apply to every role; without one, only to roles that are in layers.
    """
    if not has_edges(records) or find_edge(records, sender, receiver) is not None:
        return False
    in_layers = None not in (get_layer(records, sender), get_layer(records, receiver))
    return in_layers or records.get_declaring_document("dispatch_edges") is records.governance


def _get_edge(records: OrgRecords, number: int) -> FoundEdge:
    """The edge at a position of `dispatch_edges`, with its place and, if a governance document declares it, its entry there."""
    plain = records.organization.dispatch_edges[number]
    document = records.get_declaring_document("dispatch_edges")
    governance = read_governance(records.governance)
    is_written = document.has("dispatch_edges")
    place = document.place("dispatch_edges", number) if is_written else records.edges_place
    governed = governance is not None and is_written and document is records.governance
    edge = (
        governance.dispatch_edges[number]
        if governance is not None and governed
        else GovernedEdge(source=plain.source, target=plain.target)
    )
    why = cite_place(f"a hand-off edge leads from layer {plain.source} to layer {plain.target}", place)
    return FoundEdge(plain.source, plain.target, edge, why)


def find_next_hop(records: OrgRecords, sender: str, receiver: str) -> Iterator[str]:
    """The roles of the first layer on the shortest path of edges from one role to another."""
    start, end = get_layer(records, sender), get_layer(records, receiver)
    edges = records.organization.dispatch_edges
    waiting: deque[tuple[str, str]] = deque(
        (edge.target, edge.target) for edge in edges if edge.source == start
    )
    seen = {start}
    while waiting:
        layer, first = waiting.popleft()
        if layer == end and first != end:
            yield from list_roles_of_layer(records, first)
            return
        if layer not in seen:
            seen.add(layer)
            waiting.extend((edge.target, first) for edge in edges if edge.source == layer)
