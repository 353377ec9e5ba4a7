"""Changes to a text at exact spans: find the position of a mark, apply edits, and follow a character through them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from orgkernel.loading.marks import LINE_BREAK, unpack_mark

# An anchor belongs to the value, and the mark of the value is before the anchor.
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

    def compute_offset(self, mark: int) -> int:
        """The offset of a mark."""
        return self.compute_offset_at(*unpack_mark(mark))

    def compute_offset_at(self, line: int, column: int) -> int:
        """The offset of a line and a column, both counted from 1."""
        return self._lines[min(line, len(self._lines)) - 1] + column - 1

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a character."""
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def find_span(self, mark: int, value: str) -> tuple[int, int] | None:
        """The span of a text value; None if its characters are not written one by one.

        This is the case for a value with escapes and for one over several lines.
        """
        start, quote = self._inside(mark)
        end = start + len(value)
        if self.text[start:end] != value or (quote and self.text[end : end + 1] != quote):
            return None
        return start, end

    def find_span_with_quotes(self, mark: int, value: str) -> tuple[int, int] | None:
        """The span of a text value with the quotes around it."""
        quoted = bool(self._inside(mark)[1])
        span = self.find_span(mark, value)
        return (span[0] - quoted, span[1] + quoted) if span else None

    def is_in_braces(self, mark: int) -> bool:
        """Whether the mapping at a mark is written in braces."""
        match = _ANCHOR.match(self.text, self.compute_offset(mark))
        return match is not None and self.text.startswith("{", match.end())

    def _inside(self, mark: int) -> tuple[int, str]:
        """The offset of a scalar's first character, and the quote before it."""
        match = _ANCHOR.match(self.text, self.compute_offset(mark))
        start = match.end() if match else 0
        first = self.text[start : start + 1]
        return (start + 1, first) if first in _QUOTES else (start, "")


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Apply edits, each given by its span in the old text. Raises `ValueError` if two overlap."""
    pieces: list[str] = []
    at = 0
    for edit in sorted(edits):
        if edit.start < at:
            raise ValueError("edits overlap")
        pieces += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*pieces, text[at:]])


def find_start_of_insertion(edit: Edit, edits: Sequence[Edit]) -> int:
    """The position in the new text of what an edit writes, after its leading comma and white space."""
    shift = sum(len(each.text) - (each.end - each.start) for each in edits if each < edit)
    return edit.start + shift + len(edit.text) - len(edit.text.lstrip(", \t\r\n"))


def move_forward(offset: int, edits: Sequence[Edit]) -> int:
    """The position in the new text of a character of the old one, or the start of its replacement."""
    shift = 0
    for edit in sorted(edits):
        if offset < edit.start:
            break
        if offset < edit.end:
            return edit.start + shift
        shift += len(edit.text) - (edit.end - edit.start)
    return offset + shift


def move_back(offset: int, edits: Sequence[Edit]) -> int:
    """The position in the old text of a character of the new one, or the position where it was inserted."""
    shift = 0
    for edit in sorted(edits):
        begin = edit.start + shift
        if offset < begin:
            break
        if offset < begin + len(edit.text):
            return edit.start
        shift += len(edit.text) - (edit.end - edit.start)
    return offset - shift
