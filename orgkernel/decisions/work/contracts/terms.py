"""The terms of an organization for contracts, in addition to the rules: modes, phrases, and the batch size.

An undeclared lead must meet the organization's strictest mode, so an unknown name never weakens a requirement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal

import msgspec

from orgkernel.decisions.work.contracts.findings import ContractFinding, normalize_agent_name
from orgkernel.decisions.work.contracts.preferences import find_one_of, say_preference, say_waiting
from orgkernel.diagnostics import contract_rows as row
from orgkernel.diagnostics.handoff_rows import AUDIT_NOT_OPTIONAL
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Blocker, LmcRecord, SessionReport
from orgkernel.graph.governance import read_governance
from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView

OwnershipAudits = Literal["always", "stated", "optional"]
LmcMode = Literal["direct", "lite", "full"]
MODES: Final[tuple[LmcMode, ...]] = ("direct", "lite", "full")
"""The modes, least strict first."""


class LeadTerms(msgspec.Struct, frozen=True):
    """The mode in which an agent or role leads, and its source."""

    mode: LmcMode
    said_by: str
    """The source of the mode, such as `role planner`."""


class ContractTerms(msgspec.Struct, frozen=True):
    """The terms of an organization."""

    phrases: tuple[str, ...] = ()
    """Phrases that reveal a waiting session, in addition to the fixed ones."""
    leads: Mapping[str, LeadTerms] = {}
    """The terms of leads, keyed by role or agent."""
    others: LeadTerms | None = None
    """The terms of an undeclared lead."""
    batch_size: int | None = None
    ownership_audits: OwnershipAudits = "stated"
    """The clean reports that need an ownership audit, as in a governance document."""


@PerView
def get_contract_terms(view: OrgView) -> ContractTerms:
    """The terms of an organization."""
    records = view.records
    governance = read_governance(records.governance)
    by_layer = {} if governance is None else governance.lmc_modes
    roles: dict[str, LeadTerms] = {}
    for role_id, post in records.posts.items():
        profile = post.profile
        if profile.lmc_mode is not None:
            roles[role_id] = LeadTerms(profile.lmc_mode, f"role {quote(role_id)}")
        elif profile.layer in by_layer:
            roles[role_id] = LeadTerms(by_layer[profile.layer], f"layer {quote(profile.layer)}")
    direct = LeadTerms("direct", "")
    strictest = [
        LeadTerms(MODES[-1], f"role {quote(role_id)}, which is out of service,")
        for role_id in records.withheld
    ]
    leads = {normalize_agent_name(role_id): roles.get(role_id, direct) for role_id in records.posts}
    for agent_id in records.agents:
        own = [edge.target for edge in view.list_roles_filled_by(agent_id)]
        name = normalize_agent_name(agent_id)
        role_terms = [roles[each] for each in own if each in roles]
        # A name that a role and an agent share stands for both.
        leads[name] = _merge_strictest([*role_terms, *([leads[name]] if name in leads else [direct])])
    # What a role out of service requires is not known.
    leads |= {
        normalize_agent_name(each): strictest[0] for each in (*records.withheld, *records.withheld_agents)
    }
    demanded = [*roles.values(), *strictest]
    return ContractTerms(
        () if governance is None else governance.phrases,
        leads,
        _merge_strictest(demanded) if demanded else None,
        None if governance is None else governance.batch_size,
        (governance and governance.ownership_audits) or "stated",
    )


def _merge_strictest(terms: Iterable[LeadTerms]) -> LeadTerms:
    return max(terms, key=lambda each: MODES.index(each.mode))


def find_weak_mode(record: LmcRecord, terms: ContractTerms) -> Iterator[ContractFinding]:
    """LMC_INCOMPLETE: the mode is less strict than the organization declares for the lead."""
    demanded = terms.leads.get(normalize_agent_name(record.lead.strip().removeprefix("role:")), terms.others)
    if demanded is not None and MODES.index(record.mode) < MODES.index(demanded.mode):
        message = f"mode {quote(record.mode)} is less than {quote(demanded.mode)}, which {demanded.said_by} requires"
        yield ContractFinding(row.LMC_INCOMPLETE, ("mode",), message)


def find_declared_phrase(blocker: Blocker, terms: ContractTerms) -> Iterator[ContractFinding]:
    """BLOCK_IS_PREFERENCE: the blocker contains a phrase that the organization declares."""
    if words := find_one_of(terms.phrases, blocker.question or ""):
        yield ContractFinding(row.BLOCK_IS_PREFERENCE, ("question",), *say_preference(words))


def find_declared_waiting(report: SessionReport, terms: ContractTerms) -> Iterator[ContractFinding]:
    """ILLEGAL_TERMINAL_STATE: a pending action contains a phrase that the organization declares."""
    for number, action in enumerate(report.pending_actions if report.status == "pending" else ()):
        if words := find_one_of(terms.phrases, action):
            message, help = say_waiting(action, words)
            yield ContractFinding(row.ILLEGAL_TERMINAL_STATE, ("pending_actions", number), message, help)


def find_declared_report(report: SessionReport, terms: ContractTerms) -> Iterator[ContractFinding]:
    """All findings about a report that depend on the terms of an organization."""
    yield from find_declared_waiting(report, terms)
    yield from find_skipped_audit(report, terms)


def find_skipped_audit(report: SessionReport, terms: ContractTerms) -> Iterator[ContractFinding]:
    """AUDIT_NOT_OPTIONAL: the report leaves out an audit that the organization requires."""
    if report.changes is not None and report.changes.no_audit and terms.ownership_audits != "optional":
        message = "the report leaves out the ownership audit, and the governance document does not allow it"
        yield ContractFinding(AUDIT_NOT_OPTIONAL, ("changes", "no_audit"), message)
