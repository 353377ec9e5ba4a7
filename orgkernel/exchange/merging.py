"""Merge three versions of a file: the last written one, the owner's, and the new one.

Changes of different lines are both kept, even in adjacent lines. Different changes of the same lines are a conflict.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple


class _Change(NamedTuple):
    """Lines of the first version that another one replaces."""

    start: int
    end: int
    lines: tuple[str, ...]
    at: int
    """Start of these lines in the other version."""


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """Two changes of the same lines."""

    mine: int
    """The line of the version of the owner, from 1."""
    has: tuple[str, ...]
    theirs: int
    """The line of the version that would be written now, from 1."""
    says: tuple[str, ...]


def merge(before: str, mine: str, now: str) -> tuple[str, tuple[MergeConflict, ...]]:
    r"""Merge both changes. Returns the merged content and the conflicts, where the content has `mine`.

    >>> merge("a\nb\nc\n", "a\nB\nc\n", "a\nb\nC\n")
    ('a\nB\nC\n', ())
    """
    lines = before.split("\n")
    merged: list[str] = []
    conflicts: list[MergeConflict] = []
    reached = 0
    for own, other in _pair_changes(list(_list_changes(before, mine)), list(_list_changes(before, now))):
        start = min(each.start for each in (*own, *other))
        end = max(each.end for each in (*own, *other))
        merged += lines[reached:start]
        has, says = (_result(lines, start, end, each) for each in (own, other))
        if not other or has == says or (start == end and _does_contain(has, says)):
            merged += has
        elif not own:
            merged += says
        else:
            merged += has
            conflicts.append(MergeConflict(own[0].at + 1, tuple(has), other[0].at + 1, tuple(says)))
        reached = end
    merged += lines[reached:]
    return "\n".join(merged), tuple(conflicts)


def _list_changes(before: str, after: str) -> Iterator[_Change]:
    ours, theirs = before.split("\n"), after.split("\n")
    for kind, start, end, at, last in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if kind != "equal":
            yield _Change(start, end, tuple(theirs[at:last]), at)


def _pair_changes(own: list[_Change], other: list[_Change]) -> Iterator[tuple[list[_Change], list[_Change]]]:
    """Changes of the same lines together, in order."""
    while own or other:
        first = min((each[0] for each in (own, other) if each), key=lambda each: (each.start, each.end))
        end = first.end
        taken: tuple[list[_Change], list[_Change]] = ([], [])
        moved = True
        while moved:
            moved = False
            for changes, listed in ((own, taken[0]), (other, taken[1])):
                while changes and _touch(changes[0], first.start, end):
                    end = max(end, changes[0].end)
                    listed.append(changes.pop(0))
                    moved = True
        yield taken


def _touch(change: _Change, start: int, end: int) -> bool:
    """Whether a change affects some of these lines. An insertion does if it is at the same position or between them."""
    if change.start == change.end or start == end:
        is_inside = start < change.start < end or change.start < start < change.end
        return is_inside or (change.start, change.end) == (start, end)
    return change.start < end and start < change.end


def _result(lines: list[str], start: int, end: int, changes: list[_Change]) -> list[str]:
    made: list[str] = []
    reached = start
    for each in changes:
        made += [*lines[reached : each.start], *each.lines]
        reached = each.end
    return made + lines[reached:end]


def _does_contain(lines: list[str], part: list[str]) -> bool:
    """Whether all lines of a part are in other lines in the same order, because the owner already made this change."""
    rest = iter(lines)
    return all(any(line == each for each in rest) for line in part)
