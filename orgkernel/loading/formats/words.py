"""Keeps the words that an agent's file lists next to its record, as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.loading.marks import Marks, pack_mark, start_of, unpack_within
from orgkernel.loading.parsed import DocumentProblem, describe
from orgkernel.loading.sources import SourceDocument, unpack_unknown

# Words are looked up several times, agent by agent, and many agents list the same ones.
_KEPT = 4096
_COMMA = re.compile(r"(?:[^,(]|\([^)]*\)?)+")
_COMMA_OR_SPACE = re.compile(r"(?:[^, (]|\([^)]*\)?)+")


def get_list_words(document: SourceDocument) -> Mapping[str, Sequence[str]]:
    """The words of each list in the file, keyed by field."""
    return _unpack(document.packed.unknown)


def list_excluded_tools(document: SourceDocument) -> set[str]:
    """The tools that an agent's file excludes by name, or denies as a whole by a rule."""
    words = get_list_words(document)
    rules = zip(words.get("rules", ()), words.get("effects", ()), strict=False)
    return {*words.get("disallowedTools", ()), *(tool for tool, effect in rules if effect == "deny")}


@lru_cache(_KEPT)
def _unpack(unknown: bytes) -> Mapping[str, Sequence[str]]:
    return {str(route[0]): words for route, words in unpack_unknown(unknown)}


def read_words(
    key: str, value: Any, marks: Marks, problems: list[DocumentProblem], *, has_spaces: bool = False
) -> Iterator[tuple[str, int]]:
    """The words of a list, or of a string with commas, each with its mark.

    With `has_spaces`, a space separates words as a comma does, in a string and in the items of a list.
    """
    if isinstance(value, str):
        yield from _split(value, start_of(marks), _COMMA_OR_SPACE if has_spaces else _COMMA)
    elif isinstance(value, tuple):
        for item, mark in zip(value, marks[1], strict=True):
            if isinstance(item, str):
                words = list(_split(item, start_of(mark), _COMMA_OR_SPACE)) if has_spaces else []
                yield from words if len(words) > 1 else [(item.strip(), mark)]
            else:
                text = f"{quote(key)} lists {describe(item)}, not a string"
                problems.append(DocumentProblem(row.WRONG_TYPE, start_of(mark), text, "write a name"))
    else:
        text = f"the field {quote(key)} is {describe(value)}, not a list"
        problems.append(
            DocumentProblem(row.WRONG_TYPE, start_of(marks), text, "write names with commas between them")
        )


def _split(text: str, mark: int, pattern: re.Pattern[str]) -> Iterator[tuple[str, int]]:
    """The parts of a text that match, without surrounding space, each with its mark."""
    for match in pattern.finditer(text):
        word = match[0].strip()
        if word:
            offset = match.start() + len(match[0]) - len(match[0].lstrip())
            yield word, pack_mark(*unpack_within(mark, offset))
