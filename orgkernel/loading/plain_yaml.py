"""Plainly written YAML, line by line: block mappings and lists with one value a line, as nearly every document is.

libyaml takes longer to make its events than all of this takes, and most lines of an organization's files also stand in
others of its files (`pace_plan:`, `    - browser_agent`), so what a line says is read once. Whatever is not certain to
mean here what it means to libyaml – text over several lines, anchors, tags, a second document, anything refused – is
left to `yaml_reader`; the law `plain_yaml_agrees_with_libyaml` compares the two on values and marks.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from orgkernel.loading.marks import Marks, pack_mark
from orgkernel.loading.parsed import MAX_VALUES, Parsed
from orgkernel.loading.plain_lines import (
    IS_ITEM,
    IS_OPEN,
    IS_OTHER,
    IS_PAIR,
    IS_SKIP,
    IS_START,
    IS_WORDS_IN_BRACKETS,
    LOUD,
    PRINTABLE,
    WITHOUT_DASH,
    Line,
    read_line,
)
from orgkernel.runtime.secret_shapes import is_quiet

_LONGEST_LINE = 1_000
_MOST_AROUND = 20
_NEXT_LINE = pack_mark(1, 0)
_TEXT = re.compile(rf"[{PRINTABLE}]*")


def parse_plain(text: str) -> Parsed | None:
    """The one document of a text; None where it takes libyaml to read it."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")  # the other uses of CR are in no plain line
    lines = text.split("\n")
    # A value takes a character, so a text within the limit holds no more values than allowed.
    if len(text) > MAX_VALUES or max(map(len, lines)) > _LONGEST_LINE:
        return None
    read = map(read_line, lines)
    started = False
    for before, first in enumerate(read):
        if first[0] == IS_START and not started:
            started = True
        elif first[0] % LOUD != IS_SKIP:
            return None if first[1] else _build(chain((first,), read), lines, before)
    return None


def _build(  # noqa: PLR0915  # one loop: a call for each line would cost as much as the line
    read: Iterator[Line], lines: list[str], before: int
) -> Parsed | None:
    """Values and marks from the first line of a mapping on; `values` and `marks` are those of the innermost container."""
    level, in_list = 0, False
    line = before * _NEXT_LINE
    root: dict[str, Any] = {}
    root_marks: dict[str, tuple[int, Marks]] = {}
    values: Any = root
    marks: Any = root_marks
    # Where the innermost list belongs once it is complete, and the containers around the innermost.
    home, name = root, ""
    around: list[tuple[int, bool, Any, Any, dict[str, Any], str]] = []
    opened, opened_mark, null_mark = "", 0, 0
    quiet = True
    for kind, column, key, key_mark, value, mark, inner in read:
        line += _NEXT_LINE
        if column == level and not opened:
            if kind == IS_ITEM and in_list:
                values.append(value)
                marks.append(line + mark)
                continue
            if kind == IS_PAIR and not in_list and key not in values:
                values[key] = value
                marks[key] = (line + key_mark, line + mark)
                continue
        if kind >= LOUD:
            kind, quiet = kind - LOUD, False  # noqa: PLW2901
        if kind == IS_SKIP:
            continue
        if kind in (IS_OTHER, IS_START) or len(around) > _MOST_AROUND:
            return None
        is_item = kind >= IS_ITEM
        if opened:
            if column > level or (column == level and is_item):
                around.append((level, in_list, values, marks, home, name))
                level, in_list = column, is_item
                inside: tuple[Any, Any] = ([], []) if is_item else ({}, {})
                begin = line + (pack_mark(0, column + 1) if is_item else key_mark)
                values[opened], marks[opened] = inside[0], (opened_mark, (begin, inside[1]))
                home, name = values, opened
                values, marks = inside
            else:
                values[opened], marks[opened] = None, (opened_mark, null_mark)
            opened = ""
        while column != level or in_list != is_item:
            if column > level or (is_item and column == level) or not around:
                return None
            if in_list:
                home[name] = tuple(values)
            level, in_list, values, marks, home, name = around.pop()
        if kind == IS_ITEM:
            values.append(value)
            marks.append(line + mark)
            continue
        if is_item:
            around.append((level, in_list, values, marks, home, name))
            level, in_list = inner, False
            begun: tuple[Any, Any] = ({}, {})
            values.append(begun[0])
            marks.append((line + key_mark, begun[1]))
            values, marks = begun
        form = WITHOUT_DASH.get(kind, kind)
        if key in values:
            return None
        if form == IS_PAIR:
            values[key] = value
            marks[key] = (line + key_mark, line + mark)
        elif form == IS_OPEN:
            opened, opened_mark, null_mark = key, line + key_mark, line + mark
        elif form == IS_WORDS_IN_BRACKETS:
            values[key] = value
            marks[key] = (line + key_mark, (line + mark, [line + each for each in inner]))
        else:
            text = _read_block(lines, line // _NEXT_LINE, level, value)
            if text is None:
                return None
            quiet = quiet and is_quiet(text[0])
            values[key] = text[0]
            marks[key] = (line + key_mark, line + mark)
            line += text[1] * _NEXT_LINE
            deque(islice(read, text[1]), 0)
    if opened:
        values[opened], marks[opened] = None, (opened_mark, null_mark)
    while around:
        if in_list:
            home[name] = tuple(values)
        level, in_list, values, marks, home, name = around.pop()
    first_mark, _ = next(iter(root_marks.values()))
    return Parsed(root, (first_mark, root_marks), quiet)


def _read_block(lines: list[str], at: int, level: int, head: str) -> tuple[str, int] | None:
    """The text of a block (`|`, `>`) below a key, and its number of lines; None where blank lines or indents count."""
    indent = len(lines[at]) - len(lines[at].lstrip(" ")) if at < len(lines) else 0
    if indent <= level:
        return None
    space = " " * indent
    end = at
    while (
        end < len(lines) and lines[end].startswith(space) and lines[end][indent : indent + 1] not in ("", " ")
    ):
        end += 1
    after = end
    while after < len(lines) and len(lines[after]) <= indent and not lines[after].strip(" "):
        after += 1
    if end in (at, len(lines)) or (after < len(lines) and lines[after].startswith(space)):
        return None
    found = [line[indent:] for line in lines[at:end]]
    if not all(map(_TEXT.fullmatch, found)):
        return None
    text = ("\n" if head[0] == "|" else " ").join(found)
    return (text if head[1:] else text + "\n"), end - at
