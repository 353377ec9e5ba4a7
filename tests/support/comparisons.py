"""Asking the ranges of a trigger about each of its comparisons alone."""

from __future__ import annotations

from orgkernel.rules.doctrine.trigger_ranges import Vacuous, find_vacuous
from orgkernel.runtime.triggers import TriggerTree


def find_vacuous_comparisons(tree: TriggerTree, max_turns: int | None = None) -> tuple[Vacuous, ...]:
    """The comparisons that are never true or always true by themselves, in reading order."""
    if tree[0] in ("or", "and", "not"):
        return tuple(found for part in tree[1:] for found in find_vacuous_comparisons(part, max_turns))
    found = find_vacuous(tree, max_turns)
    return (found,) if found else ()
