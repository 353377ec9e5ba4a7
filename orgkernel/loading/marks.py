"""Marks: the position of each value of a document in its file.

A mark is one integer: line and column, counted from 1, and the style of a text. A document's marks mirror its
values: an integer for a scalar, `(mark, {key: (mark of the key, marks of the value)})` for a mapping,
`(mark, [marks of the items])` for a sequence. Lines end at LF, CR LF or a lone CR, as in editors.
Twenty-two bits of column are enough for a JSON file on a single line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeAlias

COLUMN_BITS = 22
LAST_COLUMN = (1 << COLUMN_BITS) - 1
STYLE_BITS = 2
STYLE_MASK = (1 << STYLE_BITS) - 1
_LINE_SHIFT = COLUMN_BITS + STYLE_BITS

PLAIN, QUOTED, BLOCK = 0, 1, 2

LINE_BREAK = re.compile(r"\r\n?|\n")

Marks: TypeAlias = Any
"""`int | tuple[int, dict[str, tuple[int, Marks]]] | tuple[int, list[Marks]]`."""
RouteStep = str | int


def pack_mark(line: int, column: int, style: int = PLAIN) -> int:
    """Build a mark from a line and a column, both counted from 1, and the style of the string there."""
    return (line << COLUMN_BITS | min(column, LAST_COLUMN)) << STYLE_BITS | style


def compute_mark_after(text: str) -> int:
    """The mark after a text at the beginning of a file."""
    starts = [0, *(match.end() for match in LINE_BREAK.finditer(text))]
    return pack_mark(len(starts), len(text) - starts[-1] + 1)


def unpack_mark(mark: int) -> tuple[int, int]:
    """The line and column of a mark."""
    return mark >> (COLUMN_BITS + STYLE_BITS), mark >> STYLE_BITS & LAST_COLUMN


def unpack_within(mark: int, offset: int) -> tuple[int, int]:
    """The line and column of a character of the string at a mark.

    The result is exact for a string on one line without escapes. For a block (`|`, `>`), it is the start of the
    block.
    """
    line, column = unpack_mark(mark)
    style = mark & STYLE_MASK
    # The opening quote is one character. In a block, lines are folded, so an offset does not tell the line.
    return line, column if style == BLOCK else column + offset + (style == QUOTED)


def format_route(route: Sequence[RouteStep]) -> str:
    """A route in readable form: `hierarchy.co.subordinates[0]`."""
    text = ""
    for step in route:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text.removeprefix(".")


def start_of(marks: Marks) -> int:
    """The mark of the start of a value."""
    return marks if isinstance(marks, int) else marks[0]


def find_mark(marks: Marks, route: Sequence[RouteStep], *, key: bool = False) -> int:
    """The mark of the value (or, with `key`, of the last key) at `route`; if the route ends early, of the nearest
    container.
    """
    key_mark = start_of(marks)
    for step in route:
        entry = _take_step(marks, step)
        if entry is None:
            break
        key_mark, marks = entry
    return key_mark if key else start_of(marks)


def locate_keys(marks: Marks, route: Sequence[RouteStep], names: Sequence[str]) -> list[tuple[int, bool]]:
    """The line of each key in the mapping at `route`, and whether the document writes it.

    If it does not, the line is that of the last existing key on the route.
    """
    around = start_of(marks)
    for step in route:
        entry = _take_step(marks, step)
        if entry is None:
            return [(around >> _LINE_SHIFT, False)] * len(names)
        around, marks = entry
    line = around >> _LINE_SHIFT
    children = None if isinstance(marks, int) else marks[1]
    if not isinstance(children, dict):
        return [(line, False)] * len(names)
    return [(children[name][0] >> _LINE_SHIFT, True) if name in children else (line, False) for name in names]


def find_item_marks(marks: Marks, route: Sequence[RouteStep]) -> list[int]:
    """The marks of all items of the list at `route`; empty if the document writes no list there."""
    for step in route:
        entry = _take_step(marks, step)
        if entry is None:
            return []
        marks = entry[1]
    children = None if isinstance(marks, int) else marks[1]
    return [start_of(child) for child in children] if isinstance(children, list) else []


def has_value(marks: Marks, route: Sequence[RouteStep]) -> bool:
    """Whether a document has a value at `route`."""
    for step in route:
        entry = _take_step(marks, step)
        if entry is None:
            return False
        marks = entry[1]
    return True


def get_children(marks: Marks, *names: str) -> Any:
    """The marks below a mapping or list of a document."""
    for name in names:
        marks = marks[1][name][1]
    return marks[1]


def _take_step(marks: Marks, step: RouteStep) -> tuple[int, Marks] | None:
    """Mark of the key and marks of the value one step further, or None."""
    children = None if isinstance(marks, int) else marks[1]
    if isinstance(children, dict):
        return children.get(step)
    if isinstance(children, list) and isinstance(step, int) and 0 <= step < len(children):
        return start_of(children[step]), children[step]
    return None
