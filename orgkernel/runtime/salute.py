"""SALUTE: the status report of a role, computed from the values that a host knows (specification, "Computing SALUTE
Fields").

A host fills a `Situation` with known values and leaves the others at their defaults. `compute_report` applies the
rules and returns the specification's JSON, which always fits the published schema. `salute_format` reads one, and
`report_files` names and writes its files. A report is due (specification, "SALUTE Emission Rules"; `doctrine` of the
role) for

- the first report of a role, and every change of its PACE tier;
- every change of `status.state`. A change to `complete` is reported only with `doctrine.report_on_completion`, and a
  change to `aborted` only with `doctrine.report_on_failure`. A new task that ends in the same state as the last one
  is also reported;
- `doctrine.salute_interval_turns` model calls after the last report. `time.turns_elapsed` counts the calls. Two
  questions in one call are counted once, and a new task adds its own calls to the count.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from .salute_format import (
    LARGEST,
    SCHEMA,
    STATES,
    VERSION,
    Report,
    fit_amount,
    fit_count,
    fit_flag,
    fit_fraction,
    fit_list,
    fit_name,
    fit_text,
)
from .tiers import ALTERNATE, CONTINGENT, EMERGENCY, NO_NEW_HANDOFF, PRIMARY, TIERS
from .utc import as_exact_utc

STATE_OF_TIER: Final = {ALTERNATE: "error_recovery", CONTINGENT: "escalating", EMERGENCY: "aborted"}
"""The state of a role in a tier, unless the host reports one."""
DEGRADED_AT: Final = 2
"""Number of consecutive failures at which a role in primary becomes degraded."""


class Situation(NamedTuple):
    """The input of a report. Times are seconds since 1970-01-01 UTC. None means unknown.

    >>> compute_report(Situation(role_id="co", now=0, failures_consecutive=2))["status"]["health"]
    'degraded'
    """

    role_id: str
    now: float
    role_name: str = ""
    org_id: str = ""
    reports_to: str | None = None
    agent_number: int = 0
    tier: str = PRIMARY
    """The role's PACE tier."""
    state: str | None = None
    """One of `STATES`. None derives it from tier and task."""
    task: str = ""
    """The task in words."""
    domain: str = ""
    plan: str = ""
    """The id of the active plan, empty without one."""
    plan_step: int = 0
    plan_steps: int = 0
    plan_steps_done: int = 0
    plan_turns_since_progress: int | None = None
    """The plan's own count of turns without progress. It takes precedence over the host's count."""
    iterations_on_step: int = 0
    tool: str = ""
    working_directory: str = ""
    files_modified: Sequence[str] = ()
    files_read: Sequence[str] = ()
    resources_claimed: Sequence[str] = ()
    task_started: float | None = None
    turns_elapsed: int = 0
    """Number of model calls since the task began. The emission schedule uses it."""
    turns_since_progress: int = 0
    model: str = ""
    """The model's name, never its configuration."""
    tokens_used: int = 0
    tokens_max: int = 0
    tokens_at_start: int | None = None
    """Tokens in use when the task began. The remaining turns are estimated from it."""
    context_fill: float | None = None
    """Share of the window in use, if tokens are unknown."""
    gpu_available: bool | None = None
    failures_consecutive: int = 0
    failures_total: int = 0
    memory_fragments: int = 0


def compute_report(situation: Situation) -> Report:
    """Compute the report of a situation. Never raises: a value that does not fit becomes the default, and secrets are
    masked.
    """
    s = situation
    tier = s.tier if s.tier in TIERS else PRIMARY
    failures = fit_count(s.failures_consecutive)
    has_plan = bool(fit_name(s.plan))
    steps, done = fit_count(s.plan_steps), fit_count(s.plan_steps_done)
    stale = s.turns_since_progress if s.plan_turns_since_progress is None else s.plan_turns_since_progress
    return {
        "_schema": SCHEMA,
        "_version": VERSION,
        "status": {
            "state": _get_state(s, tier),
            "progress": round(fit_fraction(done / steps), 4) if has_plan and steps else 0.0,
            "pace_level": tier,
            "health": _compute_health(tier, failures),
        },
        "activity": {
            "current_task": fit_text(s.task),
            "bst_domain": fit_name(s.domain),
            "htn_plan": fit_name(s.plan),
            "htn_step": fit_count(s.plan_step) if has_plan else 0,
            "htn_total_steps": steps if has_plan else 0,
            "current_tool": fit_name(s.tool),
            "iterations_on_current_step": fit_count(s.iterations_on_step),
        },
        "location": {
            "working_directory": fit_text(s.working_directory),
            "files_modified": fit_list(s.files_modified),
            "files_read": fit_list(s.files_read),
            "resources_claimed": fit_list(s.resources_claimed),
        },
        "unit": {
            "role_id": fit_name(s.role_id),
            "role_name": fit_name(s.role_name),
            "agent_number": fit_count(s.agent_number),
            "reports_to": None if s.reports_to is None else fit_name(s.reports_to),
            "organization": fit_name(s.org_id),
        },
        "time": {
            "timestamp": _format_moment(s.now) or _format_moment(0),
            "task_started": _format_moment(s.task_started),
            "elapsed_seconds": _compute_elapsed(s.now, s.task_started),
            "turns_elapsed": fit_count(s.turns_elapsed),
            "turns_since_progress": fit_count(stale),
            "context_turns_remaining": _estimate_turns_remaining(s),
        },
        "environment": {
            "model": fit_name(s.model),
            "context_fill_pct": _fill_percentage(s),
            "context_tokens_used": fit_count(s.tokens_used),
            "context_tokens_max": fit_count(s.tokens_max),
            "gpu_available": fit_flag(s.gpu_available),
            "tool_failures_consecutive": failures,
            "tool_failures_total": max(failures, fit_count(s.failures_total)),
            "memory_fragments_stored": fit_count(s.memory_fragments),
        },
    }  # fmt: skip


def _get_state(situation: Situation, tier: str) -> str:
    if situation.state in STATES:
        return situation.state
    return STATE_OF_TIER.get(tier) or ("active" if situation.task or situation.turns_elapsed else "idle")


def _compute_health(tier: str, failures: int) -> str:
    if tier in NO_NEW_HANDOFF:
        return "critical"
    return "degraded" if tier == ALTERNATE or failures >= DEGRADED_AT else "nominal"


def _fill_percentage(situation: Situation) -> float:
    used, most = fit_count(situation.tokens_used), fit_count(situation.tokens_max)
    share = used / most if most else fit_amount(situation.context_fill)
    return round(100 * share, 1)


def _estimate_turns_remaining(situation: Situation) -> int | None:
    """How many more turns fit in the window if they use as many tokens as the turns of this task so far."""
    turns, most = fit_count(situation.turns_elapsed), fit_count(situation.tokens_max)
    if situation.tokens_at_start is None or not turns or not most:
        return None
    used = fit_count(situation.tokens_used)
    grown = used - fit_count(situation.tokens_at_start)
    return min(int(max(most - used, 0) * turns // grown), LARGEST) if grown > 0 else None


def _compute_elapsed(now: float, started: float | None) -> float:
    if started is None or _format_moment(now) is None or _format_moment(started) is None:
        return 0
    return round(fit_amount(now - started), 3)


def _format_moment(seconds: object) -> str | None:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    return _format_known_moment(seconds)


@lru_cache(maxsize=64)
def _format_known_moment(seconds: float) -> str | None:
    """A task keeps the time of its start, and each model call asks for it."""
    return as_exact_utc(seconds)


Cause: TypeAlias = Literal["", "first", "tier", "state", "completion", "failure", "interval"]

DEFAULT_INTERVAL: Final = 5
"""`doctrine.salute_interval_turns` of the specification's example."""
_ENDINGS: Final[Mapping[str, tuple[str, Cause]]] = {
    "complete": ("report_on_completion", "completion"),
    "aborted": ("report_on_failure", "failure"),
}


class EmissionState(NamedTuple):
    """The host's memory about the reports of one role."""

    role_id: str
    state: str
    pace_level: str
    task_started: str | None
    turns_elapsed: int
    """The last value reported by the host."""
    turns_since: int = 0
    """Model calls since the last report that was due."""


class Emission(NamedTuple):
    """Whether a report is due now, the reason, and the state to remember."""

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
    cause = _find_cause(previous, now, since, doctrine)
    if cause:
        return Emission(True, cause, now)
    return Emission(
        False, "", EmissionState(role_id, now.state, now.pace_level, now.task_started, turns, since)
    )


def find_emission(
    previous: EmissionState | None, situation: Situation, doctrine: Mapping[str, Any]
) -> Emission:
    """Decide whether a report about the situation is due, without computing the whole report.

    Law: the same as `should_emit` with `compute_report`.
    """
    tier = situation.tier if situation.tier in TIERS else PRIMARY
    part = {
        "status": {"state": _get_state(situation, tier), "pace_level": tier},
        "unit": {"role_id": fit_name(situation.role_id)},
        "time": {
            "task_started": _format_moment(situation.task_started),
            "turns_elapsed": fit_count(situation.turns_elapsed),
        },
    }
    return should_emit(previous, part, doctrine)


def _find_cause(
    previous: EmissionState, now: EmissionState, since: int, doctrine: Mapping[str, Any]
) -> Cause:
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
