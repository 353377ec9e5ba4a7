"""Bind a contract to the hand-off that it belongs to. A contract that does not fit the log is refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from orgkernel.decisions.access.identity import identify
from orgkernel.decisions.evidence.state_records import ContractRecord, HandoffRecord
from orgkernel.decisions.handoff.edges import get_layer
from orgkernel.decisions.handoff.pairs import list_holder_names
from orgkernel.decisions.work.contracts.bindings import (
    HandoffFacts,
    SubjectNames,
    find_unbound,
    find_unbound_audit,
    get_handoff,
)
from orgkernel.decisions.work.contracts.findings import ContractFinding
from orgkernel.decisions.work.contracts.reading import ReadContract
from orgkernel.diagnostics.wording import listing
from orgkernel.documents.records import (
    Brief,
    Contract,
    Correction,
    DecisionEntry,
    LmcRecord,
    MissionClose,
    Preflight,
)
from orgkernel.errors import Refused
from orgkernel.graph.governance import read_governance
from orgkernel.graph.questions import OrgView
from orgkernel.operations.context import Context
from orgkernel.operations.rights import find_member

if TYPE_CHECKING:
    from orgkernel.state.contracts import ContractRows
    from orgkernel.state.handoffs import HandoffRows

UNBOUND = "CONTRACT_UNBOUND"
_POSITIONS = frozenset(("intake", "planner", "worker"))


def find_writer(context: Context, org_id: str) -> SubjectNames | None:
    """The names of the subject that stores a contract; None for an operator or an owner, whom no hand-off limits.

    Raises `Refused` (`UNKNOWN_NAME`, `AGENT_INACTIVE`).
    """
    member = find_member(context.kernel, context.actor, org_id)
    if member is None or member.is_owner_of(org_id):
        return None
    return _list_names(context, org_id, member.subject)


def complete_position(context: Context, org_id: str, entry: DecisionEntry) -> DecisionEntry:
    """A decision with the position of its agent, if it names none and the agent fills only roles of workers."""
    if entry.written_by is None and _list_positions(context, org_id, entry.agent) == {"worker"}:
        return msgspec.structs.replace(entry, written_by="worker")
    return entry


def bind_contract(
    context: Context,
    org_id: str,
    contract: Contract,
    rows: ContractRows,
    writer: SubjectNames | None,
    read: ReadContract | None = None,
) -> HandoffRecord | None:
    """The hand-off that a contract belongs to; None for a contract that belongs to none.

    `read` is the text of the contract, for the places in the message. Raises `Refused` (`CONTRACT_UNBOUND`).
    """
    facts = _collect_facts(context, org_id, contract, rows, writer)
    _refuse_unbound(find_unbound(contract, facts), read)
    if isinstance(contract, Brief):
        return None
    return facts.of_brief if isinstance(contract, MissionClose) else get_handoff(facts)


def bind_audit(
    context: Context, org_id: str, brief_id: str, rows: ContractRows, writer: SubjectNames | None
) -> HandoffRecord | None:
    """The hand-off of the work that an ownership audit is about. Raises `Refused` (`CONTRACT_UNBOUND`)."""
    log = open_log(rows, org_id)
    of_brief = log.find_brief(brief_id)
    facts = HandoffFacts(
        writer=writer,
        of_brief=of_brief,
        handed_on=log.list_under(brief_id),
        above=() if of_brief is None else log.list_above(of_brief),
    )
    _refuse_unbound(find_unbound_audit(brief_id, facts), None, "the audit")
    return of_brief


def _refuse_unbound(
    unbound: Iterable[ContractFinding], read: ReadContract | None, what: str = "the contract"
) -> None:
    findings = tuple(unbound)
    if findings:
        text = "; ".join(_describe(each, read) for each in findings)
        raise Refused(
            f"{what} does not fit the log of hand-offs: {text}",
            f"see the rules {listing({each.row.code: 0 for each in findings})}; `orgkernel task handoff list` shows the log",
            UNBOUND,
        )


def open_log(rows: ContractRows, org_id: str) -> HandoffRows:
    """The log of hand-offs, within the change that stores a contract."""
    from orgkernel.state.handoffs import HandoffRows  # slow to import: a check of a contract needs no store

    return HandoffRows(rows.transaction, org_id)


def _collect_facts(
    context: Context, org_id: str, contract: Contract, rows: ContractRows, writer: SubjectNames | None
) -> HandoffFacts:
    log = open_log(rows, org_id)
    original = _find_original(contract, rows)
    session = getattr(contract, "session", None) if original is None else original.session
    of_session = None if session is None else log.find_session(session)
    brief = _get_brief(contract, of_session)
    of_brief = None if brief is None else log.find_brief(brief)
    of_answered = _find_answered(contract, rows, log)
    work = of_answered or of_session or of_brief
    agent = contract.lead if isinstance(contract, LmcRecord) else getattr(contract, "agent", None)
    return HandoffFacts(
        agent=frozenset() if agent is None else _list_agent_names(context, org_id, agent),
        writer=writer,
        of_session=of_session,
        of_brief=of_brief,
        of_answered=of_answered,
        handed_on=() if brief is None else log.list_under(brief),
        above=() if work is None else log.list_above(work),
        original=original,
        positions=_list_positions(context, org_id, agent),
        other_writers=_list_other_writers(context, org_id, agent, getattr(contract, "written_by", None)),
    )


def _find_original(contract: Contract, rows: ContractRows) -> ContractRecord | None:
    name = contract.original if isinstance(contract, Correction) else None
    return None if name is None else rows.get_end(name) or rows.find(name)


def _find_answered(contract: Contract, rows: ContractRows, log: HandoffRows) -> HandoffRecord | None:
    """The hand-off into the session of the blocker that a decision answers."""
    answers = contract.answers if isinstance(contract, DecisionEntry) else None
    blocker = None if answers is None else rows.find(answers, "blocker")
    return None if blocker is None or blocker.session is None else log.find_session(blocker.session)


def _get_brief(contract: Contract, work: HandoffRecord | None) -> str | None:
    """The brief of a contract: the one that it names, or the one that its session works by."""
    if isinstance(contract, Brief):
        return contract.parent
    if isinstance(contract, Preflight):
        named = None if contract.authorization is None else contract.authorization.brief
    else:
        named = getattr(contract, "brief", None)
    if named is not None or isinstance(contract, MissionClose | LmcRecord | DecisionEntry):
        return named
    return None if work is None else work.brief


def _list_names(context: Context, org_id: str, subject: str) -> SubjectNames:
    if context.kernel is None:
        return frozenset((subject,))
    identity = identify(context.kernel.access(org_id).view, subject)
    return frozenset((subject,)) if identity is None else list_holder_names(identity)


def _list_agent_names(context: Context, org_id: str, agent: str) -> SubjectNames:
    """The names of the agent in a contract. A role may report under its own name."""
    name = agent.strip().removeprefix("agent:")
    view = None if context.kernel is None else context.kernel.access(org_id).view
    role = f"role:{name.removeprefix('role:')}"
    if view is not None and name not in view.records.agents and identify(view, role) is not None:
        return frozenset((role,))
    return _list_names(context, org_id, f"agent:{name}")


def _list_roles(context: Context, org_id: str, agent: str | None) -> tuple[OrgView, tuple[str, ...]] | None:
    """The organization and the roles of an agent in it; None if they are not known."""
    if context.kernel is None or agent is None:
        return None
    view = context.kernel.access(org_id).view
    identity = identify(view, f"agent:{agent.strip().removeprefix('agent:')}")
    return None if identity is None or not identity.roles else (view, identity.roles)


def _list_positions(context: Context, org_id: str, agent: str | None) -> frozenset[str]:
    known = _list_roles(context, org_id, agent)
    if known is None:
        return frozenset()
    view, roles = known
    return frozenset(view.records.posts[role_id].profile.position or "" for role_id in roles)


def _list_other_writers(
    context: Context, org_id: str, agent: str | None, position: str | None
) -> frozenset[str]:
    """The roles and layers of the organization that the agent is not in, and a position that the organization does not
    have.
    """
    known = _list_roles(context, org_id, agent)
    if known is None:
        return frozenset()
    view, roles = known
    records = view.records
    governance = read_governance(records.governance)
    names = {} if governance is None else {each: layer.name for each, layer in governance.layers.items()}
    layers = (get_layer(records, role_id) for role_id in roles)
    own = _fold([*roles, *(word for layer in layers if layer for word in (layer, names.get(layer, "")))])
    declared = _fold([*records.posts, *names, *names.values()])
    unknown = _fold([] if position is None else [position]) - declared - _POSITIONS
    return (declared - own) | unknown


def _fold(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word.casefold() for word in words)


def _describe(finding: ContractFinding, read: ReadContract | None) -> str:
    """A finding with the line of the contract and the entry of the log."""
    lines = [*([] if read is None else [str(read.place(finding.route))]), finding.related_text]
    shown = ", ".join(filter(None, lines))
    return f"{finding.row.code} {finding.message}" + (f" ({shown})" if shown else "")
