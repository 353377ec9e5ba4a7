"""The fewest batches of some subtasks, by trying everything: plain dicts and loops, nothing of the engine.

A subtask is `{"id", "kind", "files", "depends_on"}` with plain paths.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import Any


def overlap(one: str, other: str) -> bool:
    """Whether two plain paths are equal, or one is a folder above the other."""
    first, second = one.lower() + "/", other.lower() + "/"
    return first.startswith(second) or second.startswith(first)


def is_legal(
    batch: list[dict[str, Any]], done: set[str], all_subtasks: list[dict[str, Any]], size: int
) -> bool:
    """Whether some subtasks may be worked on together when some are done."""
    if len(batch) > size:
        return False
    for each in batch:
        if any(name not in done for name in each["depends_on"]):
            return False
        if each["kind"] != "narrow" and len(batch) > 1:
            return False
        if each["kind"] == "terminal":
            for other in all_subtasks:
                if other["kind"] != "terminal" and other["id"] not in done:
                    return False
    for one, other in combinations(batch, 2):
        for mine in one["files"]:
            for theirs in other["files"]:
                if overlap(mine, theirs):
                    return False
    return True


def fewest_batches(subtasks: list[dict[str, Any]], size: int) -> int:
    """By trying every legal batch from every state."""
    names = [each["id"] for each in subtasks]
    by_name = {each["id"]: each for each in subtasks}

    @cache
    def left(done: frozenset[str]) -> int:
        open_names = [name for name in names if name not in done]
        if not open_names:
            return 0
        best = 10**6
        for count in range(1, size + 1):
            for chosen in combinations(open_names, count):
                if is_legal([by_name[name] for name in chosen], set(done), subtasks, size):
                    best = min(best, 1 + left(done | set(chosen)))
        return best

    return left(frozenset())
