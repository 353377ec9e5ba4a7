"""Which way a change points: more, less, neither or unclear, and how directions add up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from orgkernel.diff.changes import Effect

Direction = int | None
"""1 for more, -1 for less, 0 for the same; None where it is some of both, or cannot be said."""
EFFECT_OF: Mapping[Direction, Effect] = {1: "widened", 0: "neutral", -1: "narrowed", None: "unclear"}


def times(direction: Direction, sign: Direction) -> Direction:
    """A direction turned round, or kept, by a sign."""
    return direction * sign if direction and sign else (0 if 0 in (direction, sign) else None)


def added(directions: Iterable[Direction]) -> Direction:
    """Several at once: more and less together cannot be said."""
    found = {each for each in directions if each != 0}
    return 0 if not found else found.pop() if len(found) == 1 else None


def said_of(record: Any) -> Mapping[str, Any]:
    """What a record says, without what it leaves out."""
    said = record if isinstance(record, Mapping) else {}
    return {name: value for name, value in said.items() if value is not None and value not in ([], ())}
