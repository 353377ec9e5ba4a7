"""Changes to a text at exact spans: where a mark stands in it, what an edit makes of it, where a character went."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from orgkernel.loading.marks import LINE_BREAK, unpack_mark

# An anchor belongs to the value, and its mark stands before it.
_ANCHOR = re.compile(r"(?:&[^\s,\[\]{}]+[ \t]+)?")
_QUOTES = ("'", '"')


class Edit(NamedTuple):
    """Characters `start` to `end` of a text become `text`."""

    start: int
    end: int
    text: str


class TextPlaces:
    """Offsets, lines and columns of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = [0, *(match.end() for match in LINE_BREAK.finditer(text))]

    def offset_of(self, mark: int) -> int:
        """The character a mark stands at."""
        return self.offset_at(*unpack_mark(mark))

    def offset_at(self, line: int, column: int) -> int:
        """The character at a line and a column, both counted from 1."""
        return self._lines[min(line, len(self._lines)) - 1] + column - 1

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a character."""
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def span_of(self, mark: int, value: str) -> tuple[int, int] | None:
        """Where the characters of a text value stand; None where they are not there one by one.

        That is so for a value with escapes, and for one over several lines.
        """
        start, quote = self._inside(mark)
        end = start + len(value)
        if self.text[start:end] != value or (quote and self.text[end : end + 1] != quote):
            return None
        return start, end

    def span_with_quotes(self, mark: int, value: str) -> tuple[int, int] | None:
        """The span of a text value with the quotes around it."""
        quoted = bool(self._inside(mark)[1])
        span = self.span_of(mark, value)
        return (span[0] - quoted, span[1] + quoted) if span else None

    def in_flow(self, mark: int) -> bool:
        """Whether the mapping at a mark is written in braces."""
        match = _ANCHOR.match(self.text, self.offset_of(mark))
        return match is not None and self.text.startswith("{", match.end())

    def _inside(self, mark: int) -> tuple[int, str]:
        """Where a scalar's own characters begin, and the quote before them."""
        match = _ANCHOR.match(self.text, self.offset_of(mark))
        start = match.end() if match else 0
        first = self.text[start : start + 1]
        return (start + 1, first) if first in _QUOTES else (start, "")


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after all edits, each given by its place in the old one. Raises `ValueError` where two overlap."""
    pieces: list[str] = []
    at = 0
    for edit in sorted(edits):
        if edit.start < at:
            raise ValueError("edits overlap")
        pieces += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*pieces, text[at:]])


def landing(edit: Edit, edits: Sequence[Edit]) -> int:
    """Where what an edit writes is in the new text, without the comma and the white space it begins with."""
    shift = sum(len(each.text) - (each.end - each.start) for each in edits if each < edit)
    return edit.start + shift + len(edit.text) - len(edit.text.lstrip(", \t\r\n"))


def move_forward(offset: int, edits: Sequence[Edit]) -> int:
    """Where a character of the old text is in the new one; of a replaced one, where its replacement begins."""
    shift = 0
    for edit in sorted(edits):
        if offset < edit.start:
            break
        if offset < edit.end:
            return edit.start + shift
        shift += len(edit.text) - (edit.end - edit.start)
    return offset + shift


def move_back(offset: int, edits: Sequence[Edit]) -> int:
    """Where a character of the new text was in the old one; of a new one, where it was put."""
    shift = 0
    for edit in sorted(edits):
        begin = edit.start + shift
        if offset < begin:
            break
        if offset < begin + len(edit.text):
            return edit.start
        shift += len(edit.text) - (edit.end - edit.start)
    return offset - shift
