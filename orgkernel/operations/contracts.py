"""Store contracts: one result for each session, corrections of results, and decisions in order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from orgkernel.decisions.evidence.state_records import AuditEntry, ContractRecord, HandoffRecord
from orgkernel.decisions.work.contracts.check import check_contract, get_contract_kind
from orgkernel.decisions.work.contracts.coherence import find_incoherence, find_open_blockers
from orgkernel.decisions.work.contracts.findings import ContractFinding
from orgkernel.decisions.work.contracts.handover import draft_brief
from orgkernel.decisions.work.contracts.reading import CheckedContract, ReadContract
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import (
    RECORDS,
    Blocker,
    Brief,
    Contract,
    Correction,
    DecisionEntry,
    MissionClose,
    SessionReport,
)
from orgkernel.errors import Refused
from orgkernel.operations.bindings import UNBOUND, bind_contract, complete_position, find_writer, open_log
from orgkernel.operations.context import Context
from orgkernel.operations.organizations import choose_organization, require_one
from orgkernel.operations.ownership_audits import fail_unaudited, get_stored_brief
from orgkernel.operations.reports.submission import OTHER_REPORTER
from orgkernel.prepared_types import prepared
from orgkernel.runtime.utc import as_utc

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store
    from orgkernel.state.contracts import ContractRows

UNSOUND = "CONTRACT_UNSOUND"


def record_contract(context: Context, checked: CheckedContract, *, org: str | None = None) -> ContractRecord:
    """Store a checked contract, if it is valid alone, by the terms of the organization and together with stored
    contracts.

    It is compared with its brief, a correction with its original, a log entry with the one it supersedes, a result with the
    open blockers of its session, a close with the results of its workers, and each with the hand-off that it belongs to. The
    audit log records refused reports, also those in the name of another agent, and every contract that is refused because of its
    hand-off.
    A clean report that needs an ownership audit and has none is stored as `failed`, with the finding as its reason.
    Raises `Refused` (`CONTRACT_UNSOUND`, `CONTRACT_UNBOUND`) and `Conflict` (`DONE_DUPLICATE`, `CONTRACT_EXISTS`).
    """
    contract = checked.contract
    try:
        if contract is None or checked.outcome != "sound":
            errors = [each for each in checked.diagnostics if each.severity is Severity.ERROR]
            error_summary = "; ".join(f"{each.code} {each.message}" for each in errors[:5])
            raise Refused(_say_unsound(error_summary), "correct it and check it again", UNSOUND)
        return _store(context, contract, org, checked.read)
    except Refused as refused:
        is_report = refused.code in (UNSOUND, OTHER_REPORTER) and isinstance(contract, SessionReport)
        if contract is not None and (is_report or refused.code == UNBOUND):
            _note_refused(context, contract, choose_contract_organization(context, org), refused.message)
        raise


def add_decision(context: Context, entry: DecisionEntry, *, org: str | None = None) -> ContractRecord:
    """Add an entry to the decision log. An entry without a time gets the current time. Raises as `record_contract`."""
    if entry.timestamp is None:
        entry = msgspec.structs.replace(entry, timestamp=as_utc(context.store.context.clock()))
    try:
        return _store(context, entry, org)
    except Refused as refused:
        if refused.code == UNBOUND:
            _note_refused(context, entry, choose_contract_organization(context, org), refused.message)
        raise


def read_decision_log(context: Context, org: str | None = None) -> tuple[DecisionEntry, ...]:
    """The entries of an organization, oldest first. Raises `Refused` (`LOG_MUTATED`) if stored entries were changed."""
    org_id = choose_contract_organization(context, org)
    if changes := context.store.contracts.find_changes(org_id):
        raise Refused(
            f"the decision log was changed: {changes[0]}", "compare it with a backup", "LOG_MUTATED"
        )
    records = context.store.contracts.list(org_id, "decision_entry")
    return tuple(msgspec.convert(record.body, prepared(DecisionEntry)) for record in records)


def draft_next_brief(context: Context, brief_id: str, org: str | None = None) -> Brief:
    """A brief derived from a stored one, with the results and decisions of its mission. Raises `UnknownRecord`."""
    store, org_id = context.store, choose_contract_organization(context, org)
    parent = get_stored_brief(context, org_id, brief_id)
    records = store.contracts.list(org_id)
    below = {brief_id, *(each.record_id for each in records if each.body.get("parent") == brief_id)}
    corrected = {each.body.get("original") for each in records if each.kind == "correction"}
    reports = [
        msgspec.convert(each.body, prepared(SessionReport))
        for each in records
        if each.kind in ("result", "correction") and each.brief_id in below
        if each.kind == "correction" or not {each.record_id, each.session} & corrected
    ]
    return draft_brief(
        parent,
        reports,
        read_decision_log(context, org),
        store.contracts.new_id(),
    )


def list_contracts(
    context: Context,
    org: str | None = None,
    *,
    kind: str | None = None,
    session: str | None = None,
    is_open: bool = False,
) -> tuple[ContractRecord, ...]:
    """The stored contracts, oldest first; with `is_open`, the blockers that no decision has answered."""
    return select_contracts(context.store, choose_contract_organization(context, org), kind, session, is_open)


def select_contracts(
    store: Store, org_id: str, kind: str | None, session: str | None, is_open: bool
) -> tuple[ContractRecord, ...]:
    """The contracts of a store, as in `list_contracts`. With `is_open`, only blockers are returned."""
    if not is_open:
        return store.contracts.list(org_id, kind, session)
    return store.contracts.open_blockers(org_id, session) if kind in (None, "blocker") else ()


def choose_contract_organization(context: Context, org: str | None) -> str:
    """The organization of the contracts. Raises `Refused` and `UnknownOrganization`."""
    org_id = choose_organization(context, org)
    require_one(org_id, "a contract")
    return org_id if context.kernel is None else context.kernel.organization(org_id).snapshot.org_id


def _store(
    context: Context, contract: Contract, org: str | None, read: ReadContract | None = None
) -> ContractRecord:
    org_id = choose_contract_organization(context, org)
    writer = find_writer(context, org_id)
    agent_id = context.actor.agent_id
    if agent_id and isinstance(contract, Blocker | DecisionEntry) and contract.agent is None:
        contract = msgspec.structs.replace(contract, agent=agent_id)
    agent = getattr(contract, "agent", None)
    if agent_id and agent is not None and agent != agent_id:
        message = f"the credential belongs to agent {quote(agent_id)}, but the contract is of {quote(agent)}"
        raise Refused(message, "write the contract as the agent of the credential", OTHER_REPORTER)
    if isinstance(contract, DecisionEntry):
        contract = complete_position(context, org_id, contract)
        _require_sound(contract, None)
    if isinstance(contract, SessionReport) and contract.session is None:
        raise Refused("the contract names no session", "write the name of the session in `session`", UNSOUND)

    terms = None if context.kernel is None else context.kernel.contract_terms(org_id)
    _refuse_errors(check_contract(contract, terms=terms, now=context.store.context.clock()))

    def bind(rows: ContractRows) -> ContractBinding:
        for other in _find_companions(contract, rows):
            _require_sound(contract, other)
        handoff = bind_contract(context, org_id, contract, rows, writer, read)
        if isinstance(contract, SessionReport) and handoff is not None:
            _require_own_brief(contract, rows, handoff)
        if isinstance(contract, MissionClose) or (
            isinstance(contract, Correction) and _does_correct_close(contract, rows)
        ):
            handoffs = open_log(rows, org_id)
            below = () if contract.brief is None else handoffs.list_below(contract.brief)
            _refuse_errors(find_incoherence(contract, rows.all(), below, handoffs.find_running(below)))
        if isinstance(contract, SessionReport):
            return ContractBinding(handoff, fail_unaudited(context, org_id, contract, rows, handoff))
        return ContractBinding(handoff)

    from orgkernel.state.contracts import (
        ContractBinding,
    )  # slow to import: a check of a contract needs no store

    body = encode_body(contract)
    kind = str(body["_schema"]).rpartition(":")[2]
    return context.store.contracts.record(org_id, kind, body, bind, actor=context.actor.name)


def _require_own_brief(report: SessionReport, rows: ContractRows, handoff: HandoffRecord) -> None:
    """Compare a report that names no brief with the brief of its hand-off."""
    brief = None if handoff.brief is None else rows.find(handoff.brief, "brief")
    if report.brief is None and brief is not None:
        _require_sound(report, decode_contract(brief))


def _note_refused(context: Context, contract: Contract, org_id: str, message: str) -> None:
    """Audit a refused contract, so a later reader of the mission sees the claim."""
    detail = {name: getattr(contract, name, None) for name in ("agent", "status")}
    context.store.audit.write(
        AuditEntry(
            "contract", context.store.context.clock(), "refused", subject=f"contract:{get_contract_kind(contract)}",
            actor=context.actor.name, org_id=org_id, session=getattr(contract, "session", None) or "", reason=message,
            detail={name: value for name, value in detail.items() if value is not None},
        )
    )  # fmt: skip


def encode_body(contract: Contract) -> dict[str, Any]:
    """A contract in the form that is stored."""
    body: dict[str, Any] = msgspec.to_builtins(contract)
    body.setdefault("_schema", getattr(contract, "kind", ""))
    return body


def _find_companions(contract: Contract, rows: ContractRows) -> list[Contract]:
    """The stored contracts with which a contract must be consistent."""
    companions: list[ContractRecord] = []
    brief_id = getattr(contract, "brief", None)
    if brief_id is not None:
        brief = rows.find(brief_id, "brief")
        if brief is None:
            raise Refused(f"there is no brief {quote(brief_id)}", "store the brief first", UNSOUND)
        companions.append(brief)
    if isinstance(contract, Correction):
        name = contract.original or ""
        original = rows.get_end(name) or rows.find(name)
        if original is None or original.kind not in ("result", "mission_close"):
            raise Refused(f"there is no result {quote(name)} to correct", "name a stored result", UNSOUND)
        companions.append(original)
    if isinstance(contract, SessionReport) and contract.session is not None:
        companions += find_open_blockers(rows.find_about_blockers(contract.session))[:1]
    elif isinstance(contract, Brief) and contract.replaces is not None:
        _require_same_parent(contract, rows.find(contract.replaces, "brief"))
    elif isinstance(contract, Blocker) and (end := rows.get_end(contract.session)) is not None:
        message = f"session {quote(contract.session)} has ended with the result {quote(end.record_id)}"
        raise Refused(message, "a session that has ended cannot be blocked", UNSOUND)
    elif isinstance(contract, DecisionEntry):
        cited = (
            ("supersede", contract.supersedes, "decision_entry"),
            ("answer", contract.answers, "blocker"),
        )
        for verb, cited_id, kind in cited:
            if cited_id is None:
                continue
            what = "decision" if kind == "decision_entry" else kind
            if (row := rows.find(cited_id, kind)) is None:
                message = f"there is no {what} {quote(cited_id)} to {verb}"
                raise Refused(message, f"cite a stored {what}", UNSOUND)
            companions.append(row)
    return [decode_contract(each) for each in companions]


def decode_contract(record: ContractRecord) -> Contract:
    """The contract of a row."""
    contract = msgspec.convert(record.body, prepared(RECORDS[record.kind]))
    assert isinstance(contract, Contract)
    return contract


def _require_same_parent(brief: Brief, replaced: ContractRecord | None) -> None:
    """Raise `Refused` unless a brief and the one it replaces belong to the same mission."""
    if replaced is None or replaced.body.get("parent") != brief.parent:
        message = f"there is no brief {quote(brief.replaces or '')} of the same parent to replace"
        raise Refused(message, "cite a stored brief with the same `parent`", UNSOUND)


def _does_correct_close(correction: Correction, rows: ContractRows) -> bool:
    """Whether a correction is about a mission close."""
    name = correction.original or ""
    original = rows.get_end(name) or rows.find(name)
    return original is not None and original.kind == "mission_close"


def _require_sound(contract: Contract, other: Contract | None) -> None:
    _refuse_errors(check_contract(contract, other))


def _say_unsound(problems: str) -> str:
    return f"the contract is not valid: {problems}"


def _refuse_errors(findings: Iterable[ContractFinding]) -> None:
    errors = [each for each in findings if each.row.severity is Severity.ERROR]
    if errors:
        error_summary = "; ".join(f"{each.row.code} {each.message}" for each in errors[:5])
        raise Refused(
            _say_unsound(error_summary),
            f"see the rules {listing({e.row.code: 0 for e in errors})}",
            UNSOUND,
        )
