"""When a SALUTE report is due (specification, "SALUTE Emission Rules"; `doctrine` of the role).

- The first report of a role, and every change of its PACE tier.
- Every change of `status.state`. A change to `complete` counts only with `doctrine.report_on_completion`, a change to
  `aborted` only with `doctrine.report_on_failure`. A new task that ends in the same state as the last one counts too.
- `doctrine.salute_interval_turns` model calls after the last report. `time.turns_elapsed` counts the calls. Two
  questions in one call count once, and a new task adds its own calls to the count.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from .salute_format import Report

Cause: TypeAlias = Literal["", "first", "tier", "state", "completion", "failure", "interval"]

DEFAULT_INTERVAL: Final = 5
"""`doctrine.salute_interval_turns` of the specification's example."""
_ENDINGS: Final[Mapping[str, tuple[str, Cause]]] = {
    "complete": ("report_on_completion", "completion"),
    "aborted": ("report_on_failure", "failure"),
}


@dataclass(frozen=True, slots=True)
class EmissionState:
    """What the host remembers about the reports of one role."""

    role_id: str
    state: str
    pace_level: str
    task_started: str | None
    turns_elapsed: int
    """As last reported by the host."""
    turns_since: int = 0
    """Model calls since the last report that was due."""


class Emission(NamedTuple):
    """Whether a report is due now, why, and what to remember for next time."""

    due: bool
    reason: Cause
    state: EmissionState


def should_emit(previous: EmissionState | None, report: Report, doctrine: Mapping[str, Any]) -> Emission:
    """Decide whether this report is due. `previous` is the last state of the role, None before its first report."""
    status, time = report["status"], report["time"]
    role_id, turns = report["unit"]["role_id"], time["turns_elapsed"]
    now = EmissionState(role_id, status["state"], status["pace_level"], time["task_started"], turns)
    if previous is None or previous.role_id != role_id:
        return Emission(True, "first", now)
    since = previous.turns_since + (
        turns - previous.turns_elapsed if turns >= previous.turns_elapsed else turns
    )
    cause = _cause(previous, now, since, doctrine)
    if cause:
        return Emission(True, cause, now)
    return Emission(
        False, "", EmissionState(role_id, now.state, now.pace_level, now.task_started, turns, since)
    )


def _cause(previous: EmissionState, now: EmissionState, since: int, doctrine: Mapping[str, Any]) -> Cause:
    if now.pace_level != previous.pace_level:
        return "tier"
    is_new_task = now.task_started != previous.task_started
    if now.state in _ENDINGS and (now.state != previous.state or is_new_task):
        setting, cause = _ENDINGS[now.state]
        if doctrine.get(setting) is not False:
            return cause
    elif now.state != previous.state:
        return "state"
    interval = doctrine.get("salute_interval_turns")
    if type(interval) is not int or interval < 1:
        interval = DEFAULT_INTERVAL
    return "interval" if since >= interval else ""
