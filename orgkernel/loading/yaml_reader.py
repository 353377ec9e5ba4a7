"""Reads strict YAML 1.2: turns libyaml events into values and marks in one pass.

libyaml scans and parses. This module resolves scalars (`scalars`), checks keys and limits the expansion of aliases,
because PyYAML's own constructors follow YAML 1.1 and silently drop duplicate keys.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.loading.marks import (
    BLOCK,
    COLUMN_BITS,
    LAST_COLUMN,
    PLAIN,
    QUOTED,
    STYLE_BITS,
    Marks,
    compute_mark_after,
    pack_mark,
    start_of,
    unpack_mark,
)
from orgkernel.loading.parsed import (
    DOCUMENT_VALUES,
    MAX_ALIASED_VALUES,
    MAX_ANCHORS,
    MAX_DEPTH,
    MAX_PROBLEMS,
    MAX_VALUES,
    SPLIT,
    DocumentProblem,
    Parsed,
    ParsedText,
    find_unprintable,
)
from orgkernel.loading.python_scalars import resolve_python_scalar
from orgkernel.loading.scalars import (
    MAY_BEGIN_OTHERS,
    NumberOutOfRange,
    resolve_scalar,
)

_Parser: Any
try:
    # `yaml` itself exports the loaders made of it and not the parser.
    _Parser = importlib.import_module("yaml.cyaml").CParser
except (ImportError, AttributeError):  # PyYAML without libyaml: twenty times slower, same events
    _Parser = yaml.SafeLoader

_STANDARD_TAGS = "tag:yaml.org,2002:"
_MAX_DIRECTIVES = 100
_PLAIN = (None, "")
_MERGE = "<<"
_STYLES = {"'": QUOTED, '"': QUOTED, "|": BLOCK, ">": BLOCK}


class _Stop(Exception):
    """Raised when the rest of the text cannot be read."""


class _Anchored(NamedTuple):
    """A value that aliases can stand for."""

    value: Any
    marks: Marks
    size: int
    """Number of values in it, with aliases expanded."""


def parse_foreign_yaml(text: str) -> ParsedText:
    """Parse the YAML of a host that reads it with PyYAML: YAML 1.1, in which `no` is false and merge keys (`<<`) are followed."""
    return _parse(text, _PythonReader(merges=True))


def parse_yaml(text: str, *, as_text: bool = False, merges: bool = False) -> ParsedText:
    """Parse all documents of a YAML text. Never raises for invalid text. Every problem is listed with its mark.

    With `as_text`, every scalar is kept as a string. With `merges`, merge keys of YAML 1.1 are followed; otherwise they
    are refused.
    """
    return _parse(text, _TextReader(merges) if as_text else _Reader(merges))


def _parse(text: str, reader: _Reader) -> ParsedText:
    documents: list[Parsed] = []
    # The problem of what the parser cannot read can be the last one of the limit, so it may stop too.
    with suppress(_Stop):
        try:
            reader.open(text)
            while reader.read_next_document():
                value, marks = reader.read_value(reader.next_event(), 0)
                documents.append(Parsed(value, marks))
                reader.next_event()  # end of the document
        except yaml.MarkedYAMLError as error:
            reader.refuse_syntax(text, error)
        except (yaml.reader.ReaderError, ValueError, OverflowError):
            # A control character; half of a surrogate pair; in the parser in Python, an escape that is not
            # a character.
            reader.refuse_character(text)
    return ParsedText(tuple(documents), tuple(reader.problems))


def _mark(event: Any) -> int:
    start = event.start_mark
    column = start.column + 1
    mark: int = (
        start.line + 1 << COLUMN_BITS | (column if column < LAST_COLUMN else LAST_COLUMN)
    ) << STYLE_BITS
    return mark


class _Reader:
    """One pass over the events of a text."""

    def __init__(self, merges: bool) -> None:
        self.next_event: Callable[[], Any]
        self._merges = merges
        self._merged: dict[int, list[tuple[Any, Marks]]] = {}
        """The mappings to merge into a mapping that is being read, by its identity, the one that wins first."""
        self.problems: list[DocumentProblem] = []
        self._anchors: dict[str, _Anchored | None] = {}
        self._aliased = 0
        # The number of values so far, including those that aliases stand for. It is counted only if a limit could be
        # reached.
        self._values = 0
        self._expanded = 0

    def open(self, text: str) -> None:
        """Begin reading. The constructor of a parser can already refuse the text."""
        if text.count("\n%") > _MAX_DIRECTIVES:  # libyaml compares each with each
            self.refuse(
                row.BAD_YAML,
                pack_mark(1, 1),
                f"not valid YAML: more than {_MAX_DIRECTIVES} lines begin with `%`",
            )
            raise _Stop
        self._get_event = _Parser(text).get_event
        # Every value has at least one character, and an alias needs an anchor.
        may_meet_limits = len(text) > MAX_VALUES or "&" in text
        self.next_event = self._count_event if may_meet_limits else self._get_event

    def _count_event(self) -> Any:
        """The next event. Events that begin a value are counted."""
        event = self._get_event()
        if isinstance(event, NodeEvent | DocumentStartEvent):
            self._values += DOCUMENT_VALUES if event.__class__ is DocumentStartEvent else 1
            if self._values > MAX_VALUES:
                self.refuse(
                    row.TOO_LARGE, _mark(event), f"the file contains more than {MAX_VALUES:,} values", SPLIT
                )
                raise _Stop
        return event

    def read_next_document(self) -> bool:
        self._anchors.clear()
        while True:
            event = self.next_event()
            if isinstance(event, DocumentStartEvent):
                return True
            if isinstance(event, StreamEndEvent):
                return False

    def refuse(self, row: row.Row, mark: int, message: str, help: str = "") -> None:
        self.problems.append(DocumentProblem(row, mark, message, help))
        if len(self.problems) == MAX_PROBLEMS:
            raise _Stop

    def refuse_syntax(self, text: str, error: yaml.MarkedYAMLError) -> None:
        mark = error.problem_mark or error.context_mark
        # If the last line has no line break, libyaml places the end of the text on the line after it.
        place = (
            min(pack_mark(mark.line + 1, mark.column + 1), compute_mark_after(text))
            if mark
            else pack_mark(1, 1)
        )
        problem = (error.problem or "the text cannot be parsed").rstrip(".")
        while_doing = f" {error.context}" if error.context else ""
        if while_doing and mark and error.context_mark and error.context_mark.line != mark.line:
            while_doing += f" that begins on line {error.context_mark.line + 1}"
        help = ""
        if "cannot start any token" in problem:
            help = (
                "indent with spaces, not tabs, and put text that starts with `@`, `%` or a backtick in quotes"
            )
        elif "mapping values are not allowed" in problem:
            help = "put text that contains `: ` in quotes, or check the indentation of the line above"
        self.refuse(row.BAD_YAML, place, f"not valid YAML: {problem}{while_doing}", help)

    def refuse_character(self, text: str) -> None:
        """Refuse a character in a text that `files.decode` would have refused. The parsers report its offset or
        nothing.
        """
        match = find_unprintable(text)
        place = compute_mark_after(text[: match.start()]) if match else pack_mark(1, 1)
        what = f"the character U+{ord(match[0]):04X} is" if match else "a character of the text is"
        self.refuse(row.CHARACTER, place, f"{what} not allowed")

    def read_value(self, event: Any, depth: int) -> tuple[Any, Marks]:
        """Read the value that begins with an event. Returns it and its marks."""
        kind = event.__class__
        anchor, tag = event.anchor, None if kind is AliasEvent else event.tag
        if kind is ScalarEvent and anchor is None and tag is None:
            return self._read_scalar(event)
        mark = _mark(event)
        if kind is AliasEvent:
            return self._read_alias(str(anchor), mark)
        if tag is not None:
            shown = "!!" + tag.removeprefix(_STANDARD_TAGS) if tag.startswith(_STANDARD_TAGS) else tag
            self.refuse(row.TAG, mark, f"a value has the tag {quote(shown)}")
        before = self._values + self._expanded
        if anchor is not None:
            if len(self._anchors) >= MAX_ANCHORS:
                self.refuse(
                    row.TOO_LARGE, mark, f"the document contains more than {MAX_ANCHORS:,} anchors", SPLIT
                )
                raise _Stop
            self._anchors[anchor] = None  # open: an alias to it now would be a cycle
        if kind is ScalarEvent:
            read: tuple[Any, Marks] = (
                (event.value, mark | _STYLES.get(event.style or "", PLAIN))
                if tag
                else self._read_scalar(event)
            )
        elif depth >= MAX_DEPTH:
            self.refuse(row.TOO_DEEP, mark, f"values are nested more than {MAX_DEPTH} levels deep")
            raise _Stop
        elif kind is MappingStartEvent:
            read = self._read_mapping(mark, depth + 1)
        else:
            read = self._read_sequence(mark, depth + 1)
        if anchor is not None:
            self._anchors[anchor] = _Anchored(*read, self._values + self._expanded - before + 1)
        return read

    def _read_scalar(self, event: Any) -> tuple[Any, int]:
        """Value and mark of a scalar without a tag. Nearly all values are of this kind."""
        start = event.start_mark
        column = start.column + 1
        mark = (
            start.line + 1 << COLUMN_BITS | (column if column < LAST_COLUMN else LAST_COLUMN)
        ) << STYLE_BITS
        value = event.value
        style = event.style
        if style:
            return value, mark | _STYLES[style]
        if not value or value[0] in MAY_BEGIN_OTHERS:
            try:
                value = resolve_scalar(value)
            except NumberOutOfRange:
                self.refuse(
                    row.NUMBER, mark, f"the number {quote(value)} does not fit in 64 bits or is not finite"
                )
                return 0, mark
        return value, mark

    def _read_alias(self, anchor: str, mark: int) -> tuple[Any, Marks]:
        if anchor not in self._anchors:
            self.refuse(
                row.UNDEFINED_ALIAS, mark, f"the alias {quote('*' + anchor)} refers to an anchor that is not defined before it",
                "put text that begins with `*` in quotes",
            )  # fmt: skip
            return None, mark
        read = self._anchors[anchor]
        if read is None:
            self.refuse(
                row.ALIAS_CYCLE, mark, f"the alias {quote('*' + anchor)} refers to a value that contains it"
            )
            return None, mark
        self._aliased += read.size
        self._expanded += read.size - 1
        if self._aliased > MAX_ALIASED_VALUES:
            self.refuse(
                row.ALIAS_EXPANSION, mark,
                f"the aliases of the file expand to more than {MAX_ALIASED_VALUES:,} values",
            )  # fmt: skip
            raise _Stop
        return read.value, read.marks

    def _read_sequence(self, mark: int, depth: int) -> tuple[Any, Marks]:
        values: list[Any] = []
        marks: list[Marks] = []
        next_event, read_scalar = self.next_event, self._read_scalar
        while (event := next_event()).__class__ is not SequenceEndEvent:
            if event.__class__ is ScalarEvent and event.anchor is None and event.tag is None:
                value, value_marks = read_scalar(event)
            else:
                value, value_marks = self.read_value(event, depth)
            values.append(value)
            marks.append(value_marks)
        return tuple(values), (mark, marks)

    def _read_mapping(self, mark: int, depth: int) -> tuple[Any, Marks]:
        values: dict[str, Any] = {}
        marks: dict[str, tuple[int, Marks]] = {}
        next_event, read_scalar = self.next_event, self._read_scalar
        while (key_event := next_event()).__class__ is not MappingEndEvent:
            if key_event.__class__ is ScalarEvent and key_event.anchor is None and key_event.tag is None:
                key, key_marks = read_scalar(key_event)
            else:
                key, key_marks = self.read_value(key_event, depth)
            event = next_event()
            if event.__class__ is ScalarEvent and event.anchor is None and event.tag is None:
                value, value_marks = read_scalar(event)
            else:
                value, value_marks = self.read_value(event, depth)
            if key.__class__ is str and key not in values and key != _MERGE:
                values[key] = value
                marks[key] = (
                    key_marks if key_event.__class__ is ScalarEvent else _mark(key_event),
                    value_marks,
                )
            else:
                self._read_key(key_event, key, start_of(key_marks), value, value_marks, values, marks)
        if self._merged:
            for merged, merged_marks in self._merged.pop(id(values), ()):
                values |= {key: each for key, each in merged.items() if key not in values}
                marks |= {key: each for key, each in merged_marks[1].items() if key not in marks}
        return values, (mark, marks)

    def _read_key(
        self, event: Any, key: Any, mark: int, value: Any, value_marks: Marks, values: Any, marks: Any
    ) -> None:
        """Add a pair to a mapping, or refuse its key."""
        key_mark = _mark(event) if event.__class__ is AliasEvent else mark
        if event.__class__ is ScalarEvent and event.value == _MERGE and event.style in _PLAIN:
            if self._merges:
                self._add_merged(values, value, value_marks, key_mark)
                return
            self.refuse(
                row.MERGE_KEY, key_mark, "the mapping uses the merge key `<<`", "write the values out"
            )
        elif not isinstance(key, str):
            shown = getattr(event, "value", None)
            what = f"the key {quote(shown)} is not a string" if shown else "a key is not a string"
            self.refuse(row.NON_STRING_KEY, key_mark, what, "put the key in quotes")
        elif key in values:
            line, _ = unpack_mark(marks[key][0])
            self.refuse(row.DUPLICATE_KEY, key_mark, f"the key {quote(key)} is already on line {line}")
        else:
            values[key] = value
            marks[key] = (key_mark, value_marks)

    def _add_merged(self, values: Any, value: Any, marks: Marks, key_mark: int) -> None:
        """Note the mapping, or the list of mappings, that a merge key names."""
        pairs = [*zip(value, marks[1], strict=True)] if isinstance(value, tuple) else [(value, marks)]
        if not all(isinstance(each, dict) for each, _ in pairs):
            self.refuse(row.MERGE_KEY, key_mark, "the merge key `<<` names something other than mappings")
            return
        self._merged.setdefault(id(values), []).extend(pairs)


class _TextReader(_Reader):
    """A reader that keeps every scalar as a string."""

    def _read_scalar(self, event: Any) -> tuple[Any, int]:
        return event.value, _mark(event) | _STYLES.get(event.style or "", PLAIN)


class _PythonReader(_Reader):
    """A reader that resolves scalars as PyYAML does."""

    def _read_scalar(self, event: Any) -> tuple[Any, int]:
        mark, value = _mark(event), event.value
        if event.style:
            return value, mark | _STYLES[event.style]
        try:
            return resolve_python_scalar(value), mark
        except NumberOutOfRange:
            text = f"the value {quote(value)} is a number or date that does not fit"
            self.refuse(row.NUMBER, mark, text, "put the value in quotes if it is a string")
            return 0, mark
