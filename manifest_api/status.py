"""What the kernel holds, in the words of this surface: findings, and which organizations answer from what."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from manifest_api.shapes import Finding, OrganizationStanding
from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.diagnostics.render import as_data
from orgkernel.kernel.registry_state import State


def build_finding(found: Diagnostic) -> Finding:
    """A diagnostic as it is answered."""
    return msgspec.convert(as_data(found), Finding)


def count_severity(diagnostics: Iterable[Diagnostic], severity: Severity) -> int:
    """How many findings have a severity."""
    return sum(found.severity is severity for found in diagnostics)


def build_standing(state: State, org_id: str) -> OrganizationStanding:
    """How one organization stands; it is served, refused or both."""
    answering = state.served.get(org_id)
    found = state.refused.get(org_id, ())
    first = next((each for each in found if each.severity is Severity.ERROR), None)
    return OrganizationStanding(
        org_id=org_id,
        standing="refused" if answering is None else "stale" if answering.stale else "served",
        snapshot=answering.snapshot.digest if answering else None,
        errors=count_severity(found, Severity.ERROR),
        reason=f"{first.place} {first.code} {first.message}" if first else "",
    )


def build_standings(state: State) -> tuple[OrganizationStanding, ...]:
    """Every organization there is, those that answer first."""
    return tuple(build_standing(state, org_id) for org_id in {**state.served, **state.refused})


def not_fresh(standings: Iterable[OrganizationStanding]) -> tuple[OrganizationStanding, ...]:
    """Those that are stale or refused."""
    return tuple(each for each in standings if each.standing != "served")
