"""Reads files in other formats that contain one mapping, as YAML or JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from orgkernel.diagnostics import catalog as row
from orgkernel.loading.files import SourceText
from orgkernel.loading.marks import Marks, pack_mark, start_of
from orgkernel.loading.parsed import DocumentProblem, ParsedText

_FIRST = pack_mark(1, 1)
_MAX_ENTRIES = 20_000
"""Maximum number of separators of keys and entries in a file. Each agent, server or rule in it becomes several records."""
_SEPARATORS = (":", ",", "- ")


class ReadMapping(NamedTuple):
    """A mapping with the positions of its values, or the problems."""

    value: dict[str, Any]
    marks: dict[str, tuple[int, Marks]]
    """The mark of each key and the marks of its value."""
    start: int
    problems: tuple[DocumentProblem, ...] = ()


def read_mapping(source: SourceText, parse: Callable[[str], ParsedText]) -> ReadMapping:
    """Read the mapping in a file. If anything is refused, the mapping is empty."""
    if source.problem is not None:
        return ReadMapping({}, {}, _FIRST, (source.problem,))
    if sum(map(source.text.count, _SEPARATORS)) > _MAX_ENTRIES:
        message = f"the file contains more than {_MAX_ENTRIES:,} entries, the limit of a file of another host"
        return ReadMapping(
            {}, {}, _FIRST, (DocumentProblem(row.TOO_LARGE, _FIRST, message, "split the file"),)
        )
    parsed = parse(source.text)
    if parsed.problems:
        return ReadMapping({}, {}, _FIRST, parsed.problems)
    documents = parsed.documents
    if len(documents) > 1:
        at = start_of(documents[1].marks)
        message = f"the file has {len(documents)} documents, and its host reads files of one"
        return ReadMapping(
            {},
            {},
            at,
            (DocumentProblem(row.NOT_A_MAPPING, at, message, "remove the lines `---` between them"),),
        )
    if len(documents) == 1 and isinstance(documents[0].value, dict):
        marks = documents[0].marks
        return ReadMapping(documents[0].value, marks[1], start_of(marks))
    at = start_of(documents[0].marks) if documents else _FIRST
    return ReadMapping({}, {}, at, (DocumentProblem(row.NOT_A_MAPPING, at, "the file is not a mapping"),))
