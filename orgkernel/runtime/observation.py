"""What a host reports about one role at one model call.

Source: design §6 "PACE."; the names are those of the trigger language (docs/triggers.md). None is *not reported*:
Unknown, which is neither true nor false. A host reports what it really knows and leaves the rest out; it never
guesses a nought.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Observation:
    """The measures of one role at one model call.

    >>> Observation(consecutive_tool_failures=3).measures(max_turns=12)["max"]
    12
    """

    consecutive_tool_failures: int | None = None
    """Tool calls that failed in a row, whichever tool; any success sets it to 0."""
    total_tool_failures: int | None = None
    """Tool calls that failed since the task began."""
    context_fill: float | None = None
    """Share of the model's context window in use, 0 to 1."""
    turns_without_progress: int | None = None
    """Model calls since progress was last seen."""
    turns_elapsed: int | None = None
    """Model calls since the task began."""
    elapsed_seconds: float | None = None
    """Wall time since the task began."""
    unrecoverable_error: bool | None = None
    """Whether an error was met that no retry can mend."""
    context_exhausted: bool | None = None
    """Whether the context window is full and cannot be compacted."""

    def measures(self, max_turns: int) -> dict[str, float | bool | None]:
        """Every name a trigger may read, with its value; `max_turns` is the role's own `max`."""
        return {**asdict(self), "max": max_turns}


NAMES = tuple(field.name for field in fields(Observation))


def read_observation(measures: Mapping[str, Any]) -> tuple[Observation, tuple[str, ...]]:
    """An observation from names and values as they come from outside, and the names that are none of ours."""
    known = {name: measures[name] for name in NAMES if name in measures}
    return Observation(**known), tuple(sorted(str(name) for name in measures if name not in NAMES))
