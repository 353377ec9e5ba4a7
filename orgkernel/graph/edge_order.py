"""In which order the positions of edge columns are read: parts of them, one after the other.

Edges that a change to one document brings stand behind all others in the columns, and are read where they belong. So the
positions of all other edges, which tables are full of, stay as they are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import chain


class EdgeOrder:
    """The positions that are in use, in the order in which their edges are declared. Immutable."""

    __slots__ = ("_begins", "_count", "_shifts", "_starts", "parts")

    def __init__(self, parts: Iterable[tuple[int, int]]) -> None:
        """Each part from its first position to the one beyond its last."""
        self.parts = tuple((start, beyond) for start, beyond in parts if start < beyond)
        self._begins: list[int] = []
        shifts: list[tuple[int, int]] = []
        count = 0
        for start, beyond in self.parts:
            self._begins.append(count)
            shifts.append((start, count - start))
            count += beyond - start
        shifts.sort()
        self._starts = [start for start, _ in shifts]
        self._shifts = [shift for _, shift in shifts]
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(range(start, beyond) for start, beyond in self.parts)

    def rank(self, position: int) -> int:
        """How many edges are declared before the one at a position that is in use."""
        return position + self._shifts[bisect_right(self._starts, position) - 1]

    def position(self, rank: int) -> int:
        """The position of the edge that so many are declared before."""
        part = bisect_right(self._begins, rank) - 1
        return self.parts[part][0] + rank - self._begins[part]

    def replaced(self, first: int, beyond: int, positions: tuple[int, int]) -> EdgeOrder:
        """With a part in place of the edges of some ranks."""
        return EdgeOrder([*self._cut(0, first), positions, *self._cut(beyond, self._count)])

    def _cut(self, first: int, beyond: int) -> Iterator[tuple[int, int]]:
        for begin, (start, end) in zip(self._begins, self.parts, strict=True):
            yield max(start, start + first - begin), min(end, start + beyond - begin)
