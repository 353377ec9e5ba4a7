"""The names that a PACE trigger can use, with units and bounds, and the published aliases.

The role profiles of the kernel specification use `consecutive_tool_failures`, `context_fill`, `turns_without_progress`,
`max` and `unrecoverable_error`. A name outside this list is a finding, never silently false: in the first dispatcher, role
files and parser used different names, so PACE never left the primary tier. An alias is a name that published files use for
the same measure. It works, with a warning (docs/triggers.md).

`context_fill_pct` of the SALUTE report is deliberately not an alias: a percentage compared with a fraction trips at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple


class TriggerName(NamedTuple):
    """A name a trigger may read. Its values lie in `lower`..`upper`, both included (a flag counts as 0 or 1)."""

    name: str
    unit: str
    description: str
    kind: Literal["number", "flag"] = "number"
    lower: float = 0
    upper: float = math.inf
    integer: bool = True


_LIST: Final = (
    TriggerName(
        "consecutive_tool_failures",
        "failures",
        "tool calls that failed in a row, whichever tool; any success sets it to 0",
    ),
    TriggerName("total_tool_failures", "failures", "tool calls that failed since the task began"),
    TriggerName(
        "context_fill",
        "fraction",
        "share of the model's context window in use, 0 to 1",
        upper=1,
        integer=False,
    ),
    TriggerName("turns_without_progress", "turns", "turns (model calls) since progress was last seen"),
    TriggerName("turns_elapsed", "turns", "turns (model calls) since the task began"),
    TriggerName("elapsed_seconds", "seconds", "wall time since the task began", integer=False),
    TriggerName("max", "turns", "the role's own `doctrine.max_turns_without_progress`", lower=1),
    TriggerName("unrecoverable_error", "", "the host met an error that no retry can fix", "flag", upper=1),
    TriggerName(
        "context_exhausted", "", "the context window is full and cannot be compacted", "flag", upper=1
    ),
)

NAMES: Final[Mapping[str, TriggerName]] = MappingProxyType({entry.name: entry for entry in _LIST})

ALIASES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "failures": "consecutive_tool_failures",
        "consecutive_failures": "consecutive_tool_failures",
        "tool_failures": "consecutive_tool_failures",
        "tool_failures_consecutive": "consecutive_tool_failures",  # as the SALUTE report spells it
        "total_failures": "total_tool_failures",
        "tool_failures_total": "total_tool_failures",  # as the SALUTE report spells it
        "context_usage": "context_fill",
        "context_utilization": "context_fill",
        "stale_turns": "turns_without_progress",
        "turns_stale": "turns_without_progress",
        "turns_since_progress": "turns_without_progress",  # as the SALUTE report spells it
        "max_turns_without_progress": "max",
        "critical_failure": "unrecoverable_error",
    }
)


def find_trigger_name(word: str) -> TriggerName | None:
    """The entry for a word, directly or as an alias."""
    return NAMES.get(ALIASES.get(word, word))


def suggest_trigger_name(word: str) -> str | None:
    """The listed name that a misspelled word most likely meant; never an alias, because that would cause a warning."""
    from difflib import get_close_matches  # most triggers have no unknown name

    close = get_close_matches(word.lower(), [*NAMES, *ALIASES], n=1)
    return ALIASES.get(close[0], close[0]) if close else None
