"""The rows that the hook of Claude Code looks up, and the choice of the strictest of several rows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

CompiledRow = dict[str, Any]
_WORST: Final = ("deny", "ask", "allow")
CLEAR: Final = {
    "clear": "0orgkernel0clear0path/0orgkernel0clear0file",
    "elsewhere": "/0orgkernel0clear0path/0orgkernel0clear0file",
}
"""Paths that no glob names, below the root and elsewhere."""
_BY_CALL: Final = ("arguments", "globs", "beginnings", "parts", "own", *CLEAR)
"""The parts of a row that depend on the parts that a call states."""


def _index_by_path(row: CompiledRow) -> dict[str, Any]:
    """The answers of a row, keyed by path, without their messages."""
    parts = {glob: each["outcome"] for glob, each in row.get("parts", {}).items()}
    ends = {name: row[name]["outcome"] for name in CLEAR if name in row}
    same = {name: row.get(name) for name in ("globs", "beginnings", "own")}
    own = [glob for glob, each in row.get("parts", {}).items() if "own" in each]
    return {**same, "own_parts": own, "parts": parts, **ends}


def _without_paths(row: CompiledRow) -> CompiledRow:
    """A row that gives for every path the answer of calls without a path."""
    if "parts" in row:
        row = {name: each for name, each in row.items() if name not in _BY_CALL}
    return {**row, "after": _without_paths(row["after"])} if "after" in row else row


def choose_strictest(rows: Iterable[CompiledRow]) -> CompiledRow:
    """Choose the strictest row, with its paths and the end of its grant."""
    rows = tuple(rows)
    limiting = [each for each in rows if each != {"outcome": "allow"}]
    if any("parts" in each for each in rows) and any(
        _index_by_path(each) != _index_by_path(limiting[0]) for each in limiting
    ):
        # The strictest row depends on the path, so the answers without a path apply to all paths.
        rows = tuple(map(_without_paths, rows))
    return min(
        rows,
        key=lambda each: (
            _WORST.index(each["outcome"]),
            "inside" in each,
            _WORST.index(each.get("inside", each)["outcome"]),
            each.get("until", math.inf),
        ),
    )
