"""The format of a SALUTE report: its fields, their defaults, and how a value becomes one that fits.

Source: specification, "Schema 2: SALUTE Report"; the document model `orgkernel.model.salute_report` says the same with
types, and a test compares the two. Here it is a table, because a host has the standard library only.

Whatever is written here has its secrets masked and a bounded length: a report is copied, stored and shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from .secret_shapes import mask_secrets
from .tiers import TIERS

Report: TypeAlias = dict[str, Any]

SCHEMA: Final = "orgkernel:salute_report"
VERSION: Final = "1.0"

STATES: Final = ("idle", "active", "waiting", "error_recovery", "escalating", "complete", "aborted")
HEALTHS: Final = ("nominal", "degraded", "critical")

LONGEST_TEXT: Final = 2_000
"""Characters of a text, such as the task."""
LONGEST_NAME: Final = 200
"""Characters of a name. What is longer is no name: a whole configuration, say, that could hold keys."""
MOST_ITEMS: Final = 100
"""Entries of a list; the last ones are kept."""
LARGEST: Final = 2**53
"""The largest count, so that any JSON reader has it exactly."""


def fit_text(value: object, longest: int = LONGEST_TEXT) -> str:
    """A text without secrets or lone surrogates, cut to a length; `""` for anything that is no text."""
    if not isinstance(value, str):
        return ""
    # Cut well after the length first: what is masked is the same, and a text of megabytes costs nothing.
    masked = mask_secrets(value[: 4 * longest].encode("utf-8", "replace").decode())
    return masked if len(masked) <= longest else f"{masked[: longest - 1]}…"


def fit_name(value: object) -> str:
    """A name on one line; `""` for anything that is none."""
    if not isinstance(value, str) or len(value) > LONGEST_NAME or not value.isprintable():
        return ""
    return fit_text(value, LONGEST_NAME)


def fit_count(value: object) -> int:
    """A whole number from 0; 0 for anything that is no number."""
    number = fit_amount(value)
    return int(number)


def fit_amount(value: object) -> float:
    """A finite number from 0; 0 for anything that is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    if isinstance(value, float) and math.isnan(value):
        return 0
    return min(max(value, 0), LARGEST)


def fit_fraction(value: object) -> float:
    """A number from 0 to 1."""
    return min(fit_amount(value), 1)


def fit_list(value: object) -> list[str]:
    """The last texts of a list, once each in order."""
    if not isinstance(value, list | tuple):
        return []
    texts = dict.fromkeys(fit_text(item) for item in value[-MOST_ITEMS:])
    return [text for text in texts if text]


def fit_flag(value: object) -> bool | None:
    """True, false or not known."""
    return value if isinstance(value, bool) else None


def _or_null(fit: Callable[[object], Any]) -> Callable[[object], Any]:
    return lambda value: None if value is None else fit(value)


class Field(NamedTuple):
    """A field of a report: what it holds (for messages), its default, and what makes a value fit."""

    kind: str
    default: Any
    fit: Callable[[object], Any]
    words: tuple[str, ...] = ()
    """The words it may hold; empty for any."""
    required: bool = False


_TEXT, _NAME = Field("a text", "", fit_text), Field("a text", "", fit_name)
_COUNT, _LIST = Field("a count", 0, fit_count), Field("a list of texts", [], fit_list)
_NULL_NAME = Field("a text or null", "", _or_null(fit_name))

SECTIONS: Final[Mapping[str, Mapping[str, Field]]] = {
    "status": {
        "state": Field("a state", "idle", fit_name, STATES, required=True),
        "progress": Field("a number from 0 to 1", 0.0, fit_fraction),
        "pace_level": Field("a PACE tier", "primary", fit_name, TIERS),
        "health": Field("a health", "nominal", fit_name, HEALTHS),
    },
    "activity": {
        "current_task": _TEXT,
        "bst_domain": _NAME,
        "htn_plan": _NAME,
        "htn_step": _COUNT,
        "htn_total_steps": _COUNT,
        "current_tool": _NAME,
        "iterations_on_current_step": _COUNT,
    },
    "location": {
        "working_directory": _TEXT,
        "files_modified": _LIST,
        "files_read": _LIST,
        "resources_claimed": _LIST,
    },
    "unit": {
        "role_id": _NAME._replace(required=True),
        "role_name": _NAME,
        "agent_number": _COUNT,
        "reports_to": _NULL_NAME,
        "organization": _NAME,
    },
    "time": {
        "timestamp": Field("a moment (ISO 8601)", "", fit_name, required=True),
        "task_started": Field("a moment (ISO 8601) or null", None, _or_null(fit_name)),
        "elapsed_seconds": Field("seconds", 0, fit_amount),
        "turns_elapsed": _COUNT,
        "turns_since_progress": _COUNT,
        "context_turns_remaining": Field("a count or null", None, _or_null(fit_count)),
    },
    "environment": {
        "model": _NAME,
        "context_fill_pct": Field("a percentage", 0.0, fit_amount),
        "context_tokens_used": _COUNT,
        "context_tokens_max": _COUNT,
        "gpu_available": Field("true, false or null", None, fit_flag),
        "tool_failures_consecutive": _COUNT,
        "tool_failures_total": _COUNT,
        "memory_fragments_stored": _COUNT,
    },
}
"""Every field of a report, section by section in the order of the specification."""
