"""The board: the status of each role by its latest report, and whether the report is stale.

A report is *stale* if its role is working and should have reported again: after three times the interval in its doctrine.
The interval is in turns, so it is converted by the length of the role's turns; the limit is at least two minutes. A
resting role does not report and is never stale. A report from the *future* comes from a clock that is ahead; it counts as
made when it arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import msgspec

from orgkernel.decisions.evidence.state_view import PaceTierName, StoredReport
from orgkernel.kernel.registry_state import RegistryState
from orgkernel.runtime.utc import as_seconds, as_utc

RoleState = Literal["idle", "active", "waiting", "error_recovery", "escalating", "complete", "aborted"]
Health = Literal["nominal", "degraded", "critical"]

Intervals = Callable[[str, str], int]
"""The number of turns between two reports, by organization and role."""

DEFAULT_INTERVAL = 5
"""Default number of turns, as in the specification's profiles."""
WORKING = frozenset({"active", "waiting", "error_recovery", "escalating"})
"""States in which a role keeps reporting."""
AHEAD_SECONDS = 60.0
"""Two correct clocks may differ by this many seconds."""
_MISSED = 3
_TURN_SECONDS = 60.0
"""The assumed length of a turn if no report shows it."""
_MIN_SECONDS, _MAX_SECONDS = 120.0, 6 * 3_600.0


class BoardLine(msgspec.Struct, frozen=True, kw_only=True):
    """The status of one agent in one role."""

    number: int
    """Number of the report. Later reports have higher numbers."""
    org_id: str
    role_id: str
    role_name: str
    agent_id: str
    """The agent whose API key or folder delivered the report. Empty if unknown."""
    agent_number: int
    """The agent's number in its host."""
    pace_level: PaceTierName
    health: str
    state: str
    progress: float
    """Progress from 0 to 1."""
    task: str
    plan: str
    tool: str
    at: str
    """When the report was made, in UTC: by its own clock, but not later than it arrived."""
    received_at: str
    age_seconds: int
    stale_after_seconds: int | None
    """Age in seconds from which the report is stale. Null for a resting role."""
    is_stale: bool
    ahead_seconds: int
    """Seconds by which the clock of its host is ahead. 0 if it is not ahead, or by less than a minute."""


class ReportDetail(BoardLine, frozen=True, kw_only=True):
    """A line of the board, with the full report."""

    report: Mapping[str, Any]


def build_line(report: StoredReport, interval: int, now: float) -> BoardLine:
    """The line of a report at a given time."""
    return BoardLine(**_build_fields(report, interval, now))


def build_detail(report: StoredReport, interval: int, now: float) -> ReportDetail:
    """The line of a report, with the full report."""
    return ReportDetail(**_build_fields(report, interval, now), report=report.body)


def build_board(reports: Iterable[StoredReport], intervals: Intervals, now: float) -> tuple[BoardLine, ...]:
    """The lines of reports, in the same order."""
    return tuple(build_line(each, intervals(each.org_id, each.role_id), now) for each in reports)


def get_intervals(state: RegistryState | None) -> Intervals:
    """The intervals in the profiles of served organizations. Undeclared roles have the default interval."""

    def find(org_id: str, role_id: str) -> int:
        served = None if state is None else state.served.get(org_id)
        post = None if served is None else served.snapshot.records.posts.get(role_id)
        return DEFAULT_INTERVAL if post is None else post.profile.doctrine.salute_interval_turns

    return find


def compute_stale_after(body: Mapping[str, Any], interval: int) -> float | None:
    """Seconds after which the next report is overdue. None for a resting role."""
    if _read_text(body, "status", "state") not in WORKING:
        return None
    turns, seconds = (
        _read_number(body, "time", "turns_elapsed"),
        _read_number(body, "time", "elapsed_seconds"),
    )
    a_turn = seconds / turns if turns > 0 and seconds > 0 else _TURN_SECONDS
    return min(max(_MISSED * interval * a_turn, _MIN_SECONDS), _MAX_SECONDS)


def _build_fields(report: StoredReport, interval: int, now: float) -> dict[str, Any]:
    body = report.body
    age = max(0.0, now - report.at)
    lasts = compute_stale_after(body, interval)
    said_at = as_seconds(_read_text(body, "time", "timestamp")) or report.at
    ahead = said_at - report.received_at
    return {
        "number": report.number,
        "org_id": report.org_id,
        "role_id": report.role_id,
        "role_name": _read_text(body, "unit", "role_name") or report.role_id,
        "agent_id": report.agent_id,
        "agent_number": report.agent_number,
        "pace_level": report.tier,
        "health": _read_text(body, "status", "health") or "nominal",
        "state": _read_text(body, "status", "state"),
        "progress": _read_number(body, "status", "progress"),
        "task": _read_text(body, "activity", "current_task"),
        "plan": _read_text(body, "activity", "htn_plan"),
        "tool": _read_text(body, "activity", "current_tool"),
        "at": as_utc(report.at) or "",
        "received_at": as_utc(report.received_at) or "",
        "age_seconds": int(age),
        "stale_after_seconds": None if lasts is None else int(lasts),
        "is_stale": lasts is not None and age > lasts,
        "ahead_seconds": int(ahead) if ahead > AHEAD_SECONDS else 0,
    }


def _read_text(body: Mapping[str, Any], section: str, field: str) -> str:
    value = body.get(section, {}).get(field)
    return value if isinstance(value, str) else ""


def _read_number(body: Mapping[str, Any], section: str, field: str) -> float:
    value = body.get(section, {}).get(field)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
