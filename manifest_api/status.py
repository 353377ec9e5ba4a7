"""Findings and organizations as HTTP answers: lists, charts and status."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from manifest_api.shapes import (
    DiagnosticRow,
    OrganizationDetail,
    OrganizationLine,
    OrganizationList,
    OrganizationStanding,
    RoleLine,
)
from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.diagnostics.render import convert_to_data
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import OrgkernelError, UnknownOrganization
from orgkernel.graph.out_of_service import list_out_of_service
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.names import ACTIVE
from orgkernel.kernel.registry_state import RegistryState
from orgkernel.manifest.role import list_handoff_targets
from orgkernel.prepared_types import prepared
from orgkernel.snapshots.snapshot import OrgSnapshot


def build_finding(diagnostic: Diagnostic) -> DiagnosticRow:
    """A diagnostic as an HTTP answer."""
    return msgspec.convert(convert_to_data(diagnostic), prepared(DiagnosticRow))


def count_severity(diagnostics: Iterable[Diagnostic], severity: Severity) -> int:
    """The number of findings of a severity."""
    return sum(diagnostic.severity is severity for diagnostic in diagnostics)


def build_standing(state: RegistryState, org_id: str) -> OrganizationStanding:
    """The status of an organization."""
    answering = state.served.get(org_id)
    diagnostics = state.refused.get(org_id, answering.snapshot.diagnostics if answering else ())
    first = next((each for each in diagnostics if each.severity is Severity.ERROR), None)
    reason = f"{first.place} {first.code} {first.message}" if first else ""
    if (
        answering is not None
        and not answering.stale
        and (out := list_out_of_service(answering.snapshot.records))
    ):
        others = f", and {len(out) - 1} more" if out[1:] else ""
        reason = f"{out[0].located_reason}{others}"
    return OrganizationStanding(
        org_id=org_id,
        standing="refused" if answering is None else "stale" if answering.stale else "served",
        snapshot=answering.snapshot.digest if answering else None,
        errors=count_severity(diagnostics, Severity.ERROR),
        reason=reason,
    )


def build_standings(state: RegistryState) -> tuple[OrganizationStanding, ...]:
    """All organizations, served ones first."""
    return tuple(build_standing(state, org_id) for org_id in {**state.served, **state.refused})


def list_not_fresh(standings: Iterable[OrganizationStanding]) -> tuple[OrganizationStanding, ...]:
    """Organizations that are stale or refused."""
    return tuple(each for each in standings if each.standing != "served")


def list_organizations(kernel: Kernel, after: str | None, limit: int) -> OrganizationList:
    """At most `limit` organizations after the given one, including refused ones. Raises `UnknownOrganization`."""
    state = kernel.state
    known = [*{**state.served, **state.refused}]
    if after is not None and after not in known:
        raise UnknownOrganization(f"the cursor does not name an organization: {quote(after)}")
    start = 0 if after is None else known.index(after) + 1
    page = known[start : start + limit]
    return OrganizationList(
        organizations=tuple(_build_line(state, org_id) for org_id in page),
        count=len(known),
        active=_find_active(kernel),
        next=page[-1] if page and start + limit < len(known) else None,
        snapshot=state.latest.digest,
    )


def show_organization(kernel: Kernel, org: str) -> OrganizationDetail:
    """An organization with its chart. Raises what `Kernel.organization` raises."""
    state = kernel.state
    snapshot = kernel.organization(org).snapshot
    view = snapshot.index
    manifest = kernel.crew(org, limit=0)
    return OrganizationDetail(
        **msgspec.structs.asdict(_build_line(state, view.org_id)),
        mode=view.records.organization.mode,
        departments=manifest.departments,
        domains=manifest.domains,
        roots=manifest.roots,
        chart=tuple(_build_role(snapshot, role_id) for role_id in view.roles),
        tools=tuple(sorted(view.records.tools)),
        agents_without_role=tuple(
            agent_id
            for agent_id, agent in view.records.agents.items()
            if agent.record.crew_tier == "crew" and not agent.record.assignments
        ),
    )


def _find_active(kernel: Kernel) -> str | None:
    try:
        return kernel.organization(ACTIVE).snapshot.org_id
    except OrgkernelError:
        return None


def _build_line(state: RegistryState, org_id: str) -> OrganizationLine:
    answering = state.served.get(org_id)
    known = answering.snapshot if answering else state.latest.organizations.get(org_id)
    organization = known.records.organization if known else None
    return OrganizationLine(
        **msgspec.structs.asdict(build_standing(state, org_id)),
        org_name=organization.name if organization else "",
        description=organization.description if organization else "",
        roles=len(known.index.roles) if known else 0,
    )


def _build_role(snapshot: OrgSnapshot, role_id: str) -> RoleLine:
    view = snapshot.index
    profile = view.records.posts[role_id].profile
    superior = view.get_superior_edge(role_id)
    return RoleLine(
        role_id=role_id,
        role_name=profile.name,
        role_type=profile.role_type,
        reports_to=superior.target if superior else None,
        department=profile.department,
        domains=tuple(edge.target for edge in view.list_domains(role_id)),
        crew_tier=profile.crew_tier,
        layer=profile.layer,
        handoff_targets=list_handoff_targets(view, role_id),
        findings=len(snapshot.list_findings_about(f"role:{role_id}")),
    )
