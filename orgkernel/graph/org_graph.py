"""One organization as an immutable `networkx.MultiDiGraph`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import networkx

from orgkernel.graph.columns import EdgeColumns
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.graph.schema import SCHEMA, Edge, EdgeKind


class OrgGraph(OrgView):
    """Answers questions with networkx. The graph itself is not public, because even a frozen one has mutable attributes."""

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

    def list_edges_from(self, kind: EdgeKind, source: str) -> tuple[Edge, ...]:
        node = (SCHEMA[kind].source, source)
        return self._of_kind(
            kind, self._graph.out_edges(node, keys=True, data="edge") if node in self._graph else ()
        )

    def list_edges_to(self, kind: EdgeKind, target: str) -> tuple[Edge, ...]:
        node = (SCHEMA[kind].target, target)
        return self._of_kind(
            kind, self._graph.in_edges(node, keys=True, data="edge") if node in self._graph else ()
        )

    def list_edges_of_kind(self, kind: EdgeKind) -> tuple[Edge, ...]:
        return self._by_kind[kind]

    def find_below(self, role_ids: Iterable[str]) -> frozenset[str]:
        tops = set(role_ids)
        command: networkx.DiGraph[str] = networkx.DiGraph(
            (superior, role_id) for role_id, superior in self.superiors.items()
        )
        command.add_nodes_from(tops)
        return frozenset(tops.union(*(networkx.descendants(command, top) for top in tops)))

    @staticmethod
    def _of_kind(kind: EdgeKind, entries: Any) -> tuple[Edge, ...]:
        numbered = sorted((number, edge) for _, _, number, edge in entries if edge.kind is kind)
        return tuple(edge for _, edge in numbered)
