"""One organisation as columns with two look-up tables."""

from __future__ import annotations

from collections import defaultdict

from orgkernel.graph.columns import EdgeColumns
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.graph.schema import Edge, EdgeKind

_Table = dict[EdgeKind, dict[str, tuple[int, ...]]]


class OrgIndex(OrgView):
    """Answers from the edge columns; gives the same answers as `OrgGraph` (law `index_equals_graph`)."""

    def __init__(self, records: OrgRecords, columns: EdgeColumns) -> None:
        super().__init__(records)
        self._columns = columns
        outward: dict[EdgeKind, dict[str, list[int]]] = {kind: defaultdict(list) for kind in EdgeKind}
        inward: dict[EdgeKind, dict[str, list[int]]] = {kind: defaultdict(list) for kind in EdgeKind}
        for number, (kind, source, target) in enumerate(columns.ends()):
            outward[kind][source].append(number)
            inward[kind][target].append(number)
        self._outward = _frozen(outward)
        self._inward = _frozen(inward)

    def edges_from(self, kind: EdgeKind, source: str) -> tuple[Edge, ...]:
        return tuple(map(self._columns.edge, self._outward[kind].get(source, ())))

    def edges_to(self, kind: EdgeKind, target: str) -> tuple[Edge, ...]:
        return tuple(map(self._columns.edge, self._inward[kind].get(target, ())))

    def ends_from(self, kind: EdgeKind, source: str) -> tuple[tuple[str, str], ...]:
        target, attribute = self._columns.target, self._columns.attribute
        return tuple((target(number), attribute(number)) for number in self._outward[kind].get(source, ()))

    def ends_to(self, kind: EdgeKind, target: str) -> tuple[tuple[str, str], ...]:
        source, attribute = self._columns.source, self._columns.attribute
        return tuple((source(number), attribute(number)) for number in self._inward[kind].get(target, ()))

    def edges_of(self, kind: EdgeKind) -> tuple[Edge, ...]:
        numbers = sorted(number for found in self._outward[kind].values() for number in found)
        return tuple(map(self._columns.edge, numbers))

    def targets_of(self, kind: EdgeKind) -> tuple[str, ...]:
        return tuple(self._inward[kind])

    def cycles(self, kind: EdgeKind) -> tuple[tuple[str, ...], ...]:
        return self.remember(("cycles", kind), lambda: _circles(self._targets(kind)))

    def _targets(self, kind: EdgeKind) -> dict[str, tuple[str, ...]]:
        target = self._columns.target
        return {source: tuple(map(target, numbers)) for source, numbers in self._outward[kind].items()}


def _frozen(table: dict[EdgeKind, dict[str, list[int]]]) -> _Table:
    return {kind: {node: tuple(numbers) for node, numbers in rows.items()} for kind, rows in table.items()}


def _circles(targets: dict[str, tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Strongly connected groups with an edge inside them (Tarjan's algorithm, without recursion)."""
    order = {node: number for number, node in enumerate(targets)}
    reached: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_nodes: list[str] = []
    is_open: set[str] = set()
    circles = []
    for start, first in targets.items():
        if start in reached:
            continue
        work = [(start, iter(first))]
        reached[start] = lowest[start] = len(reached)
        open_nodes.append(start)
        is_open.add(start)
        while work:
            node, rest = work[-1]
            for target in rest:
                if target not in targets:
                    continue  # leads nowhere further
                if target not in reached:
                    reached[target] = lowest[target] = len(reached)
                    open_nodes.append(target)
                    is_open.add(target)
                    work.append((target, iter(targets[target])))
                    break
                if target in is_open:
                    lowest[node] = min(lowest[node], reached[target])
            else:
                work.pop()
                if work:
                    lowest[work[-1][0]] = min(lowest[work[-1][0]], lowest[node])
                if lowest[node] == reached[node]:
                    group = [open_nodes.pop()]
                    while group[-1] != node:
                        group.append(open_nodes.pop())
                    is_open.difference_update(group)
                    if len(group) > 1 or node in targets[node]:
                        circles.append(tuple(sorted(group, key=order.__getitem__)))
    return tuple(sorted(circles, key=lambda circle: order[circle[0]]))
