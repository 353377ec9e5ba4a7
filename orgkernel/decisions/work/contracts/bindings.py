"""Compare a contract with the log of hand-offs: who got the work that it is about, from whom, and by which brief.

Error policy: fails closed. A session or a brief that is not in the log belongs to no agent, so no contract about it is
valid. The rules hold for every writer, including operators, because they are about the content of the contract.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from orgkernel.decisions.evidence.state_records import ContractRecord, HandoffRecord
from orgkernel.decisions.work.contracts.decision_log import CORRECT_A_PREMISE
from orgkernel.decisions.work.contracts.findings import ContractFinding, Route, is_blank, is_same_name
from orgkernel.diagnostics import contract_rows, handoff_rows
from orgkernel.diagnostics.catalog import Row
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import (
    Blocker,
    Brief,
    Contract,
    Correction,
    DecisionEntry,
    LmcRecord,
    MissionClose,
    Preflight,
    SessionReport,
)

SubjectNames = frozenset[str]
"""The names by which a hand-off can refer to one subject: the subject itself and its roles."""


class HandoffFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the documents and the log of hand-offs contain about a contract and its writer."""

    agent: SubjectNames = frozenset()
    """The names of the agent in the contract; empty if it names none."""
    writer: SubjectNames | None = None
    """The names of the subject that stores the contract; None for an operator or the owner."""
    of_session: HandoffRecord | None = None
    """The last hand-off into the session of the contract, or of the result that it corrects."""
    of_answered: HandoffRecord | None = None
    """The last hand-off into the session of the blocker that a decision answers."""
    of_brief: HandoffRecord | None = None
    """The last hand-off of the brief of the contract, or of its parent if the contract is a brief."""
    handed_on: tuple[HandoffRecord, ...] = ()
    """The hand-offs of briefs that are derived from the brief of the contract."""
    above: tuple[HandoffRecord, ...] = ()
    """The hand-offs that led to the one that the contract belongs to, nearest first."""
    original: ContractRecord | None = None
    """The result that a correction corrects."""
    positions: frozenset[str] = frozenset()
    """The positions of the writer's roles in the organization."""
    other_writers: frozenset[str] = frozenset()
    """The roles and layers of the organization that are not the writer's, folded, and a position that it does not have."""


def get_handoff(facts: HandoffFacts) -> HandoffRecord | None:
    """The hand-off that a contract belongs to: that of the blocker it answers, of its session, or of its brief."""
    return facts.of_answered or facts.of_session or facts.of_brief


def find_unbound(contract: Contract, facts: HandoffFacts) -> Iterator[ContractFinding]:
    """All disagreements of a contract with the log of hand-offs. A plan of subtasks belongs to no hand-off."""
    if isinstance(contract, Brief):
        yield from _find_stranger_of_brief(contract, facts)
    elif isinstance(contract, DecisionEntry):
        yield from _find_unbound_decision(contract, facts)
    elif isinstance(contract, LmcRecord):
        yield from _find_unbound_brief(contract.brief, ("brief",), facts)
        yield from _find_other_holder(facts.of_brief, "lead", contract.lead, facts)
    elif isinstance(contract, Preflight):
        yield from _find_unbound_preflight(contract, facts)
    elif isinstance(contract, Blocker):
        yield from _find_unbound_session(contract.session, facts)
        yield from _find_other_brief(contract.brief, facts)
        yield from _find_other_holder(facts.of_session, "session", contract.agent, facts)
    elif isinstance(contract, MissionClose) or _does_correct_close(facts):
        assert isinstance(contract, SessionReport)
        yield from _find_unbound_close(contract, facts)
    elif isinstance(contract, SessionReport):
        yield from _find_unbound_report(contract, facts)


def find_unbound_audit(brief: str, facts: HandoffFacts) -> Iterator[ContractFinding]:
    """An ownership audit of the work by a brief is recorded by a sender of this work or an operator, never by its holder."""
    work = facts.of_brief or next(iter(facts.handed_on), None)
    if work is None:
        message = f"brief {quote(brief)} was not handed down, so it has no work to audit"
        yield ContractFinding(handoff_rows.WORK_NOT_HANDED_DOWN, ("brief",), message)
    elif facts.of_brief is None:
        if facts.writer is not None:
            message = (
                f"brief {quote(brief)} was not handed down, so only an operator can record an audit of it"
            )
            yield _build_finding(("brief",), message, work, handoff_rows.WRITER_OUTSIDE_MISSION)
    else:
        yield from _find_stranger(("brief",), work, facts, is_holder_enough=False)
        if facts.writer is not None and work.holder in facts.writer and work.sender in facts.writer:
            message = (
                f"{_name_writer(facts)} does the work of brief {quote(brief)}, so another one must audit it"
            )
            yield _build_finding(("brief",), message, work, handoff_rows.WRITER_OUTSIDE_MISSION)


def _does_correct_close(facts: HandoffFacts) -> bool:
    return facts.original is not None and facts.original.kind == "mission_close"


def _find_unbound_report(report: SessionReport, facts: HandoffFacts) -> Iterator[ContractFinding]:
    original = facts.original
    if isinstance(report, Correction) and original is not None and facts.of_session is None:
        # A result that was stored before hand-offs were compared can only be corrected by its own agent.
        author = str(original.body.get("agent"))
        is_writer = facts.writer is None or bool(facts.writer & facts.agent)
        if not (is_same_name(author, report.agent) and is_writer):
            message = f"the result is of {quote(author)}, not of {quote(report.agent)}"
            yield ContractFinding(handoff_rows.WORK_OF_ANOTHER, ("original",), message)
        return
    yield from _find_unbound_session(report.session or "", facts)
    yield from _find_other_brief(report.brief, facts)
    yield from _find_other_holder(facts.of_session, "session", report.agent, facts)
    # A plain result could otherwise end a mission as clean without the checks that a close has to pass.
    if report.status == "done_clean" and facts.handed_on:
        sessions = listing(each.session for each in facts.handed_on)
        message = f"the session handed work down into {sessions}, so only a mission close ends it"
        yield ContractFinding(contract_rows.CLOSE_COHERENCE_MISSING, ("status",), message)


def _find_unbound_session(session: str, facts: HandoffFacts) -> Iterator[ContractFinding]:
    """WORK_NOT_HANDED_DOWN: no work was handed down into the session."""
    if facts.of_session is None:
        message = f"no work was handed down into session {quote(session)}"
        yield ContractFinding(handoff_rows.WORK_NOT_HANDED_DOWN, ("session",), message)


def _find_other_brief(
    brief: str | None, facts: HandoffFacts, route: Route = ("brief",)
) -> Iterator[ContractFinding]:
    """WORK_OF_ANOTHER: the session works by another brief, or the brief has been handed into another session since."""
    work = facts.of_session
    if work is None:
        return
    # The last hand-off into a session decides: an agent must not choose by which of its briefs it is judged.
    if brief is not None and brief.lower() != (work.brief or "").lower():
        clause = "follows no brief" if work.brief is None else f"follows brief {quote(work.brief)}"
        message = f"session {quote(work.session)} {clause}, not {quote(brief)}"
        if facts.of_brief is not None:
            message += f", which was handed down to {quote(facts.of_brief.holder)}"
        yield _build_finding(route, message, facts.of_brief or work)
    elif facts.of_brief is not None and facts.of_brief.session != work.session:
        message = (
            f"brief {quote(work.brief or '')} was handed down again, into session "
            f"{quote(facts.of_brief.session)} to {quote(facts.of_brief.holder)}"
        )
        yield _build_finding(route, message, facts.of_brief)


def _find_unbound_brief(brief: str | None, route: Route, facts: HandoffFacts) -> Iterator[ContractFinding]:
    """WORK_NOT_HANDED_DOWN: the contract names no brief, or one that was not handed down."""
    if facts.of_brief is None:
        message = (
            "the contract names no brief, so its work is not known"
            if brief is None
            else f"brief {quote(brief)} was not handed down"
        )
        yield ContractFinding(handoff_rows.WORK_NOT_HANDED_DOWN, route, message)


def _find_other_holder(
    work: HandoffRecord | None, field: str, agent: str | None, facts: HandoffFacts
) -> Iterator[ContractFinding]:
    """WORK_OF_ANOTHER: the work was handed down to another agent than the one in the contract."""
    if work is None:
        return
    if agent is not None and work.holder not in facts.agent:
        yield _build_finding((field,), f"{_describe_work(work)}, not to {quote(agent)}", work)
    # The senders above may store a contract for the worker. An agent at the same level or below may not.
    elif facts.writer is not None and not facts.writer & {work.holder, *_list_senders(work, facts)}:
        yield _build_finding((field,), f"{_describe_work(work)}, not to {_name_writer(facts)}", work)


def _find_unbound_preflight(preflight: Preflight, facts: HandoffFacts) -> Iterator[ContractFinding]:
    brief = None if preflight.authorization is None else preflight.authorization.brief
    route: Route = ("authorization", "brief")
    if preflight.session is None:
        yield from _find_unbound_brief(brief, route, facts)
    else:
        yield from _find_unbound_session(preflight.session, facts)
        yield from _find_other_brief(brief, facts, route)
    yield from _find_other_holder(get_handoff(facts), "session", None, facts)


def _find_stranger_of_brief(brief: Brief, facts: HandoffFacts) -> Iterator[ContractFinding]:
    """WRITER_OUTSIDE_MISSION: the brief belongs to a mission, and its writer does not."""
    if brief.parent is None or facts.writer is None:
        return
    if facts.of_brief is None:
        message = f"brief {quote(brief.parent)}, from which this one is derived, was not handed down"
        yield ContractFinding(handoff_rows.WORK_NOT_HANDED_DOWN, ("parent",), message)
    else:
        yield from _find_stranger(("parent",), facts.of_brief, facts)


def _find_unbound_close(close: SessionReport, facts: HandoffFacts) -> Iterator[ContractFinding]:
    """The close, or its correction, must come from the planner of the mission or from the sender of its brief."""
    mission = facts.of_brief
    if mission is None and not facts.handed_on:
        yield from _find_unbound_brief(close.brief, ("brief",), facts)
        return
    # A mission that was handed down is closed by its two parties. A mission that began here is closed by those who
    # handed out its work.
    closers = (
        {mission.holder, mission.sender} if mission is not None else {each.sender for each in facts.handed_on}
    )
    if not facts.agent & closers or (facts.writer is not None and not facts.writer & closers):
        if mission is not None:
            clause = f"{quote(mission.sender)} handed the mission down to {quote(mission.holder)}"
        else:
            clause = f"{listing(sorted(closers))} handed down the work of the mission"
        writer = quote(close.agent) if not facts.agent & closers else _name_writer(facts)
        message = f"{clause}, so {writer} may not close it"
        yield _build_finding(
            ("agent",), message, mission or facts.handed_on[0], handoff_rows.WRITER_OUTSIDE_MISSION
        )
        return
    own = facts.of_session
    if own is not None:
        if own.holder not in facts.agent and (mission is None or own.session != mission.session):
            yield from _find_other_holder(own, "session", close.agent, facts)
    elif mission is not None and mission.holder in facts.agent:
        yield from _find_unbound_session(close.session or "", facts)


def _find_unbound_decision(entry: DecisionEntry, facts: HandoffFacts) -> Iterator[ContractFinding]:
    """The position, the session and the answered blocker of a decision must be those of its writer."""
    position = entry.written_by
    # An agent that has a higher position in another role may decide in that one, so only a worker in all roles is
    # refused.
    if facts.positions == {"worker"} and position in ("intake", "planner"):
        message = f"the entry is written as {quote(position)}, but {quote(entry.agent or '')} is a worker"
        yield ContractFinding(handoff_rows.WRITER_OUTSIDE_MISSION, ("written_by",), message)
    elif (position or "").casefold() in facts.other_writers:
        message = f"the entry is written as {quote(position)}, which {quote(entry.agent or '')} is not"
        yield ContractFinding(handoff_rows.WRITER_OUTSIDE_MISSION, ("written_by",), message)
    elif facts.positions == {"worker"} and position is not None and is_blank(entry.corrects_premise):
        message = f"{quote(entry.agent or '')} is a worker, but the entry corrects no premise"
        yield ContractFinding(contract_rows.DECISION_INCOMPLETE, ("written_by",), message, CORRECT_A_PREMISE)
    if facts.of_answered is not None:
        yield from _find_stranger(("answers",), facts.of_answered, facts, is_holder_enough=False)
    if entry.session is not None:
        yield from _find_unbound_session(entry.session, facts)
        yield from _find_other_holder(facts.of_session, "session", entry.agent, facts)
    elif facts.positions == {"worker"}:
        message = f"{quote(entry.agent or '')} is a worker, and the entry names no session of it"
        yield ContractFinding(handoff_rows.WORK_NOT_HANDED_DOWN, ("session",), message, "name the session")


def _find_stranger(
    route: Route, work: HandoffRecord, facts: HandoffFacts, *, is_holder_enough: bool = True
) -> Iterator[ContractFinding]:
    """WRITER_OUTSIDE_MISSION: the writer did not hand the work down, and did not get it."""
    parties = {*_list_senders(work, facts), *([work.holder] if is_holder_enough else [])}
    if facts.writer is not None and not facts.writer & parties:
        message = f"{quote(work.sender)} handed the work down to {quote(work.holder)}; {_name_writer(facts)} has no part in it"
        yield _build_finding(route, message, work, handoff_rows.WRITER_OUTSIDE_MISSION)


def _list_senders(work: HandoffRecord, facts: HandoffFacts) -> Iterator[str]:
    """The sender of a hand-off, and the senders above it."""
    yield work.sender
    yield from (each.sender for each in facts.above)


def _build_finding(
    route: Route, message: str, work: HandoffRecord, row: Row = handoff_rows.WORK_OF_ANOTHER
) -> ContractFinding:
    """A finding that names the entry of the log that the contract contradicts."""
    return ContractFinding(row, route, message, related=(), related_text=f"hand-off {work.number}")


def _describe_work(work: HandoffRecord) -> str:
    what = f"session {quote(work.session)}" if work.brief is None else f"brief {quote(work.brief)}"
    return f"{what} was handed down to {quote(work.holder)}"


def _name_writer(facts: HandoffFacts) -> str:
    return name_subject(facts.writer or frozenset(("",)))


def name_subject(names: SubjectNames) -> str:
    """The subject with these names: its own name comes before those of its roles."""
    # `False` sorts before `True`, so the name of the agent comes before those of its roles.
    return quote(min(names, key=lambda name: (name.startswith("role:"), name)))
