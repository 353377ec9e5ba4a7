"""Text in columns, wrapped to a width.

rich lays tables out in the same way, which a test compares. It is not used, because it and its dependencies are a
tenth of the default installation, and importing it takes five times as long as starting Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from unicodedata import category, east_asian_width

_WORD = re.compile(r"\s*\S+\s*")
_GAP = 2
_NO_WIDTH = ("Mn", "Me", "Cf")


class TextTable:
    """Rows below headings. Cells of a `whole` column are never wrapped; cells of other columns are wrapped to fit."""

    def __init__(self, *headings: str, whole: str = "") -> None:
        self.headings = headings
        self.rows: list[tuple[str, ...]] = []
        self._whole = whole

    def add_row(self, *cells: str) -> None:
        self.rows.append(cells)

    def lines(self, width: int, least_beside: int = 0) -> Iterator[tuple[str, bool]]:
        """The lines in this width, and whether each is one of the headings.

        The width grows where a column that is not broken would leave the others less than `least_beside`.
        """
        widths = self._fit(width, least_beside)
        for number, row in enumerate((self.headings, *self.rows)):
            cells = [
                [part for line in cell.split("\n") for part in ([line] if whole else wrap_cells(line, size))]
                for cell, size, whole in zip(row, widths, self._are_whole(), strict=True)
            ]
            for parts in zip_longest(*cells, fillvalue=""):
                padded = (
                    part + " " * (size - count_cells(part)) for part, size in zip(parts, widths, strict=True)
                )
                yield (" " * _GAP).join(padded).rstrip(), number == 0

    def _are_whole(self) -> list[bool]:
        return [heading == self._whole for heading in self.headings]

    def _fit(self, width: int, least_beside: int) -> list[int]:
        """Widths of all columns. The widest column shrinks first, until it is as wide as the next."""
        columns = zip(self.headings, *self.rows, strict=True)
        widths = [
            max(count_cells(line) for cell in column for line in cell.split("\n")) for column in columns
        ]
        whole = self._are_whole()
        room = max(
            width,
            least_beside
            + max((size for size, is_whole in zip(widths, whole, strict=True) if is_whole), default=0),
        )
        # Half of each adjacent gap belongs to a column, and a column shrinks together with these halves.
        beside = [(_GAP // 2) * ((number > 0) + (number < len(widths) - 1)) for number in range(len(widths))]
        sizes = [size + gaps for size, gaps in zip(widths, beside, strict=True)]
        broken = [number for number, is_whole in enumerate(whole) if not is_whole]
        while broken and (excess := sum(sizes) - room) > 0:
            most = max(sizes[number] for number in broken)
            widest = [number for number in broken if sizes[number] == most]
            step = min(
                excess, most - max((sizes[number] for number in broken if sizes[number] < most), default=0)
            )
            if not step:
                break
            for place, number in enumerate(widest):
                given = min(step, round(excess / (len(widest) - place)))
                sizes[number] -= given
                excess -= given
        return [max(size - gaps, 1) for size, gaps in zip(sizes, beside, strict=True)]


def count_cells(text: str) -> int:
    """Count the terminal columns of a string: wide characters take two, and combining characters none.

    >>> count_cells("naïve"), count_cells("北京")
    (5, 4)
    """
    if text.isascii():
        return len(text)
    return sum(map(_count_cells_of, text))


def _count_cells_of(character: str) -> int:
    if category(character) in _NO_WIDTH:
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def wrap_cells(text: str, width: int) -> list[str]:
    """A line in parts of this width, between words where it can be.

    >>> wrap_cells("to the left, deliberately", 8)
    ['to the', 'left,', 'delibera', 'tely']
    """
    parts: list[str] = []
    line = ""
    for word in _WORD.findall(text):
        if count_cells(line) + count_cells(word.rstrip()) <= width:
            line += word
            continue
        if line:
            parts.append(line)
        line = word
        is_too_long = count_cells(word.rstrip()) > width
        while is_too_long and count_cells(line) > width:
            size = _count_fitting_characters(line, width)
            parts.append(line[:size])
            line = line[size:]
    return [part.rstrip() for part in (*parts, line)]


def _count_fitting_characters(text: str, width: int) -> int:
    """How many characters fit, but at least one."""
    cells = 0
    for number, character in enumerate(text):
        cells += _count_cells_of(character)
        if cells > width:
            return max(number, 1)
    return len(text)
