"""The format of a SALUTE report: its fields, their defaults, and how values are fitted and reports are read.

Source: specification, "Schema 2: SALUTE Report". The document model `orgkernel.documents.model.salute_report` defines
the same fields with types, and a test compares the two. Here it is a table, because a host has the standard library
only. Every value has its secrets masked and its length bounded, because a report is copied, stored and shown.

Another writer's report may be in an older version: any `1.x` is read. A missing field gets its default, an unknown field
is dropped, names starting with `x_` stay. A value of the wrong kind is an error with its place, never a guess.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from .secret_shapes import mask_secrets
from .tiers import TIERS
from .utc import as_seconds

Report: TypeAlias = dict[str, Any]

SCHEMA: Final = "orgkernel:salute_report"
VERSION: Final = "1.0"

STATES: Final = ("idle", "active", "waiting", "error_recovery", "escalating", "complete", "aborted")
HEALTHS: Final = ("nominal", "degraded", "critical")

MAX_TEXT_LENGTH: Final = 2_000
"""Maximum number of characters of a string, such as the task."""
MAX_NAME_LENGTH: Final = 200
"""Maximum number of characters of a name. A longer string could be a whole configuration that contains keys."""
MAX_ITEMS: Final = 100
"""Maximum number of entries of a list. The last ones are kept."""
LARGEST: Final = 2**53
"""The largest integer that every JSON reader represents exactly."""


def fit_text(value: object, longest: int = MAX_TEXT_LENGTH) -> str:
    """A string without secrets and lone surrogates, shortened to a length. `""` for any other value."""
    if not isinstance(value, str):
        return ""
    # Cut well beyond the length first: the masking stays the same, and a text of megabytes costs nothing.
    masked = mask_secrets(value[: 4 * longest].encode("utf-8", "replace").decode())
    return masked if len(masked) <= longest else f"{masked[: longest - 1]}…"


def fit_name(value: object) -> str:
    """A name on one line. `""` for any other value."""
    if not isinstance(value, str) or len(value) > MAX_NAME_LENGTH or not value.isprintable():
        return ""
    return _fit_known_name(value)


@lru_cache(maxsize=512)
def _fit_known_name(name: str) -> str:
    """The same few names are asked for in each model call, and the search for secrets is most of the work."""
    return fit_text(name, MAX_NAME_LENGTH)


def fit_count(value: object) -> int:
    """A whole number of at least 0. 0 for any other value."""
    number = fit_amount(value)
    return int(number)


def fit_amount(value: object) -> float:
    """A finite number of at least 0. 0 for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    if isinstance(value, float) and math.isnan(value):
        return 0
    return min(max(value, 0), LARGEST)


def fit_fraction(value: object) -> float:
    """A number from 0 to 1."""
    return min(fit_amount(value), 1)


def fit_list(value: object) -> list[str]:
    """The last strings of a list in order, without duplicates."""
    if not isinstance(value, list | tuple):
        return []
    texts = dict.fromkeys(fit_text(item) for item in value[-MAX_ITEMS:])
    return [text for text in texts if text]


def fit_flag(value: object) -> bool | None:
    """True, false or unknown."""
    return value if isinstance(value, bool) else None


def _allow_null(fit: Callable[[object], Any]) -> Callable[[object], Any]:
    return lambda value: None if value is None else fit(value)


class Field(NamedTuple):
    """A field of a report: its kind in words (for messages), its default, and the function that makes a value fit."""

    kind: str
    default: Any
    fit: Callable[[object], Any]
    words: tuple[str, ...] = ()
    """The allowed words. Empty means any."""
    required: bool = False


_TEXT, _NAME = Field("a string", "", fit_text), Field("a string", "", fit_name)
_COUNT, _LIST = Field("a count", 0, fit_count), Field("a list of strings", [], fit_list)
_NULL_NAME = Field("a string or null", "", _allow_null(fit_name))

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
        "timestamp": Field("a timestamp (ISO 8601)", "", fit_name, required=True),
        "task_started": Field("a timestamp (ISO 8601) or null", None, _allow_null(fit_name)),
        "elapsed_seconds": Field("seconds", 0, fit_amount),
        "turns_elapsed": _COUNT,
        "turns_since_progress": _COUNT,
        "context_turns_remaining": Field("a count or null", None, _allow_null(fit_count)),
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
"""Every field of a report, by section, in the order of the specification."""


_MAJOR: Final = VERSION.partition(".")[0]
_LIMITS: Final = {"a number from 0 to 1": 1}


class ReportError(ValueError):
    """The data is not a readable SALUTE report.

    `code` is `NOT_A_REPORT`, `UNKNOWN_VERSION`, `MISSING_FIELD` or `BAD_FIELD`. `where` is the field, such as
    `status/state`. `text` is a sentence for people.
    """

    def __init__(self, code: str, where: str, text: str) -> None:
        super().__init__(f"{where}: {text}" if where else text)
        self.code = code
        self.where = where
        self.text = text


def read_report(data: object) -> Report:
    """The report in decoded JSON, in the form of this version. Raises `ReportError`."""
    if not isinstance(data, Mapping):
        raise ReportError("NOT_A_REPORT", "", "a report must be a mapping")
    if data.get("_schema") != SCHEMA:
        raise ReportError("NOT_A_REPORT", "_schema", f"a report must have `_schema: {SCHEMA}`")
    version = data.get("_version", VERSION)
    major, dot, minor = version.partition(".") if isinstance(version, str) else ("", "", "")
    if major != _MAJOR or not dot or not (minor.isascii() and minor.isdigit()):
        shown = f"`{fit_text(version, 40)}`" if isinstance(version, str) else "(not a string)"
        raise ReportError(
            "UNKNOWN_VERSION", "_version", f"version {shown} is not supported; this reader accepts {_MAJOR}.x"
        )
    report: Report = {"_schema": SCHEMA, "_version": VERSION}
    for section, fields in SECTIONS.items():
        given = data.get(section)
        if given is None:
            given = {}
        if not isinstance(given, Mapping):
            raise ReportError("BAD_FIELD", section, "must be a mapping")
        report[section] = {
            name: _read(given, name, field, f"{section}/{name}") for name, field in fields.items()
        } | _select_own_fields(given)
    return report | _select_own_fields(data)


def _select_own_fields(given: Mapping[Any, Any]) -> dict[str, Any]:
    """The writer's own fields: only plain values, with the same size limit as all others."""
    return {
        name: fit_text(value) if isinstance(value, str) else value
        for name, value in given.items()
        if isinstance(name, str)
        and name.startswith("x_")
        and (value is None or isinstance(value, str | bool) or _is_number(value))
    }


def _read(given: Mapping[Any, Any], name: str, field: Field, where: str) -> Any:
    value = given.get(name)
    if value is None and (name not in given or field.default is not None):
        if field.required:
            raise ReportError("MISSING_FIELD", where, "this field is required")
        if name not in given or not field.kind.endswith("null"):
            return list(field.default) if isinstance(field.default, list) else field.default
    fitting = field.fit(value)
    # A required value with nothing left after fitting, such as an id of a thousand characters, is wrong too.
    if not _fits(value, field) or (field.required and not fitting):
        among = f", one of {', '.join(field.words)}" if field.words else ""
        raise ReportError("BAD_FIELD", where, f"must be {field.kind}{among}")
    return fitting


def _fits(value: object, field: Field) -> bool:
    kind = field.kind
    if kind.endswith("null") and value is None:
        return True
    if field.words:
        return value in field.words
    if kind.startswith("a string"):
        return isinstance(value, str)
    if kind.startswith("a timestamp"):
        return isinstance(value, str) and as_seconds(value) is not None
    if kind == "a list of strings":
        return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
    if kind.startswith("true"):
        return isinstance(value, bool)
    if not _is_number(value):
        return False
    number = float(value)  # type: ignore[arg-type]
    if kind.startswith("a count") and not number.is_integer():
        return False
    return 0 <= number <= _LIMITS.get(kind, LARGEST)


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= LARGEST if isinstance(value, int) else math.isfinite(value)
