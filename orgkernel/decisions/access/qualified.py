"""Which qualifications a holder lacks (crew-capability facts §5)."""

from __future__ import annotations

from orgkernel.decisions.access.cells import Cell
from orgkernel.decisions.access.holders import Holder
from orgkernel.decisions.state_view import QualificationResult, StateView
from orgkernel.graph.records import OrgRecords

_DAY = 86_400.0
NONE_ASSUMED: frozenset[str] = frozenset()


def missing_qualifications(
    records: OrgRecords, state: StateView, holder: Holder, cell: Cell, now: float
) -> tuple[str, ...]:
    """What a resource needs and the holder has not passed, or not lately enough; a role has none."""
    assumed = NONE_ASSUMED if holder.assumed is None else holder.assumed.qualifications
    results = state.results.get(holder.identity.id, ()) if holder.is_agent else ()
    return tuple(
        qualification
        for qualification in cell.qualifications
        if qualification not in assumed and not has_passed(records, results, qualification, now)
    )


def has_passed(
    records: OrgRecords, results: tuple[QualificationResult, ...], qualification: str, now: float
) -> bool:
    """Whether the latest result is a pass that still counts."""
    latest = next((each for each in reversed(results) if each.qualification == qualification), None)
    if latest is None or not latest.passed:
        return False
    declared = records.qualifications.get(qualification)
    days = None if declared is None else declared.record.expires_after_days
    ends = [
        each
        for each in (latest.expires_at, None if days is None else latest.at + days * _DAY)
        if each is not None
    ]
    return all(end > now for end in ends)
