"""Reads tools that are listed with paths, such as `Edit(src/**)`, as the agent's file scope.

A file scope limits everything that a role writes. So it is equivalent to these words only if all tools that can write
files are listed with the same paths, and no other tool of the agent could write a file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from orgkernel.documents.records import ToolCatalog
from orgkernel.loading.sources import SourceDocument

# A path below the folder in which the host works; the host writes others with `/`, `//` or `~` in front.
_PART = re.compile(
    r"(Edit|MultiEdit|NotebookEdit|Write)\((?:\./)?([A-Za-z0-9_*][A-Za-z0-9_.*-]*(?:/[A-Za-z0-9_.*-]+)*)\)\Z"
)


def find_harmless_tools(catalogs: Iterable[SourceDocument]) -> frozenset[str]:
    """The tools of catalogs that cannot write files."""
    return frozenset(
        name
        for each in catalogs
        if isinstance(each.record, ToolCatalog)
        for name, tool in each.record.tools.items()
        if not tool.opens_files or tool.side_effects in ("none", "read")
    )


def is_file_part(word: str) -> bool:
    """Whether a word lists the files that a tool may write."""
    match = _PART.match(word)
    return match is not None and ".." not in match[2].split("/")


def compute_file_scope(
    words: Mapping[str, int], denied: Collection[str], equipped: Iterable[str], harmless: Collection[str]
) -> tuple[dict[str, int], dict[str, int]]:
    """The tools and paths of the equivalent file scope, each with the mark of its word. Empty if none exists.

    `words` are the words of the agent's list of tools, with their marks. `equipped` are the tools that it has as a
    whole.
    """
    tools: dict[str, int] = {}
    paths: dict[str, dict[str, int]] = {}
    for word, mark in words.items():
        match = _PART.match(word)
        if match is not None and is_file_part(word):
            tools.setdefault(match[1], mark)
            paths.setdefault(match[1], {})[match[2]] = mark
    is_bound = all(each in harmless for each in equipped) and not {*tools} & {*denied}
    if not tools or not is_bound or len({frozenset(each) for each in paths.values()}) > 1:
        return {}, {}
    return tools, next(iter(paths.values()))
