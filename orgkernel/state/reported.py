"""The latest reports as decisions and manifests read them: by whom they are about, one organization at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import msgspec

from orgkernel.decisions.state_view import RAISED, StoredReport

BySubject = Mapping[str, tuple[StoredReport, ...]]


class Reported(msgspec.Struct, frozen=True):
    """The latest report of each agent in each role, by organization and subject."""

    organizations: Mapping[str, BySubject]

    def of(self, org_id: str | None) -> tuple[BySubject, frozenset[str]]:
        """Those of one organization, or of all, and the subjects whose newest one is of a raised tier."""
        if org_id is not None:
            found = self.organizations.get(org_id, MappingProxyType({}))
        else:
            found = _merged(self.organizations.values())
        raised = frozenset(subject for subject, reports in found.items() if reports[0].tier in RAISED)
        return MappingProxyType(found), raised


NOTHING_REPORTED = Reported({})


def patch_reported(known: Reported, newer: Iterable[StoredReport]) -> Reported:
    """What is known, with reports that are the latest of their agents now."""
    organizations = dict(known.organizations)
    patched: dict[str, dict[str, tuple[StoredReport, ...]]] = {}
    for report in newer:
        org_id = report.org_id
        if org_id not in patched:
            patched[org_id] = dict(organizations.get(org_id, {}))
        subjects = patched[org_id]
        for subject in _subjects(report):
            subjects[subject] = _with(subjects.get(subject, ()), report)
    organizations.update(patched)
    return Reported(organizations)


def _with(reports: tuple[StoredReport, ...], report: StoredReport) -> tuple[StoredReport, ...]:
    """Newest first, with one report of each agent in a role."""
    others = [each for each in reports if _unit(each) != _unit(report)]
    return tuple(sorted([*others, report], key=lambda each: (-each.at, -each.number)))


def _unit(report: StoredReport) -> tuple[str, str, str, int]:
    return report.org_id, report.role_id, report.agent_id, report.agent_number


def _subjects(report: StoredReport) -> tuple[str, ...]:
    role = f"role:{report.role_id}"
    return (role, f"agent:{report.agent_id}") if report.agent_id else (role,)


def _merged(organizations: Iterable[BySubject]) -> BySubject:
    merged: dict[str, tuple[StoredReport, ...]] = {}
    for subjects in organizations:
        for subject, reports in subjects.items():
            merged[subject] = merged.get(subject, ()) + reports
    return {
        subject: tuple(sorted(reports, key=lambda each: (-each.at, -each.number)))
        for subject, reports in merged.items()
    }
