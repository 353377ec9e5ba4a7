"""Submit SALUTE reports: one by one, or from the folder a host writes them to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from orgkernel.decisions.evidence.state_records import ReportReceipt
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.errors import Refused
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.names import ACTIVE
from orgkernel.operations.context import Actor, Context
from orgkernel.operations.reports.collecting import Collector

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

OTHER_REPORTER = "OTHER_REPORTER"
OTHER_ORGANIZATION = "OTHER_ORGANIZATION"


def hand_in_report(context: Context, report: Mapping[str, Any], *, org: str | None = None) -> ReportReceipt:
    """Store a parsed report. An agent reports for the roles it fills. Submitting the same report twice changes nothing.

    `org` is the receiving organization, by default the one that the report names. Raises `Refused`,
    `OTHER_ORGANIZATION` if it names another one; `UnknownOrganization` and `UnknownRole`.
    """
    unit, actor = report["unit"], context.actor
    if context.kernel is not None:
        named = unit.get("organization") or org or ACTIVE
        org_id = _require_reporter(context.kernel, actor, named, unit["role_id"])
        if org is not None and resolve_org(context.kernel, org) != org_id:
            raise Refused(
                f"the report is of organization {quote(org_id)}, but is submitted to {quote(org)}",
                "leave `unit.organization` out, or submit the report to that organization",
                OTHER_ORGANIZATION,
            )
        report = {**report, "unit": {**unit, "organization": org_id}}
    return context.store.reports.record(report, actor=actor.name, agent_id=actor.agent_id)


def build_collector(
    store: Store, folder: str, clock: Callable[[], float], *, agent_id: str = "", org_id: str = ""
) -> Collector:
    """A collector that stores the report files of a folder, each exactly once."""
    return Collector(folder, store.reports, clock, agent_id=agent_id, org_id=org_id)


def drop_reports(store: Store, older_seconds: float) -> int:
    """Delete reports that are older and not the latest of their agent. Returns their number."""
    return store.reports.drop_old(older_seconds)


def resolve_org(kernel: Kernel, org: str) -> str:
    """The organization with a name, even if it has errors, because its roles still report."""
    return org if org in kernel.state.refused else kernel.organization(org).snapshot.org_id


def _require_reporter(kernel: Kernel, actor: Actor, org: str, role_id: str) -> str:
    """The organization of a report. Raises `Refused` if the actor may not report for its role."""
    org_id = resolve_org(kernel, org)
    if org_id in kernel.state.refused and not actor.agent_id:
        return org_id  # its roles are not known at present, but the report must not be lost
    snapshot = kernel.organization(org_id).snapshot
    snapshot.require_role(role_id)
    if actor.agent_id:
        fills = [edge.target for edge in snapshot.index.list_roles_filled_by(actor.agent_id)]
        if role_id not in fills:
            raise Refused(
                f"the credential belongs to agent {quote(actor.agent_id)}, which does not fill role {quote(role_id)}",
                f"it fills {listing(fills)}" if fills else f"it fills no role of {quote(org_id)}",
                OTHER_REPORTER,
            )
    return org_id
