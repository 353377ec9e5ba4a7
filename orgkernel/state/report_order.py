"""The order of SALUTE reports, whose times come from the clocks of many machines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter
from types import MappingProxyType

from orgkernel.decisions.evidence.state_view import RAISED, StoredReport

ReportingUnit = tuple[str, str, str, int]
"""An agent in a role: organization, role, agent and the agent's number in its host."""


def group_reports_by_subject(
    latest: Mapping[ReportingUnit, StoredReport], org_id: str | None
) -> tuple[Mapping[str, tuple[StoredReport, ...]], frozenset[str]]:
    """Group the reports by role and agent of an organization, newest first, and name those whose newest tier is
    raised.

    A report that is dated after the arrival of a later one came while a clock was ahead, so it is older than that one.
    """
    reports_per_subject: dict[str, list[StoredReport]] = {}
    for report in _sort_newest_first(latest.values()):
        if org_id in (None, report.org_id):
            reports_per_subject.setdefault(f"role:{report.role_id}", []).append(report)
            if report.agent_id:
                reports_per_subject.setdefault(f"agent:{report.agent_id}", []).append(report)
    raised = frozenset(
        subject for subject, reports in reports_per_subject.items() if reports[0].tier in RAISED
    )
    return MappingProxyType(
        {subject: tuple(reports) for subject, reports in reports_per_subject.items()}
    ), raised


def _sort_newest_first(reports: Iterable[StoredReport]) -> Iterable[StoredReport]:
    """Reports by their times. One that is dated after the arrival of a later one is older than all later ones."""
    timed: list[tuple[float, int, StoredReport]] = []
    # When the first of the later reports arrived, and the earliest time that one of them has.
    first_arrival = earliest_time = float("inf")
    # Reports of one number arrived together, so none of them is later than another.
    same_number: list[tuple[float, StoredReport]] = []
    for report in sorted(reports, key=attrgetter("number"), reverse=True):
        if same_number and same_number[-1][1].number != report.number:
            first_arrival = min(first_arrival, *(each.received_at for _, each in same_number))
            earliest_time = min(earliest_time, *(time for time, _ in same_number))
            same_number = []
        # The clock of a report that claims to be from after its successor's arrival was ahead, so its time is not used.
        time = report.at if report.at <= first_arrival else earliest_time
        same_number.append((time, report))
        timed.append((-time, -report.number, report))
    return (report for _, _, report in sorted(timed, key=lambda each: each[:2]))


def map_by_unit(reports: Iterable[StoredReport]) -> dict[ReportingUnit, StoredReport]:
    """The last of some reports for each agent in a role."""
    return {(each.org_id, each.role_id, each.agent_id, each.agent_number): each for each in reports}
