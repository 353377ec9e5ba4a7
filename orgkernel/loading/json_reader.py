"""Strict JSON (RFC 8259) with marks.

`.json` files need a separate reader. libyaml refuses the default output of `json.dumps` (surrogate pairs), raw DEL,
keys over about a thousand characters and `"a"` followed by `:` on the next line. The standard library's scanner reads
strings, but its decoder reports no positions.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]  # not in typeshed
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.loading.marks import (
    COLUMN_BITS,
    LAST_COLUMN,
    LINE_BREAK,
    PLAIN,
    QUOTED,
    STYLE_BITS,
    Marks,
    pack_mark,
    unpack_mark,
)
from orgkernel.loading.parsed import (
    MAX_DEPTH,
    MAX_LINES,
    MAX_PROBLEMS,
    MAX_VALUES,
    SPLIT,
    DocumentProblem,
    Parsed,
    ParsedText,
)
from orgkernel.loading.scalars import NumberOutOfRange, parse_bounded_float, parse_bounded_integer
from orgkernel.runtime.lazy_patterns import lazy_pattern

_SPACE = lazy_pattern(r"[ \t\n\r]*")
# Nearly every string has no escapes. The scanner reads any other string and reports what is wrong with it.
_USUAL_TEXT = lazy_pattern(r'"([^"\\\x00-\x1f\ud800-\udfff]*)"')
_USUAL_KEY = lazy_pattern(r'"([^"\\\x00-\x1f\ud800-\udfff]*)"[ \t\n\r]*:[ \t\n\r]*')
_USUAL_COMMA = lazy_pattern(r"[ \t\n\r]*,[ \t\n\r]*(?=[^\]} \t\n\r])")
_NUMBER = lazy_pattern(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?", re.ASCII)
_WORD = lazy_pattern(r"true|false|null")
_WORDS = {"true": True, "false": False, "null": None}
_SURROGATE = lazy_pattern(r"[\ud800-\udfff]")


# Messages of the standard library's scanner, and orgkernel's words for them.
_STRING_PROBLEMS = {
    "Unterminated string": ("the quoted string that begins here is not closed", ""),
    "Invalid control character": (
        "a string contains a control character",
        "write a line break as `\\n`, a tab as `\\t`",
    ),
    "Invalid \\escape": ("the backslash does not begin a valid escape", "write a backslash as `\\\\`"),
    "Invalid \\uXXXX": ("`\\u` is not followed by four hexadecimal digits", ""),
}


class _Stop(Exception):
    """Raised when the rest of the text cannot be read."""


def parse_json(text: str) -> ParsedText:
    """Parse a JSON text. Never raises for invalid text. Every problem is listed with its mark."""
    # Counted before anything is parsed: the reader keeps the start of each line, so empty lines alone could fill the memory.
    if text.count("\n") + text.count("\r") > MAX_LINES:
        message = f"the file contains more than {MAX_LINES:,} lines"
        return ParsedText((), (DocumentProblem(row.TOO_LARGE, pack_mark(1, 1), message, SPLIT),))
    reader = _Reader(text)
    try:
        document = reader.read_document()
    except _Stop:
        return ParsedText((), tuple(reader.problems))
    return ParsedText((document,) if document else (), tuple(reader.problems))


class _Reader:
    """One pass over a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = [0, *(match.end() for match in LINE_BREAK.finditer(text))]
        self.problems: list[DocumentProblem] = []
        self._values = 0

    def read_document(self) -> Parsed | None:
        at = self._skip(0)
        if at == len(self._text):
            return None
        value, marks, at = self._read_value(at, 0)
        if self._skip(at) != len(self._text):
            raise self._build_error(self._skip(at), "the file continues after the document")
        return Parsed(value, marks)

    def _mark(self, at: int, style: int = PLAIN) -> int:
        line = bisect_right(self._lines, at)
        column = at - self._lines[line - 1] + 1
        return (line << COLUMN_BITS | (column if column < LAST_COLUMN else LAST_COLUMN)) << STYLE_BITS | style

    def _skip(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        return match.end() if match else at

    def _refuse(self, row: row.Row, mark: int, message: str, help: str = "") -> None:
        self.problems.append(DocumentProblem(row, mark, message, help))
        # A file that is not JSON at all would otherwise fill the report, and the first problems are the cause of the
        # others.
        if len(self.problems) == MAX_PROBLEMS:
            raise _Stop

    def _build_error(self, at: int, problem: str, help: str = "") -> _Stop:
        if at >= len(self._text):
            problem, help = "the file ends in the middle of the document", ""
        self._refuse(row.BAD_JSON, self._mark(min(at, len(self._text))), f"not valid JSON: {problem}", help)
        return _Stop()

    def _read_value(self, at: int, depth: int) -> tuple[Any, Marks, int]:
        self._values += 1  # and one for each key, as in YAML
        if self._values > MAX_VALUES:
            self._refuse(
                row.TOO_LARGE, self._mark(at), f"the file contains more than {MAX_VALUES:,} values", SPLIT
            )
            raise _Stop
        # Nearly all strings have neither escapes nor control characters, and one match of a pattern is faster than the
        # scanner.
        if usual := _USUAL_TEXT.match(self._text, at):
            return usual[1], self._mark(at, QUOTED), usual.end()
        first = self._text[at : at + 1]
        if first == '"':
            value, end = self._read_string(at)
            return value, self._mark(at, QUOTED), end
        mark = self._mark(at)
        if first in ("{", "["):
            if depth >= MAX_DEPTH:
                self._refuse(row.TOO_DEEP, mark, f"values are nested more than {MAX_DEPTH} levels deep")
                raise _Stop
            return self._read_object(at, depth + 1) if first == "{" else self._read_array(at, depth + 1)
        if match := _WORD.match(self._text, at):
            return _WORDS[match[0]], mark, match.end()
        if match := _NUMBER.match(self._text, at):
            return self._parse_number(match, mark), mark, match.end()
        help = "remove the comment; JSON has no comments" if first in ("/", "#") else ""
        raise self._build_error(at, f"a value cannot start with {quote(first)}", help)

    def _parse_number(self, match: re.Match[str], mark: int) -> int | float:
        try:
            if match[2] or match[3]:
                return parse_bounded_float(match[0])
            return parse_bounded_integer(match[0], 10)
        except NumberOutOfRange:
            self._refuse(
                row.NUMBER, mark, f"the number {quote(match[0])} does not fit in 64 bits or is not finite"
            )
            # A number stands in for it, so the file gives no second problem about the type of this value.
            return 0

    def _read_string(self, at: int) -> tuple[str, int]:
        try:
            value, end = scanstring(self._text, at + 1, True)
        except JSONDecodeError as error:
            problem, help = next(
                (
                    explanation
                    for known, explanation in _STRING_PROBLEMS.items()
                    if error.msg.startswith(known)
                ),
                (error.msg, ""),
            )
            raise self._build_error(error.pos, problem, help) from None
        if _SURROGATE.search(value):
            self._refuse(row.CHARACTER, self._mark(at), "the text contains half of a surrogate pair")
            # Replaced, because the rest of the file is read on, and such a string could not be encoded in any answer.
            value = _SURROGATE.sub("\ufffd", value)
        return value, end

    def _read_array(self, at: int, depth: int) -> tuple[Any, Marks, int]:
        mark = self._mark(at)
        values: list[Any] = []
        marks: list[Marks] = []
        at = self._skip(at + 1)
        if self._text[at : at + 1] == "]":
            return (), (mark, marks), at + 1
        while True:
            value, value_marks, at = self._read_value(at, depth)
            values.append(value)
            marks.append(value_marks)
            at, closed = self._find_next_item(at, "]")
            if closed:
                return tuple(values), (mark, marks), at

    def _read_object(self, at: int, depth: int) -> tuple[Any, Marks, int]:
        mark = self._mark(at)
        values: dict[str, Any] = {}
        marks: dict[str, tuple[int, Marks]] = {}
        at = self._skip(at + 1)
        if self._text[at : at + 1] == "}":
            return values, (mark, marks), at + 1
        while True:
            key_mark = self._mark(at, QUOTED)
            self._values += 1
            if usual := _USUAL_KEY.match(self._text, at):
                key, at = usual[1], usual.end()
            else:
                key, at = self._read_key(at)
            value, value_marks, at = self._read_value(at, depth)
            if key in values:
                line, _ = unpack_mark(marks[key][0])
                self._refuse(row.DUPLICATE_KEY, key_mark, f"the key {quote(key)} is already on line {line}")
            else:
                values[key] = value
                marks[key] = (key_mark, value_marks)
            at, closed = self._find_next_item(at, "}")
            if closed:
                return values, (mark, marks), at

    def _read_key(self, at: int) -> tuple[str, int]:
        """A key, and the position of its value."""
        if self._text[at : at + 1] != '"':
            raise self._build_error(at, "a key in double quotes is expected")
        key, at = self._read_string(at)
        at = self._skip(at)
        if self._text[at : at + 1] != ":":
            raise self._build_error(at, f"`:` is expected after the key {quote(key)}")
        return key, self._skip(at + 1)

    def _find_next_item(self, at: int, closing: str) -> tuple[int, bool]:
        """The position of the next item or of the end of the container, and whether it is the end."""
        if usual := _USUAL_COMMA.match(self._text, at):
            return usual.end(), False
        at = self._skip(at)
        character = self._text[at : at + 1]
        if character == closing:
            return at + 1, True
        if character != ",":
            raise self._build_error(at, f"`,` or `{closing}` is expected")
        at = self._skip(at + 1)
        if self._text[at : at + 1] == closing:
            raise self._build_error(
                at, f"a value is expected after `,`, not `{closing}`", "remove the trailing comma"
            )
        return at, False
