"""Edges as columns: the one source both views, graph and index, are built from (design §4).

An edge costs three small integers and one packed place instead of an object; `Edge` values are made when asked for.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Place
from orgkernel.graph.schema import Edge, EdgeKind

_KINDS = tuple(EdgeKind)
_NUMBER_OF_KIND = {kind: number for number, kind in enumerate(_KINDS)}
# File, line and column of a place in 64 bits: a million files, four million lines and columns.
_LINE_BITS = _COLUMN_BITS = 22
_MASK = (1 << _LINE_BITS) - 1


class EdgeColumns:
    """An immutable, ordered list of edges. The order is that of declaration."""

    __slots__ = ("_attribute", "_kind", "_place", "_source", "_target", "_words")

    def __init__(self, edges: Iterable[Edge]) -> None:
        numbers: dict[str, int] = {}
        self._kind = array("B")
        self._source = array("I")
        self._target = array("I")
        self._attribute = array("I")
        self._place = array("Q")
        for edge in edges:
            self._kind.append(_NUMBER_OF_KIND[edge.kind])
            self._source.append(numbers.setdefault(edge.source, len(numbers)))
            self._target.append(numbers.setdefault(edge.target, len(numbers)))
            self._attribute.append(numbers.setdefault(edge.attribute, len(numbers)))
            file = numbers.setdefault(edge.place.file, len(numbers))
            line, column = min(edge.place.line, _MASK), min(edge.place.column, _MASK)
            self._place.append((file << _LINE_BITS | line) << _COLUMN_BITS | column)
        self._words = tuple(numbers)

    def __len__(self) -> int:
        return len(self._kind)

    def __iter__(self) -> Iterator[Edge]:
        return map(self.edge, range(len(self)))

    def ends(self) -> Iterator[tuple[EdgeKind, str, str]]:
        """Kind, source and target of every edge, in order, without the cost of whole edges."""
        words = self._words
        for kind, source, target in zip(self._kind, self._source, self._target, strict=True):
            yield _KINDS[kind], words[source], words[target]

    def target(self, number: int) -> str:
        """Where the edge at a position ends."""
        return self._words[self._target[number]]

    def source(self, number: int) -> str:
        """Where the edge at a position starts."""
        return self._words[self._source[number]]

    def attribute(self, number: int) -> str:
        """The attribute of the edge at a position."""
        return self._words[self._attribute[number]]

    def edge(self, number: int) -> Edge:
        """The edge at a position."""
        words = self._words
        place = self._place[number]
        return Edge(
            _KINDS[self._kind[number]],
            words[self._source[number]],
            words[self._target[number]],
            words[self._attribute[number]],
            Place(
                words[place >> (_LINE_BITS + _COLUMN_BITS)],
                place >> _COLUMN_BITS & _MASK,
                place & _MASK,
            ),
        )
