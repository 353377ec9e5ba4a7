"""References to ids, and findings about undeclared ids (families 3 and 4)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from typing import NamedTuple

from orgkernel.diagnostics import Place
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import SCHEMA, Edge, EdgeKind
from orgkernel.rules.rule import Finding

_VERBS = {
    EdgeKind.HANDLES: "handles",
    EdgeKind.FOLLOWS: "follows",
    EdgeKind.EQUIPPED_WITH: "is equipped with",
    EdgeKind.REQUIRES: "requires",
    EdgeKind.NARROWER_THAN: "is narrower than",
    EdgeKind.SERVES: "serves",
    EdgeKind.NEEDS: "needs",
    EdgeKind.FALLS_BACK_TO: "falls back to",
    EdgeKind.PRESUPPOSES: "presupposes",
    EdgeKind.NEEDS_QUALIFICATION: "needs",
    EdgeKind.RAISES: "raises",
    EdgeKind.BUILDS_ON: "builds on",
    EdgeKind.FILLS: "fills",
    EdgeKind.COVERS: "covers",
    EdgeKind.STARTS_AT: "starts at",
    EdgeKind.MAY_GRANT: "may grant",
    EdgeKind.PERFORMS: "performs",
    EdgeKind.CALLS: "calls",
}


class Reference(NamedTuple):
    """A reference in a document, as the sentence `KIND SOURCE VERB TARGET`."""

    place: Place
    kind: str
    source: str
    verb: str
    target: str

    def __str__(self) -> str:
        return f"{self.kind} {quote(self.source)} {self.verb} {quote(self.target)}"


def build_reference(edge: Edge) -> Reference:
    """Convert an edge to a reference for messages."""
    return Reference(edge.place, SCHEMA[edge.kind].source.value, edge.source, _VERBS[edge.kind], edge.target)


def find_undeclared(
    view: OrgView, *kinds: EdgeKind, known: Container[str], also: Iterable[Reference] = ()
) -> Iterator[Reference]:
    """The edges of these kinds, and the references in `also`, whose target is not among the known ids."""
    for kind in kinds:
        for target in view.list_targets_of_kind(kind):
            if target not in known:
                yield from map(build_reference, view.list_edges_to(kind, target))
    for reference in also:
        if reference.target not in known:
            yield reference


def report_undeclared(
    references: Iterable[Reference], what: str, help_for: Callable[[str], str]
) -> Iterator[Finding]:
    """One finding per reference. The help for an id is computed only once."""
    helps: dict[str, str] = {}
    for reference in references:
        target = reference.target
        if target not in helps:
            helps[target] = help_for(target)
        message = f"{reference}, which is not a declared {what}"
        yield Finding(reference.place, message, helps[target], f"{reference.kind}:{reference.source}")
