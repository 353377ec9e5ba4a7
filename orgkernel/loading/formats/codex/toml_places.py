"""Reads TOML with the position of each key. The values are those of Python's parser, which has no positions."""

from __future__ import annotations

import re
import tomllib
from typing import Any, NamedTuple

from orgkernel.diagnostics import catalog as row
from orgkernel.loading.marks import LINE_BREAK, pack_mark
from orgkernel.loading.parsed import DocumentProblem
from orgkernel.runtime.bounded_toml import parse_bounded_toml

_TABLE = re.compile(r"\s*\[\[?([^\[\]]+)\]\]?\s*(?:#.*)?\Z")
_KEY = re.compile(r"""\s*("[^"]*"|'[^']*'|[A-Za-z0-9_-]+(?:\s*\.\s*(?:"[^"]*"|[A-Za-z0-9_-]+))*)\s*=\s*""")
_PART = re.compile(r""""([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+)""")
_BLOCKS = ('"""', "'''")
_PLACE = re.compile(r"at line (\d+), column (\d+)")

TomlRoute = tuple[str, ...]


class TomlFile(NamedTuple):
    """The values of a file, and the mark of the key and of the value for each route."""

    value: dict[str, Any]
    marks: dict[TomlRoute, tuple[int, int]]
    problem: DocumentProblem | None = None

    def get_marks(self, *route: str) -> tuple[int, int]:
        """The marks of a key and its value, or of the innermost table around it."""
        while route and route not in self.marks:
            route = route[:-1]
        first = pack_mark(1, 1)
        return self.marks.get(route, (first, first))


def parse_toml(text: str) -> TomlFile:
    """The values of a TOML text with their positions. If it is not valid TOML, the result has no values and a
    `problem`.
    """
    try:
        value = parse_bounded_toml(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        mark = pack_mark(int(place[1]), int(place[2])) if place else pack_mark(1, 1)
        message = _PLACE.sub("", str(error)).replace("()", "").strip()
        text = f"the file is not TOML: {message[:1].lower()}{message[1:]}"
        return TomlFile({}, {}, DocumentProblem(row.INVALID_VALUE, mark, text))
    return TomlFile(value, _find_marks(text))


def _find_marks(text: str) -> dict[TomlRoute, tuple[int, int]]:
    """The marks of keys at the beginning of lines, outside of multi-line strings."""
    marks: dict[TomlRoute, tuple[int, int]] = {}
    table: TomlRoute = ()
    inside = ""
    for number, line in enumerate(LINE_BREAK.split(text), 1):
        rest = line
        if inside:
            _, fence, rest = line.partition(inside)
            if fence:
                inside = ""
            continue
        if header := _TABLE.match(line):
            table = _split(header[1])
            at = pack_mark(number, line.index("[") + 1)
            marks.setdefault(table, (at, at))
        elif key := _KEY.match(line):
            at = pack_mark(number, len(line) - len(line.lstrip()) + 1)
            marks.setdefault((*table, *_split(key[1])), (at, pack_mark(number, key.end() + 1)))
            rest = line[key.end() :]
        for block in _BLOCKS:
            if rest.count(block) % 2:
                inside = block
    return marks


def _split(name: str) -> TomlRoute:
    return tuple(each[1] or each[2] or each[3] or "" for each in _PART.finditer(name))
