"""Edges as columns, from which both views, graph and index, are built (docs/architecture.md).

An edge costs four small integers and one packed place instead of an object; `Edge` values are created on request.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from orgkernel.diagnostics import Place
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.loading.marks import COLUMN_BITS, STYLE_BITS, pack_mark, unpack_mark

_KINDS = tuple(EdgeKind)
_NUMBER_OF_KIND = {kind: number for number, kind in enumerate(_KINDS)}
# Finds the edges of a kind in the column of kinds. The edges of a node are mostly adjacent.
_RUNS_OF_KIND = {
    kind: re.compile(re.escape(bytes([number])) + b"+") for kind, number in _NUMBER_OF_KIND.items()
}
# File, line and column of a place in 64 bits: a million files, four million lines and columns.
_LINE_BITS = _COLUMN_BITS = COLUMN_BITS
_FILE_SHIFT = _LINE_BITS + _COLUMN_BITS
_BEYOND = 1 << (_LINE_BITS + _COLUMN_BITS + STYLE_BITS)
_MASK = (1 << _LINE_BITS) - 1
_new = tuple.__new__


PackedColumns = tuple[tuple[str, ...], bytes, bytes, bytes, bytes, bytes]
"""The words, then kinds, sources, targets, attributes and places."""


class EdgeRun(NamedTuple):
    """Consecutive edges of one kind from one node in one file, such as those of a list in a document."""

    kind: EdgeKind
    source: str
    targets: Sequence[str]
    attribute: str
    file: str
    marks: Sequence[int]
    """The position of each target in the file."""


class EdgeFan(NamedTuple):
    """Consecutive edges of one kind from several nodes to one, all declared at one position."""

    kind: EdgeKind
    sources: Sequence[str]
    target: str
    attribute: str
    file: str
    mark: int


def build_single_run(edge: Edge) -> EdgeRun:
    """A run with a single edge."""
    place = edge.place
    return EdgeRun(
        edge.kind,
        edge.source,
        (edge.target,),
        edge.attribute,
        place.file,
        (pack_mark(place.line, place.column),),
    )


class _Numbers(dict[str, int]):
    """Numbers for words, in the order of first use."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class EdgeColumns:
    """An immutable list of edges in the order of declaration."""

    __slots__ = ("_attribute", "_kind", "_place", "_source", "_target", "_words")

    def __init__(self, runs: Iterable[EdgeRun | EdgeFan]) -> None:
        numbers = _Numbers()
        number_of = numbers.__getitem__
        kinds, sources, targets = array("B"), array("I"), array("I")
        attributes, places = array("I"), array("Q")
        fan_ends: Sequence[str] | None = None
        fan_sources = array("I")
        for run in runs:
            if isinstance(run, EdgeFan):
                # Skills that every role has share one tuple of roles, and repeated arrays are copied without a loop.
                if run.sources is not fan_ends:
                    fan_ends, fan_sources = run.sources, array("I", map(number_of, run.sources))
                count = len(fan_sources)
                kinds.frombytes(bytes([_NUMBER_OF_KIND[run.kind]]) * count)
                sources.extend(fan_sources)
                targets.extend(array("I", [number_of(run.target)]) * count)
                attributes.extend(array("I", [number_of(run.attribute)]) * count)
                place = number_of(run.file) << _FILE_SHIFT | _unpack_position(run.mark)
                places.extend(array("Q", [place]) * count)
                continue
            kind, source, ends, attribute, file, marks = run
            in_file, start, attribute_number = (
                number_of(file) << _FILE_SHIFT,
                number_of(source),
                number_of(attribute),
            )
            if len(ends) == 1:
                kinds.append(_NUMBER_OF_KIND[kind])
                sources.append(start)
                targets.append(number_of(ends[0]))
                attributes.append(attribute_number)
            else:
                count = len(ends)
                kinds.extend([_NUMBER_OF_KIND[kind]] * count)
                sources.extend([start] * count)
                targets.extend(map(number_of, ends))
                attributes.extend([attribute_number] * count)
            if max(marks) < _BEYOND:
                places.extend([in_file | mark >> STYLE_BITS for mark in marks])
            else:
                places.extend([in_file | _unpack_position(mark) for mark in marks])
        self._kind, self._source, self._target = kinds, sources, targets
        self._attribute, self._place = attributes, places
        self._words = tuple(numbers)

    def pack(self) -> PackedColumns:
        """The columns as bytes, in the byte order of this machine."""
        kinds, sources, targets, attributes, places = (column.tobytes() for column in self._columns())
        return self._words, kinds, sources, targets, attributes, places

    @classmethod
    def unpack(cls, packed: PackedColumns) -> EdgeColumns:
        """The columns from packed bytes. Raises `ValueError` for invalid bytes."""
        columns = cls(())
        columns._words, *contents = packed
        for column, content in zip(columns._columns(), contents, strict=True):
            column.frombytes(content)
        if len({len(column) for column in columns._columns()}) != 1:
            raise ValueError("columns of different lengths")
        return columns

    def _columns(self) -> tuple[array[int], ...]:
        return self._kind, self._source, self._target, self._attribute, self._place

    def __len__(self) -> int:
        return len(self._kind)

    def __iter__(self) -> Iterator[Edge]:
        return map(self.edge, range(len(self._kind)))

    def find_edges_of_kind(self, kind: EdgeKind) -> array[int]:
        """The positions of the edges of a kind."""
        kinds, pattern = self._kind.tobytes(), _RUNS_OF_KIND[kind]
        positions = array("I")
        # Most kinds have few edges or none, and a search for one byte skips the others many times faster than a pattern.
        start = kinds.find(_NUMBER_OF_KIND[kind])
        while start >= 0:
            end = pattern.match(kinds, start).end()  # type: ignore[union-attr]
            positions.extend(range(start, end))
            start = kinds.find(_NUMBER_OF_KIND[kind], end)
        return positions

    def look(self, end: Literal["source", "target"], kind: EdgeKind, word: str) -> tuple[int, ...]:
        """The positions of the edges of a kind that start or end at one node, found without a table."""
        column = self._source if end == "source" else self._target
        wanted, kinds = _NUMBER_OF_KIND[kind], self._kind.tobytes()
        # The edges of some kinds are all adjacent.
        first, beyond = kinds.find(wanted), kinds.rfind(wanted) + 1
        if not beyond or word not in self._words:
            return ()
        met = _find_positions(column, self._words.index(word), first, beyond)
        return tuple(at for at in met if kinds[at] == wanted)

    def group_by_source(self, numbers: Iterable[int]) -> dict[str, tuple[int, ...]]:
        """The given positions grouped by source, in the order of each source's first edge."""
        groups: dict[str, tuple[int, ...]] = {}
        # The edges of a node are mostly adjacent.
        for source, together in groupby(numbers, self._source.__getitem__):
            word, positions = self._words[source], tuple(together)
            groups[word] = groups[word] + positions if word in groups else positions
        return groups

    def group_by_target(self, numbers: Iterable[int]) -> dict[str, tuple[int, ...]]:
        """The given positions grouped by target, in the order of each target's first edge."""
        groups: defaultdict[int, list[int]] = defaultdict(list)
        target = self._target
        for number in numbers:
            groups[target[number]].append(number)
        words = self._words
        return {words[end]: tuple(group) for end, group in groups.items()}

    def target(self, number: int) -> str:
        """The target of the edge at a position."""
        return self._words[self._target[number]]

    def source(self, number: int) -> str:
        """The source of the edge at a position."""
        return self._words[self._source[number]]

    def attribute(self, number: int) -> str:
        """The attribute of the edge at a position."""
        return self._words[self._attribute[number]]

    def iterate_sources(self, numbers: Iterable[int]) -> Iterator[str]:
        """The sources of the edges at these positions."""
        return map(self._words.__getitem__, map(self._source.__getitem__, numbers))

    def iterate_targets(self, numbers: Iterable[int]) -> Iterator[str]:
        """The targets of the edges at these positions."""
        return map(self._words.__getitem__, map(self._target.__getitem__, numbers))

    def iterate_attributes(self, numbers: Iterable[int]) -> Iterator[str]:
        """The attributes of the edges at these positions."""
        return map(self._words.__getitem__, map(self._attribute.__getitem__, numbers))

    def edge(self, number: int) -> Edge:
        """The edge at a position."""
        words = self._words
        place = self._place[number]
        # Inlined constructor of a named tuple, because every answer creates dozens of edges.
        file = words[place >> _FILE_SHIFT]
        return _new(
            Edge,
            (
                _KINDS[self._kind[number]],
                words[self._source[number]],
                words[self._target[number]],
                words[self._attribute[number]],
                _new(Place, (file, place >> _COLUMN_BITS & _MASK, place & _MASK)),
            ),
        )


def _find_positions(column: array[int], number: int, first: int, beyond: int) -> Iterator[int]:
    """The positions of a number in a part of a column, found without a table.

    Searching the bytes takes a twentieth of the time of comparing each number.
    """
    content, wanted = column.tobytes(), array(column.typecode, [number]).tobytes()
    end = beyond * column.itemsize
    at = content.find(wanted, first * column.itemsize, end)
    while at >= 0:
        if at % column.itemsize == 0:
            yield at // column.itemsize
        at = content.find(wanted, at + 1, end)


def _unpack_position(mark: int) -> int:
    line, column = unpack_mark(mark)
    return min(line, _MASK) << _COLUMN_BITS | min(column, _MASK)
