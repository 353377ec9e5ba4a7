"""One organization as an immutable `networkx.MultiDiGraph`. Only this module imports networkx."""

from __future__ import annotations

from typing import Any

import networkx

from orgkernel.graph.columns import EdgeColumns
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.graph.schema import SCHEMA, Edge, EdgeKind


class OrgGraph(OrgView):
    """Answers from networkx. The graph itself is not handed out: a frozen one still has mutable attributes."""

    def __init__(self, records: OrgRecords, columns: EdgeColumns) -> None:
        super().__init__(records)
        graph: Any = networkx.MultiDiGraph()
        by_kind: dict[EdgeKind, list[Edge]] = {kind: [] for kind in EdgeKind}
        for number, edge in enumerate(columns):
            schema = SCHEMA[edge.kind]
            graph.add_edge((schema.source, edge.source), (schema.target, edge.target), number, edge=edge)
            by_kind[edge.kind].append(edge)
        self._graph = networkx.freeze(graph)
        self._by_kind = {kind: tuple(edges) for kind, edges in by_kind.items()}

    def edges_from(self, kind: EdgeKind, source: str) -> tuple[Edge, ...]:
        node = (SCHEMA[kind].source, source)
        return self._of_kind(
            kind, self._graph.out_edges(node, keys=True, data="edge") if node in self._graph else ()
        )

    def edges_to(self, kind: EdgeKind, target: str) -> tuple[Edge, ...]:
        node = (SCHEMA[kind].target, target)
        return self._of_kind(
            kind, self._graph.in_edges(node, keys=True, data="edge") if node in self._graph else ()
        )

    def edges_of(self, kind: EdgeKind) -> tuple[Edge, ...]:
        return self._by_kind[kind]

    def targets_of(self, kind: EdgeKind) -> tuple[str, ...]:
        return tuple(dict.fromkeys(edge.target for edge in self._by_kind[kind]))

    def ends_of(self, kind: EdgeKind) -> tuple[tuple[str, str], ...]:
        return tuple((edge.source, edge.target) for edge in self._by_kind[kind])

    def sources_to(self, kind: EdgeKind, target: str) -> tuple[str, ...]:
        return tuple(edge.source for edge in self.edges_to(kind, target))

    def cycles(self, kind: EdgeKind) -> tuple[tuple[str, ...], ...]:
        edges = self.edges_of(kind)
        declared: dict[str, int] = {}
        for edge in edges:
            declared.setdefault(edge.source, len(declared))
        line: Any = networkx.DiGraph((edge.source, edge.target) for edge in edges)
        circles = [
            tuple(sorted(group, key=declared.__getitem__))
            for group in networkx.strongly_connected_components(line)
            if len(group) > 1 or line.has_edge(*(2 * tuple(group)))
        ]
        return tuple(sorted(circles, key=lambda circle: declared[circle[0]]))

    @staticmethod
    def _of_kind(kind: EdgeKind, found: Any) -> tuple[Edge, ...]:
        numbered = sorted((number, edge) for _, _, number, edge in found if edge.kind is kind)
        return tuple(edge for _, edge in numbered)
