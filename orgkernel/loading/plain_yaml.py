"""Plainly written YAML, line by line: block mappings and lists with one value a line, as nearly every document is.

libyaml takes longer to make its events than all of this takes, and most lines of an organisation's files also stand in
others of its files (`pace_plan:`, `    - browser_agent`), so what a line says is read once. Whatever is not certain to
mean here what it means to libyaml – text over several lines, anchors, tags, a second document, anything refused – is
left to `yaml_reader`; the law `plain_yaml_agrees_with_libyaml` compares the two on values and marks.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple

from orgkernel.loading.marks import BLOCK, QUOTED, Marks, pack_mark
from orgkernel.loading.parsed import MAX_VALUES, Parsed
from orgkernel.loading.scalars import NumberOutOfRange, resolve_scalar

_LONGEST_LINE = 1_000
_MOST_AROUND = 20
_REMEMBERED = 16_384

# What a line is. Those from `_ITEM` on begin with a dash.
_SKIP, _START, _PAIR, _OPEN, _WORDS, _BLOCK, _OTHER, _ITEM, _ITEM_PAIR, _ITEM_OPEN = range(10)
_WITHOUT_DASH = {_ITEM_PAIR: _PAIR, _ITEM_OPEN: _OPEN}

_PRINTABLE = "\x20-\x7e\xa1-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
_LINE = re.compile(
    rf"(?P<space>\x20*)(?P<dash>-\x20+)?(?:(?P<key>[A-Za-z_][A-Za-z0-9_.-]*):(?:\x20+|\Z))?(?P<rest>[{_PRINTABLE}]*)"
)
_COMMENT = r"\x20*(?:\x20#.*)?"
_QUOTED = re.compile(rf"""(?:"([^"\\]*)"|'([^']*)'){_COMMENT}""")
# A plain value ends before a comment; the first character is none that YAML gives a meaning.
_PLAIN = re.compile(r"((?:[A-Za-z0-9_.+~/($]|-[0-9.]|[^\x00-\xff])(?:[^ ]|\x20+[^ #])*)\x20*(?:\x20#.*)?")
_MAPS = re.compile(r":(?:\x20|\Z)")
_WORD = r"[A-Za-z_][A-Za-z0-9_.-]*"
_IN_BRACKETS = re.compile(rf"\[(\x20*(?:{_WORD}(?:\x20*,\x20*{_WORD})*\x20*)?)\]{_COMMENT}")
_EACH_WORD = re.compile(_WORD)
_HEAD = re.compile(rf"([|>]-?){_COMMENT}")
_TEXT = re.compile(rf"[{_PRINTABLE}]*")


class _Line(NamedTuple):
    """What a line says; its marks are those it would have as line 0."""

    kind: int
    column: int = 0
    """Number of characters before it."""
    key: str = ""
    key_mark: int = 0
    value: Any = None
    mark: int = 0
    """Of the value; of an open key, the place behind its colon, where its null would be."""
    inner: Any = 0
    """Number of characters before the mapping that begins in a list; of words in brackets, their marks."""


_NEXT_LINE = pack_mark(1, 0)
_NOT_PLAIN = _Line(_OTHER)


def parse_plain(text: str) -> Parsed | None:
    """The one document of a text; None where it takes libyaml to read it."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")  # the other uses of CR are in no plain line
    lines = text.split("\n")
    # A value takes a character, so a text within the limit holds no more values than allowed.
    if len(text) > MAX_VALUES or max(map(len, lines)) > _LONGEST_LINE:
        return None
    read = map(_read_line, lines)
    before = 0
    started = False
    for first in read:
        if first.kind == _START and not started:
            started = True
        elif first.kind != _SKIP:
            return None if first.column else _build(chain((first,), read), lines, before)
        before += 1
    return None


def _build(read: Iterator[_Line], lines: list[str], before: int) -> Parsed | None:
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
    for kind, column, key, key_mark, value, mark, inner in read:
        line += _NEXT_LINE
        if column == level and not opened:
            if kind == _ITEM and in_list:
                values.append(value)
                marks.append(line + mark)
                continue
            if kind == _PAIR and not in_list and key not in values:
                values[key] = value
                marks[key] = (line + key_mark, line + mark)
                continue
        if kind == _SKIP:
            continue
        if kind == _OTHER or kind == _START or len(around) > _MOST_AROUND:
            return None
        is_item = kind >= _ITEM
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
        if kind == _ITEM:
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
            kind = _WITHOUT_DASH[kind]
        if key in values:
            return None
        if kind == _PAIR:
            values[key] = value
            marks[key] = (line + key_mark, line + mark)
        elif kind == _OPEN:
            opened, opened_mark, null_mark = key, line + key_mark, line + mark
        elif kind == _WORDS:
            values[key] = value
            marks[key] = (line + key_mark, (line + mark, [line + each for each in inner]))
        else:
            text = _read_block(lines, line // _NEXT_LINE, level, value)
            if text is None:
                return None
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
    return Parsed(root, (first_mark, root_marks))


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


@lru_cache(maxsize=_REMEMBERED)
def _read_line(line: str) -> _Line:
    """What one line says by itself."""
    if line == "---":
        return _Line(_START)
    match = _LINE.fullmatch(line)
    if match is None:
        return _NOT_PLAIN
    space, dash, key, rest = match.groups()
    column, at = len(space), match.start("rest")
    if key is None:
        if not dash and (not rest or rest[0] == "#"):
            return _Line(_SKIP)
        scalar = _read_scalar(rest, at) if dash else None
        return _Line(_ITEM, column, "", 0, *scalar) if scalar else _NOT_PLAIN
    if not isinstance(resolve_scalar(key), str):
        return _NOT_PLAIN
    key_mark = pack_mark(0, match.start("key") + 1)
    inner = match.start("key")
    if not rest or rest[0] == "#":
        kind = _ITEM_OPEN if dash else _OPEN
        return _Line(kind, column, key, key_mark, None, pack_mark(0, match.end("key") + 2), inner)
    scalar = _read_scalar(rest, at)
    if scalar:
        return _Line(_ITEM_PAIR if dash else _PAIR, column, key, key_mark, *scalar, inner)
    if dash:
        return _NOT_PLAIN
    if head := _HEAD.fullmatch(rest):
        return _Line(_BLOCK, column, key, key_mark, head[1], pack_mark(0, at + 1, BLOCK))
    words = _IN_BRACKETS.fullmatch(rest)
    if not words:
        return _NOT_PLAIN
    found = list(_EACH_WORD.finditer(words[1]))
    value = tuple(resolve_scalar(word[0]) for word in found)
    begins = tuple(pack_mark(0, at + 2 + word.start()) for word in found)
    return _Line(_WORDS, column, key, key_mark, value, pack_mark(0, at + 1), begins)


def _read_scalar(rest: str, at: int) -> tuple[Any, int] | None:
    """Value and mark of a scalar behind `at` characters; None where it is none, or not certainly one."""
    if match := _QUOTED.fullmatch(rest):
        return match[1] if match[2] is None else match[2], pack_mark(0, at + 1, QUOTED)
    match = _PLAIN.fullmatch(rest)
    if match is None or _MAPS.search(match[1]):
        return None
    try:
        return resolve_scalar(match[1]), pack_mark(0, at + 1)
    except NumberOutOfRange:
        return None
