"""Recognizes code of agent frameworks, to tell why a tree without other sources has nothing to read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from orgkernel.loading.files import read_head
from orgkernel.loading.formats.listing import FolderListing, LeftOut
from orgkernel.loading.shipped_tables import read_shipped_table

_TABLE = os.path.join(os.path.dirname(__file__), "code_frameworks.yaml")
_SUFFIXES = (".py", ".ts", ".tsx", ".js", ".mjs")
_MAX_FILES = 2_000
_SIZE = 8 * 1024
_WHY = "it is code of {}, and agents in code cannot be read"


class _Framework(NamedTuple):
    """A framework, and what its code contains."""

    name: str
    imports: re.Pattern[bytes]
    words: tuple[bytes, ...]
    files: frozenset[str]


@cache
def _read_frameworks() -> tuple[_Framework, ...]:
    return tuple(_build_framework(entry) for entry in read_shipped_table(_TABLE))


def _build_framework(entry: dict[str, object]) -> _Framework:
    packages = [str(each) for each in entry["packages"]]  # type: ignore[attr-defined]
    python = "|".join(re.escape(each) for each in packages if not each.startswith("@"))
    parts = [rf"^\s*(?:from|import)\s+(?:{python})(?:[\s.,]|$)"] if python else []
    quoted = "|".join(map(re.escape, packages))
    parts.append(rf"""\bfrom\s+["'](?:{quoted})(?:/[^"']*)?["']""")
    words = tuple(str(each).encode() for each in entry.get("words", ()))  # type: ignore[attr-defined]
    files = frozenset(map(str, entry.get("files", ())))  # type: ignore[call-overload]
    return _Framework(str(entry["name"]), re.compile("|".join(parts).encode(), re.MULTILINE), words, files)


def find_code_frameworks(folders: Iterable[FolderListing]) -> Iterator[LeftOut]:
    """The first file of each framework whose code is in some folders. Tests come last, because they only use agents."""
    by_framework: dict[str, LeftOut] = {}
    for left_out in _find_in_files(folders):
        earlier = by_framework.setdefault(left_out.reason, left_out)
        if _is_test(earlier.place) and not _is_test(left_out.place):
            by_framework[left_out.reason] = left_out
    yield from by_framework.values()


def _is_test(path: str) -> bool:
    """Whether a file is a test or an evaluation, by its name or that of its folder.

    >>> _is_test("/p/rag/eval/test_eval.py"), _is_test("/p/rag/agent.py")
    (True, False)
    """
    folder, name = os.path.split(path)
    return name.startswith("test_") or os.path.basename(folder) in ("eval", "evals", "test", "tests")


def _find_in_files(folders: Iterable[FolderListing]) -> Iterator[LeftOut]:
    """The first file of each framework, and the first test."""
    seen: set[str] = set()
    tests: set[str] = set()
    count = 0
    for listing in folders:
        for name in listing.files:
            for framework in _read_frameworks():
                if name in framework.files and framework.name not in seen:
                    seen.add(framework.name)
                    yield LeftOut(os.path.join(listing.path, name), _WHY.format(framework.name), "")
            if not name.endswith(_SUFFIXES) or count >= _MAX_FILES:
                continue
            count += 1
            head = read_head(os.path.join(listing.path, name), _SIZE)
            for framework in _read_frameworks():
                if framework.name in seen or not framework.imports.search(head):
                    continue
                if framework.words and not any(each in head for each in framework.words):
                    continue
                path = os.path.join(listing.path, name)
                known = tests if _is_test(path) else seen
                if framework.name not in known:
                    known.add(framework.name)
                    yield LeftOut(path, _WHY.format(framework.name), "")
