"""The measures that a host reports about one role at one model call.

The names are those of the trigger language (docs/triggers.md). None means *not reported*: the value is unknown,
neither true nor false. A host reports known values and omits the others. It never reports a zero that it did not
measure.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple


class Observation(NamedTuple):
    """The measures of one role at one model call.

    >>> Observation(consecutive_tool_failures=3).measures(max_turns=12)["max"]
    12
    """

    consecutive_tool_failures: int | None = None
    """Number of tool calls that failed in a row, over all tools. A success resets it to 0."""
    total_tool_failures: int | None = None
    """Number of tool calls that failed since the task began."""
    context_fill: float | None = None
    """Share of the model's context window in use, 0 to 1."""
    turns_without_progress: int | None = None
    """Number of model calls since the last progress."""
    turns_elapsed: int | None = None
    """Number of model calls since the task began."""
    elapsed_seconds: float | None = None
    """Seconds of wall time since the task began."""
    unrecoverable_error: bool | None = None
    """Whether an error occurred that no retry can fix."""
    context_exhausted: bool | None = None
    """Whether the context window is full and cannot be compacted."""

    def measures(self, max_turns: int) -> dict[str, float | bool | None]:
        """Every name that a trigger may read, with its value. `max_turns` is the role's `max`."""
        measures = {name: getattr(self, name) for name in NAMES}
        measures["max"] = max_turns
        return measures


NAMES: Final = Observation._fields
"""All measures."""
FLAGS: Final = ("unrecoverable_error", "context_exhausted")
"""Measures that are true or false. The others are numbers."""


def is_measure(name: str, value: object) -> bool:
    """Whether a value fits the measure. Null means *not reported*."""
    if value is None or name in FLAGS:
        return value is None or isinstance(value, bool)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= (1 if name == "context_fill" else math.inf)
