"""Keeps the words that an agent's file lists next to its record, as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.loading.marks import Marks, pack_mark, start_of, unpack_within
from orgkernel.loading.parsed import Refusal, describe
from orgkernel.loading.sources import SourceDocument, unpack_unknown

# Words are looked up several times, agent by agent, and many agents list the same ones.
_KEPT = 4096
_COMMA = re.compile(r"(?:[^,(]|\([^)]*\)?)+")


def get_list_words(document: SourceDocument) -> Mapping[str, Sequence[str]]:
    """The words of each list in the file, keyed by field."""
    return _unpack(document.packed.unknown)


@lru_cache(_KEPT)
def _unpack(unknown: bytes) -> Mapping[str, Sequence[str]]:
    return {str(route[0]): words for route, words in unpack_unknown(unknown)}


def read_words(key: str, value: Any, marks: Marks, refusals: list[Refusal]) -> Iterator[tuple[str, int]]:
    """The words of a list, or of a string with commas, each with its mark."""
    if isinstance(value, str):
        for match in _COMMA.finditer(value):
            word = match[0].strip()
            if word:
                offset = match.start() + len(match[0]) - len(match[0].lstrip())
                yield word, pack_mark(*unpack_within(start_of(marks), offset))
    elif isinstance(value, tuple):
        for item, mark in zip(value, marks[1], strict=True):
            if isinstance(item, str):
                yield item.strip(), mark
            else:
                text = f"{quote(key)} lists {describe(item)}, not text"
                refusals.append(Refusal(row.WRONG_TYPE, start_of(mark), text, "write a name"))
    else:
        text = f"the field {quote(key)} is {describe(value)}, not a list"
        refusals.append(
            Refusal(row.WRONG_TYPE, start_of(marks), text, "write names with commas between them")
        )
