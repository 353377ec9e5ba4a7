"""The result of the readers of YAML and JSON."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.catalog import Row
from orgkernel.diagnostics.wording import quote
from orgkernel.loading.marks import Marks
from orgkernel.runtime.lazy_patterns import lazy_pattern

# Budgets, checked while parsing and before anything is built from the values.
MAX_DEPTH = 40
MAX_ALIASED_VALUES = 100_000
MAX_VALUES = 100_000
MAX_ANCHORS = 10_000
MAX_LINES = 500_000
"""Maximum number of lines of JSON, whose reader keeps the start of each line."""
SPLIT = "split the documents into several files"
"""The help for a file that exceeds one of these."""
# A document costs as much as so many values more.
DOCUMENT_VALUES = 5
# Findings about one text: a hundred of them usually have a single cause.
MAX_PROBLEMS = 100

# YAML 1.2 §5.1 allows a line separator inside a line, but YAML 1.1 and libyaml end the line there. It is refused, so
# line numbers mean the same to every reader.
_UNPRINTABLE = lazy_pattern(
    "[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


def find_unprintable(text: str) -> re.Match[str] | None:
    """The first character that is not allowed in any file."""
    # All characters that Python can print are allowed. The expression takes milliseconds to compile, and most
    # organizations never need it.
    if text.replace("\n", "").replace("\t", "").replace("\r", "").isprintable():
        return None
    return _UNPRINTABLE.search(text)


class Parsed(msgspec.Struct, frozen=True):
    """One document of a file: its values, with tuples for sequences, and their marks."""

    value: Any
    marks: Marks


class DocumentProblem(msgspec.Struct, frozen=True):
    """A problem of a text, at a mark, before the name of the file turns it into a diagnostic."""

    row: Row
    mark: int
    message: str
    help: str = ""

    @property
    def is_error(self) -> bool:
        """Whether nothing can be read in place of the refused part, instead of only warning about it."""
        return self.row.severity is Severity.ERROR


class ParsedText(msgspec.Struct, frozen=True):
    """All documents of a text, and its problems. If there are any, the documents can be incomplete."""

    documents: tuple[Parsed, ...]
    problems: tuple[DocumentProblem, ...]


def describe(value: Any) -> str:
    """Describe a value in YAML terms, never as a Python type name."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, str):
        return f"the string {quote(value)}"
    if isinstance(value, int | float):
        return f"the number {quote(value)}"
    if isinstance(value, tuple | list):
        return "a list"
    return "a mapping" if isinstance(value, dict) else f"the date {quote(value)}"
