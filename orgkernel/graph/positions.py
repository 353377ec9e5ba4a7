"""Where a node stands in a column of edges, found without a table."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

UNUSED = (1 << 32) - 1
"""In place of the number of a node: none."""


def positions_of(column: array[int], number: int, first: int = 0, beyond: int | None = None) -> Iterator[int]:
    """Where a number stands in a column of numbers of nodes, in the order of positions."""
    # Looking through the bytes takes a twentieth of looking at each number.
    content, wanted = column.tobytes(), array(column.typecode, [number]).tobytes()
    end = len(content) if beyond is None else beyond * column.itemsize
    at = content.find(wanted, first * column.itemsize, end) if number != UNUSED else -1
    while at >= 0:
        if at % column.itemsize == 0:
            yield at // column.itemsize
        at = content.find(wanted, at + 1, end)
