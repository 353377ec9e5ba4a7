"""Determines the tools of a role from the words in an agent's file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orgkernel.documents.records import ToolCatalog
from orgkernel.loading.sources import SourceDocument
from orgkernel.runtime.lazy_patterns import lazy_pattern

_TOOL = lazy_pattern(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}\Z")


def is_plain(word: str) -> bool:
    """Whether a word can be a tool name by itself, without arguments and stars."""
    return _TOOL.match(word) is not None


def list_declared_tools(document: SourceDocument) -> Iterator[str]:
    """The tools that a document declares."""
    record = document.record
    return iter(record.tools if isinstance(record, ToolCatalog) else ())


def select_plain_tools(words: Any, marks: Any) -> tuple[tuple[str, ...], list[int]]:
    """The words that can be tool names by themselves, without duplicates."""
    marks_by_word: dict[str, int] = {}
    for word, mark in zip(words, marks, strict=True):
        if is_plain(word):
            marks_by_word.setdefault(word, mark)
    return tuple(marks_by_word), list(marks_by_word.values())
