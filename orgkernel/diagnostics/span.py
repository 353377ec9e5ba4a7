"""The end of the text that a finding points at: where the caret or an annotation ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from orgkernel.diagnostics.diagnostic import Place

ReadLines = Callable[[str], Sequence[str]]
"""Name of a file, as shown, to its lines; none where it cannot be read."""

# A quoted text, or everything up to what ends a plain one.
_TOKEN = re.compile(
    r"""\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\s,\[\]{}#][^,\[\]{}#]*?(?=\s*(?:[,\]}]|:(?:\s|$)|\s#|$))|."""
)
# A word inside a text, such as a name in a trigger.
_WORD = re.compile(r"""[^\s"'(),\]}]+""")
# What stands before a value or key begins; anything else means that the place is inside one.
_BEFORE_VALUES = frozenset(":-[,{?")


def token_length(line: str, start: int) -> int:
    """Number of characters, at least one, of the value, or of the word inside one, that begins at `start` (from 0)."""
    before = line[:start].rstrip()[-1:]
    inside = bool(before) and before not in _BEFORE_VALUES
    match = (_WORD if inside else _TOKEN).match(line, start)
    return max(1, len(match[0].rstrip()) if match else 1)


def find_end_column(place: Place, read_lines: ReadLines) -> int | None:
    """The column after the last one a place points at; None where its line cannot be read or has changed."""
    lines = read_lines(place.file)
    if not 0 < place.line <= len(lines):
        return None
    line = lines[place.line - 1].rstrip("\r\n")
    start = place.column - 1
    return place.column + token_length(line, start) if 0 <= start < len(line) else None
