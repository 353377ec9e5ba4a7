"""Finds cycles of domains, tools, skills and qualifications (ORG312 to ORG314, ORG605)."""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.graph.structure import find_shortest_cycle
from orgkernel.rules.references import build_reference
from orgkernel.rules.rule import Finding

_SHOWN = 5


def report_cycles(view: OrgView, kind: EdgeKind, help: str) -> Iterator[Finding]:
    """One finding for each group of nodes that edges of one kind connect in a cycle."""
    for group in view.find_cycles(kind):
        first, *others = _find_shortest_cycle(view, kind, group)
        reference = build_reference(first)
        yield Finding(
            first.place,
            f"{reference.kind} {quote(reference.source)} {reference.verb} itself{_render_path(first, others)}",
            help,
            f"{reference.kind}:{reference.source}",
            tuple(Related(edge.place, str(build_reference(edge))) for edge in others[: _SHOWN - 1]),
        )


def _find_shortest_cycle(view: OrgView, kind: EdgeKind, group: tuple[str, ...]) -> list[Edge]:
    """The edges of a shortest path from the first node of a group back to itself."""
    nodes = find_shortest_cycle(view.list_ends_of_kind(kind), group)
    steps = zip(nodes, (*nodes[1:], nodes[0]), strict=True)
    return [
        next(edge for edge in view.list_edges_from(kind, source) if edge.target == target)
        for source, target in steps
    ]


def _render_path(first: Edge, others: list[Edge]) -> str:
    """The cycle, shortened after the first five nodes. Empty if a node leads directly to itself."""
    if not others:
        return ""
    steps = [quote(edge.source) for edge in (first, *others)]
    more = [f"{len(steps) - _SHOWN} more"] if len(steps) > _SHOWN else []
    return ": " + " → ".join([*steps[:_SHOWN], *more, steps[0]])
