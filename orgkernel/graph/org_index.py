"""One organization as columns with two lookup tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import compress
from typing import TypeVar

from orgkernel.graph.columns import EdgeColumns
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.graph.schema import Edge, EdgeKind

T = TypeVar("T")
_LOOKS = 3


class _Asked(dict[EdgeKind, T]):
    """Tables for the kinds of edges in use, each built once. A single question needs few of them."""

    def __init__(self, make: Callable[[EdgeKind], T]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, kind: EdgeKind) -> T:
        # Two threads can both build it; either result is kept.
        table = self[kind] = self._make(kind)
        return table


class _Rows(_Asked[dict[str, tuple[int, ...]]]):
    """The numbers of each node's edges. The first few questions search the edges of their kind instead: for a single
    question on the command line, building a table would take longer than the answer.
    """

    def __init__(
        self,
        make: Callable[[EdgeKind], dict[str, tuple[int, ...]]],
        look: Callable[[EdgeKind, str], tuple[int, ...]],
    ) -> None:
        super().__init__(make)
        self._look = look
        self._looked: dict[EdgeKind, dict[str, tuple[int, ...]]] = {kind: {} for kind in EdgeKind}

    def find(self, kind: EdgeKind, node: str) -> tuple[int, ...]:
        """The numbers of a node's edges of a kind."""
        if kind in self:
            return self[kind].get(node, ())
        looked = self._looked[kind]
        if node not in looked:
            if len(looked) >= _LOOKS:
                return self[kind].get(node, ())
            looked[node] = self._look(kind, node)
        return looked[node]


class OrgIndex(OrgView):
    """Answers questions from the edge columns, with the same results as `OrgGraph` (law `index_equals_graph`)."""

    def __init__(self, records: OrgRecords, columns: EdgeColumns) -> None:
        super().__init__(records)
        self._columns = columns
        self._numbers = _Asked(columns.find_edges_of_kind)
        numbers = self._numbers.__getitem__
        self._outward = _Rows(
            lambda kind: columns.group_by_source(numbers(kind)), partial(columns.look, "source")
        )
        self._inward = _Rows(
            lambda kind: columns.group_by_target(numbers(kind)), partial(columns.look, "target")
        )

    def list_edges_from(self, kind: EdgeKind, source: str) -> tuple[Edge, ...]:
        return tuple(map(self._columns.edge, self._outward.find(kind, source)))

    def list_edges_to(self, kind: EdgeKind, target: str) -> tuple[Edge, ...]:
        return tuple(map(self._columns.edge, self._inward.find(kind, target)))

    def list_ends_from(self, kind: EdgeKind, source: str) -> tuple[tuple[str, str], ...]:
        target, attribute = self._columns.target, self._columns.attribute
        return tuple((target(number), attribute(number)) for number in self._outward.find(kind, source))

    def list_ends_to(self, kind: EdgeKind, target: str) -> tuple[tuple[str, str], ...]:
        numbers, columns = self._inward.find(kind, target), self._columns
        return tuple(zip(columns.iterate_sources(numbers), columns.iterate_attributes(numbers), strict=True))

    def find_equipping_edges(self, role_id: str, tool_id: str) -> tuple[Edge, ...]:
        numbers, columns = self._outward.find(EdgeKind.EQUIPPED_WITH, role_id), self._columns
        leading = map(tool_id.__eq__, columns.iterate_targets(numbers))
        return tuple(map(columns.edge, compress(numbers, leading)))

    def list_edges_of_kind(self, kind: EdgeKind) -> tuple[Edge, ...]:
        return tuple(map(self._columns.edge, self._numbers[kind]))

    def list_targets_of_kind(self, kind: EdgeKind) -> tuple[str, ...]:
        return tuple(
            self._inward[kind]
            if kind in self._inward
            else dict.fromkeys(self._columns.iterate_targets(self._numbers[kind]))
        )

    def list_ends_of_kind(self, kind: EdgeKind) -> tuple[tuple[str, str], ...]:
        numbers, columns = self._numbers[kind], self._columns
        return tuple(zip(map(columns.source, numbers), map(columns.target, numbers), strict=True))

    def list_sources_to(self, kind: EdgeKind, target: str) -> tuple[str, ...]:
        return tuple(self._columns.iterate_sources(self._inward.find(kind, target)))
