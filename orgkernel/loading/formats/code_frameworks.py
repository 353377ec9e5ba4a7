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
    packages: tuple[bytes, ...]
    """Their names, one of which the code contains: looking for these first is much faster than the expression."""
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
    imports = re.compile("|".join(parts).encode(), re.MULTILINE)
    return _Framework(str(entry["name"]), tuple(each.encode() for each in packages), imports, words, files)


def find_code_frameworks(folders: Iterable[FolderListing]) -> Iterator[LeftOut]:
    """The first file of each framework whose code is in some folders, with the number of the others. Tests come last,
    because they only use agents.
    """
    by_framework: dict[str, list[str]] = {}
    for framework, path in _find_in_files(folders):
        by_framework.setdefault(framework, []).append(path)
    for framework, paths in by_framework.items():
        first = next((each for each in paths if not _is_test(each)), paths[0])
        others = len(paths) - 1
        also = f" ({others:,} more {'file' if others == 1 else 'files'})" if others else ""
        yield LeftOut(first, _WHY.format(framework) + also, "")


def _is_test(path: str) -> bool:
    """Whether a file is a test or an evaluation, by its name or that of its folder.

    >>> _is_test("/p/rag/eval/test_eval.py"), _is_test("/p/rag/agent.py")
    (True, False)
    """
    folder, name = os.path.split(path)
    return name.startswith("test_") or os.path.basename(folder) in ("eval", "evals", "test", "tests")


def _find_in_files(folders: Iterable[FolderListing]) -> Iterator[tuple[str, str]]:
    """The files with code or configuration of frameworks, as name of the framework and path."""
    frameworks = _read_frameworks()
    count = 0
    for listing in folders:
        for name in listing.files:
            path = os.path.join(listing.path, name)
            yield from ((each.name, path) for each in frameworks if name in each.files)
            if not name.endswith(_SUFFIXES) or count >= _MAX_FILES:
                continue
            count += 1
            head = read_head(path, _SIZE)
            for framework in frameworks:
                if (
                    any(each in head for each in framework.packages)
                    and framework.imports.search(head)
                    and (not framework.words or any(each in head for each in framework.words))
                ):
                    yield framework.name, path
