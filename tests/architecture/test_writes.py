"""Each write has one place: what surfaces hold of a store they read, and what they answer they are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support.trees import REPOSITORY

SURFACES = ("manifest_api", "orgkernel/cli", "orgkernel/toolbox")
READS = {
    "get", "list", "uses", "count_uses", "check", "latest", "history", "after", "last_number", "find", "find_known",
    "known",
}  # fmt: skip
PARTS = {
    "agents", "audit", "claims", "contracts", "handoffs", "grants", "keys", "locks", "reports", "requests", "restrictions", "results", "usage",
}  # fmt: skip


def modules(*folders: str) -> Iterator[tuple[Path, ast.AST]]:
    for folder in folders:
        for file in sorted((REPOSITORY / folder).rglob("*.py")):
            yield file.relative_to(REPOSITORY), ast.parse(file.read_text(encoding="utf-8"))


def writes(*folders: str) -> list[str]:
    """What is called of a part of a store and is no look at it."""
    return [
        f"{file}: {ast.unparse(node)}"
        for file, tree in modules(*folders)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr in PARTS
        and ast.unparse(node.value.value).endswith(("store", "state"))
        and node.attr not in READS
    ]


def test_surfaces_only_read_what_is_stored() -> None:
    """`store.grants.issue` and its like are called by operations alone."""
    assert writes(*SURFACES) == []
    assert len(writes("orgkernel/operations")) >= 18


def test_surfaces_make_no_reasons() -> None:
    """A reason comes with a decision; a surface shows it."""
    made = [
        f"{file}: {ast.unparse(node)}"
        for file, tree in modules(*SURFACES)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Reason"
    ]
    assert made == []
