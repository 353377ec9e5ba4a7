"""The report of a gateway: the tools that each role does not see, the calls, and proposed changes of the documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import msgspec

from orgkernel.decisions.access.identity import identify
from orgkernel.decisions.evidence.state_records import AuditRow
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from orgkernel.mcp.gateway.bindings import bind, list_servers, map_server_tools
from orgkernel.mcp.gateway.drafting import draft_diff
from orgkernel.mcp.gateway.pins import Pins
from orgkernel.mcp.gateway.proposals import NARROWING, propose_asking, propose_narrowing
from orgkernel.mcp.gateway.spared import count_spared
from orgkernel.mcp.gateway.use_summary import UseSummary
from orgkernel.operations.reports.tool_use import ObservedUse, count_tool_use
from orgkernel.runtime.utc import as_utc

DAY = 86_400.0


class ReportTerms(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a report."""

    since: float
    """Start of the period, in seconds since 1970."""
    now: float
    at_least: float
    """Seconds of calls without which nothing is taken away."""
    often: int
    """Number of refusals after which an approval is proposed."""
    role: str | None = None
    """The only role to report about."""
    asks: bool = False
    """Whether the diff has the proposals to ask as well."""
    folder: str = "."
    """The folder that the diff is for."""


class GatewayReport(UseSummary, frozen=True, kw_only=True):
    """The use of a gateway, the proposals, and their edits of the documents."""

    findings: tuple[str, ...]
    """Further findings of `orgkernel check` after the diff."""
    diff: str
    folder: str
    """The folder to apply the diff in."""


def build_report(
    kernel: Kernel,
    org_id: str,
    pins: Pins,
    decisions: Iterable[AuditRow],
    uses: Iterable[AuditRow],
    terms: ReportTerms,
) -> GatewayReport:
    """Build the report. The kernel decides with the state of the store. Nothing is changed. Raises `StoreError`."""
    summary = summarize_use(kernel, org_id, pins, decisions, uses, terms)
    drafted = draft_diff(kernel, org_id, summary.proposals, terms.folder)
    fields = msgspec.structs.asdict(summary) | {"proposals": drafted.proposals}
    return GatewayReport(**fields, findings=drafted.findings, diff=drafted.diff, folder=drafted.folder)


def summarize_use(
    kernel: Kernel,
    org_id: str,
    pins: Pins,
    decisions: Iterable[AuditRow],
    uses: Iterable[AuditRow],
    terms: ReportTerms,
) -> UseSummary:
    """The report without the edits, which take most of the time. Raises `StoreError`."""
    view = kernel.organization(org_id).snapshot.index
    tools = {tool_id for server in pins.servers for tool_id in map_server_tools(view, server)}
    roles = [
        each
        for each in view.roles
        if terms.role in (None, each)
        and (each == terms.role or not tools.isdisjoint(view.get_tool_levels(each)))
    ]
    use = count_tool_use(decisions, uses, org_id, partial(_list_roles, view))
    seasoned = [each for each in roles if terms.now - use.first_of.get(each, terms.now) >= terms.at_least]
    all_proposals = [
        *propose_narrowing(view, pins.servers, _map_served_tools(view, pins), use, seasoned),
        *propose_asking(
            kernel, org_id, use, [each for each in view.roles if terms.role in (None, each)], terms.often
        ),
    ]
    # A refused caller could provoke a proposal that allows more, so such proposals are in the diff only on request.
    proposals = tuple(
        each
        if terms.asks or each.by_hand or each.kind in NARROWING
        else msgspec.structs.replace(
            each, by_hand="it allows something new; `--asks` includes it in the diff"
        )
        for each in all_proposals
    )
    days = 0.0 if use.first_at is None else (terms.now - use.first_at) / DAY
    return UseSummary(
        org_id=org_id,
        since=as_utc(terms.since) or "",
        days=round(days, 1),
        spared=count_spared(kernel, org_id, pins, roles),
        calls=tuple(
            each for each in use.calls if terms.role is None or terms.role in _list_roles(view, each.subject)
        ),
        proposals=proposals,
        notes=tuple(_list_notes(view, pins, use, roles, seasoned, terms)),
    )


def _map_served_tools(view: OrgView, pins: Pins) -> dict[str, list[str]]:
    """Map declared tools to the names of the tools on their servers."""
    names_by_tool: dict[str, list[str]] = {}
    for server in pins.servers:
        definitions = pins.definitions(server)
        declared = map_server_tools(view, server)
        for name in definitions:
            for binding in bind(declared, server, name):
                names_by_tool.setdefault(binding.tool_id, []).append(name)
    return names_by_tool


def _list_roles(view: OrgView, subject: str) -> tuple[str, ...]:
    identity = identify(view, subject)
    return identity.roles if identity is not None and identity.is_crew else ()


def _list_notes(
    view: OrgView,
    pins: Pins,
    use: ObservedUse,
    roles: Sequence[str],
    seasoned: Sequence[str],
    terms: ReportTerms,
) -> Iterable[str]:
    if not pins.servers:
        yield f"{quote(pins.path)} lists no tools: start the gateway once, or run `orgkernel gateway accept`"
    if unknown := [each for each in list_servers(view) if not pins.knows(each)]:
        yield f"the report leaves out {listing(unknown)}: {quote(pins.path)} lists no tools of it"
    if not roles:
        yield "no role has a tool of these servers"
    idle = [each for each in roles if each not in use.first_of]
    short = [each for each in roles if each not in idle and each not in seasoned]
    if idle:
        yield f"no agent in {_format_roles(idle)} has called anything, so no removal is proposed"
    days = terms.at_least / DAY
    if short and terms.now - terms.since < terms.at_least:
        yield f"`--since` leaves less than {days:g} days, so no removal is proposed"
    elif short:
        yield f"the calls of {_format_roles(short)} began less than {days:g} days ago, so no removal is proposed"


def _format_roles(roles: Sequence[str]) -> str:
    return f"{'role' if len(roles) == 1 else 'roles'} {listing(roles)}"
