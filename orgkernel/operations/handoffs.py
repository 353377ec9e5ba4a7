"""Record a hand-off: decide, claim the files, and log it, in one transaction.

The log overrides the statements of the caller: the depth of the sender, the number of its hand-offs, its principal, and
the brief that it follows. Unknown facts are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from orgkernel.decisions.access.identity import SubjectIdentity, identify
from orgkernel.decisions.crew.leadership import LeadershipObservation, observe_leadership
from orgkernel.decisions.evidence.state_records import HandoffRecord
from orgkernel.decisions.handoff.briefs import HandoffBriefs, get_brief
from orgkernel.decisions.handoff.live_claims import is_of_mission
from orgkernel.decisions.handoff.pairs import list_holder_names
from orgkernel.decisions.handoff.parties import find_parties
from orgkernel.decisions.handoff.permission import (
    HandoffPermission,
    HandoffQuestion,
    HandoffVerdict,
)
from orgkernel.decisions.refusals import say_not_filling
from orgkernel.decisions.work.contracts.reading import ReadContract, read_contract
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import Brief
from orgkernel.errors import Conflict, Refused
from orgkernel.graph.questions import OrgView
from orgkernel.loading.files import decode
from orgkernel.operations.claims import choose_lease, find_claim_terms
from orgkernel.operations.context import Context
from orgkernel.operations.contracts import choose_contract_organization, encode_body
from orgkernel.operations.rights import choose_subject, find_member
from orgkernel.state.claims import WantedClaim, require_paths
from orgkernel.state.contracts import WantedContract
from orgkernel.state.handoffs import WantedHandoff
from orgkernel.state.rows import require_id

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store
    from orgkernel.state.handoffs import HandoffRows

REFUSED, INCOMPLETE = "HANDOFF_REFUSED", "HANDOFF_INCOMPLETE"
_OPEN = ("brief", "verify_command", "state:", "gate:")
"""Obligations that must be met before work is handed down. Others go with the work."""


class HandoffOrder(msgspec.Struct, frozen=True, kw_only=True):
    """The parties and the session of a hand-off."""

    to: str
    sender: str | None = None
    holder: str | None = None
    """The agent that does the work; by default, any agent in the role."""
    session: str | None = None
    """The session that does the work; by default, the one from the edge."""
    from_session: str | None = None
    """The session of the sender; by default, the one that its brief was handed down into."""
    question: HandoffQuestion = HandoffQuestion(sender="", receiver="")
    """Circumstances. Its sender and receiver are ignored."""
    seconds: float | None = None
    """The number of seconds for which the files are claimed and the work counts as running."""
    reason: str = ""


_OWN_WORK = "a worker hands down only briefs that are derived from its own"


class _Origin(msgspec.Struct, frozen=True):
    """The origin of the sender's own work, from the log."""

    brief: ReadContract | None = None
    record: HandoffRecord | None = None


def record_handoff(
    context: Context, order: HandoffOrder, brief: ReadContract | None = None, *, org: str | None = None
) -> HandoffRecord:
    """Record a hand-off if it is permitted, and claim the files of its brief; both or nothing.

    Raises `Refused` (`HANDOFF_REFUSED`, `HANDOFF_INCOMPLETE`) and `Conflict` (`CLAIM_CONFLICT`, `HANDOFF_DUPLICATE`).
    """
    org_id = choose_contract_organization(context, org)
    find_member(context.kernel, context.actor, org_id)  # raises if it is undeclared or not at work
    sender = choose_subject(context, order.sender, "sender", org_id)
    for what, name in (("the session", order.session), ("the session", order.from_session)):
        if name is not None:
            require_id(what, name)
    seconds = choose_lease(order.seconds, find_claim_terms(context, org_id))
    kernel = context.documents.with_store(context.store)

    def decide(rows: HandoffRows) -> WantedHandoff:
        view = kernel.access(org_id).view
        identity, receiver = _find_parties(view, sender, order.to)
        written = get_brief(brief)
        if written is not None and written.id is not None:
            rows.require_new(written.id)
        origin = _find_origin(context, rows, order, written, identity)
        question = _build_question(rows, order, origin, identity, receiver)
        briefs = HandoffBriefs(brief, origin.brief)
        verdict = kernel.decide_handoff(org_id, question, briefs)
        if verdict.outcome != "allow":
            raise _build_refusal(kernel.handoff_permission(org_id, question, briefs))
        _require_complete(verdict, origin)
        assert verdict.routing is not None
        session = order.session or verdict.routing.session_key
        holder = _choose_holder(view, order, receiver)
        return WantedHandoff(
            sender=identity.subject, receiver=f"role:{receiver}", holder=holder, session=session,
            from_session=order.from_session or (None if origin.record is None else origin.record.session),
            brief=None if written is None else WantedContract("brief", encode_body(written), context.store.contracts.new_id),
            mission=None if written is None else written.parent, depth=question.depth, on_behalf_of=question.on_behalf_of,
            queue_mode=verdict.routing.queue_mode, session_key=verdict.routing.session_key, code=verdict.code,
            obligations=tuple(each for each in verdict.obligations if not each.startswith(_OPEN)), snapshot=verdict.snapshot, seconds=seconds, reason=order.reason,
            claim=_build_claim(rows, written, identity, holder, session, seconds, order.reason),
        )  # fmt: skip

    return context.store.handoffs.record(org_id, decide, actor=context.actor.name)


def list_handoffs(
    store: Store,
    org_id: str | None = None,
    *,
    session: str | None = None,
    sender: str | None = None,
    receiver: str | None = None,
    brief: str | None = None,
    is_running: bool = False,
) -> tuple[HandoffRecord, ...]:
    """The hand-offs, by organization and number. Raises `Refused` (`LOG_MUTATED`) if stored rows were changed."""
    handoffs = store.handoffs.list(
        org_id, session=session, sender=sender, receiver=receiver, brief=brief, is_running=is_running
    )
    for each in dict.fromkeys(record.org_id for record in handoffs):
        if changes := store.handoffs.find_changes(each):
            raise Refused(
                f"the log of hand-offs was changed: {changes[0]}", "compare it with a backup", "LOG_MUTATED"
            )
    return handoffs


def observe_leadership_of(context: Context, org: str) -> LeadershipObservation:
    """Who is asked and delegated to in an organization, from its log of hand-offs. Raises as `list_handoffs`."""
    view = context.documents.organization(org).snapshot.index
    return observe_leadership(view, list_handoffs(context.store, view.org_id))


def _find_parties(view: OrgView, sender: str, receiver: str) -> tuple[SubjectIdentity, str]:
    """The sender and the receiving role. Raises `Refused` unless each word means exactly one."""
    senders, receivers, problems = find_parties(view, sender, receiver)
    if problems:
        raise Refused(
            f"{problems[0].code}: {problems[0].text}", "name a role or a layer with one role", REFUSED
        )
    for each, count in ((sender, len(senders)), (receiver, len(receivers))):
        if count > 1:
            raise Refused(f"layer {quote(each)} has {count} roles", "name the role that is meant", REFUSED)
    return senders[0], receivers[0]


def _find_origin(
    context: Context, rows: HandoffRows, order: HandoffOrder, brief: Brief | None, sender: SubjectIdentity
) -> _Origin:
    """The origin of the sender's work: the stored brief that this one is derived from, and its hand-off.

    An agent cannot store a brief and then follow it: the parent brief must have been handed down to the agent.
    """
    read, record = None, None
    if brief is not None and brief.parent is not None:
        stored = rows.contracts.find(brief.parent, "brief")
        if stored is not None:
            text = msgspec.json.format(msgspec.json.encode(stored.body)).decode()
            read = read_contract(
                decode(f"brief {brief.parent}", f"brief {brief.parent}", text.encode()), max_bytes=None
            )
        record = rows.find_brief(brief.parent)
        if stored is not None and record is None and context.actor.agent_id:
            raise Refused(
                f"brief {quote(brief.parent)} was never handed down",
                _OWN_WORK,
                REFUSED,
            )
        if record is not None and order.from_session not in (None, record.session):
            raise Refused(
                f"brief {quote(brief.parent)} was handed down into session {quote(record.session)}, not into "
                f"{quote(order.from_session)}",
                "leave the session of the sender out",
                REFUSED,
            )
    if record is None and order.from_session is not None:
        record = rows.find_session(order.from_session)
    if record is not None and record.holder not in list_holder_names(sender):
        what = f"brief {quote(record.brief)}" if record.brief else f"session {quote(record.session)}"
        raise Refused(
            f"{what} was handed down to {quote(record.holder)} and not to {quote(sender.subject)}",
            _OWN_WORK,
            REFUSED,
        )
    return _Origin(read, record)


def _build_question(
    rows: HandoffRows, order: HandoffOrder, origin: _Origin, sender: SubjectIdentity, receiver: str
) -> HandoffQuestion:
    """The question with the facts from the log in place of stated ones, or where they are higher."""
    stated, came = order.question, origin.record
    above = None if came is None or came.depth is None else came.depth + 1
    depth = max((each for each in (stated.depth, above) if each is not None), default=None)
    if depth is None and came is None and not sender.is_crew:
        depth = 0  # nothing hands work to people and systems
    # Count only sessions in the log, because an unknown one would start at zero.
    running = rows.count_running(sender.subject, None if came is None else came.session)
    principal = stated.on_behalf_of
    if came is not None and came.on_behalf_of is not None:
        if principal not in (None, came.on_behalf_of):
            raise Refused(
                f"the work of {quote(sender.subject)} is for {quote(came.on_behalf_of)}, not for {quote(principal)}",
                "work for two principals is never merged",
                REFUSED,
            )
        principal = came.on_behalf_of
    return msgspec.structs.replace(
        stated, context=msgspec.structs.replace(stated.context, now=0.0),  # 0.0 stands for the current time
        sender=sender.subject, receiver=f"role:{receiver}", depth=depth,
        children=max(stated.children or 0, running), concurrent=max(stated.concurrent or 0, running),
        on_behalf_of=principal,
    )  # fmt: skip


def _build_refusal(permission: HandoffPermission) -> Refused:
    """The refusal with the first failing step, and the codes of the others."""
    first = next(each for each in permission.findings if each.code == permission.code)
    others = [each.code for each in permission.findings if each is not first]
    more = f"; also: {listing(dict.fromkeys(others))}" if others else ""
    help = "; ".join(first.remedies) or "`orgkernel task handoff check` shows every step"
    if permission.code == "CLAIM_CONFLICT":
        return Conflict(f"{first.text}{more}", help, code="CLAIM_CONFLICT")
    sentence = f"{quote(permission.sender)} may not hand work to {quote(permission.receiver)}"
    if permission.outcome == "cannot_tell":
        sentence = f"it is not known whether {quote(permission.sender)} may hand work to {quote(permission.receiver)}"
    return Refused(f"{sentence}: {permission.code}: {first.text}{more}", help, REFUSED)


def _require_complete(verdict: HandoffVerdict, origin: _Origin) -> None:
    """Raise `Refused` unless all obligations that must be met before are met."""
    left = [each for each in verdict.obligations if each.startswith(_OPEN)]
    if origin.record is not None and origin.record.brief is None:
        left = [each for each in left if each != "state:parent_brief"]  # the sender's own work has no brief
    if left:
        raise Refused(
            f"the hand-off from {quote(verdict.sender)} to {quote(verdict.receiver)} still needs {listing(left)}",
            "hand in the brief that the edge requires, and state what is not known",
            INCOMPLETE,
        )


def _choose_holder(view: OrgView, order: HandoffOrder, receiver: str) -> str:
    """The worker. Raises `Refused` for an agent that does not fill the role."""
    role = f"role:{receiver}"
    if order.holder is None or order.holder == role:
        return role
    identity = identify(view, order.holder)
    if identity is None or identity.kind != "agent" or receiver not in identity.roles:
        agents = [f"agent:{edge.source}" for edge in view.list_agents_in(receiver)]
        help = f"agents in it are {listing(agents)}" if agents else "no agent does"
        raise Refused(say_not_filling(quote(order.holder), receiver), help, REFUSED)
    return identity.subject


def _build_claim(
    rows: HandoffRows,
    brief: Brief | None,
    sender: SubjectIdentity,
    holder: str,
    session: str,
    seconds: float,
    reason: str,
) -> WantedClaim | None:
    """The claim of the brief's files, if it owns any."""
    if brief is None or not brief.files_owned:
        return None
    words = list_holder_names(sender)
    above = () if brief.parent is None else rows.list_claims(brief.parent)
    return WantedClaim(
        holder=holder, paths=require_paths(brief.files_owned), seconds=seconds, session=session,
        planner=sender.subject, reason=reason, brief=brief.id, mission=brief.parent,
        within=frozenset(each.token for each in above if is_of_mission(each, brief, words)),
    )  # fmt: skip
