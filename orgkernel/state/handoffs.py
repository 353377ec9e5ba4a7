"""The log of hand-offs: permission, claim and row are one change, so two writers cannot both succeed and nothing is
done in part.

Rows are only ever added, and chained. Whether a hand-off still runs follows from other rows: it has ended when its
session has a result, or when the claim for its brief has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, and_, exists, func, insert, not_, or_, select

from orgkernel.decisions.evidence.state_records import AuditEntry, HandoffRecord
from orgkernel.decisions.ownership.claims import FileClaim
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadStore, Conflict
from orgkernel.state.chain import GENESIS, clean_text, link
from orgkernel.state.claims import WantedClaim, add_claim, find_claims_for
from orgkernel.state.contracts import ContractBinding, ContractRows, WantedContract, make_uuid
from orgkernel.state.rows import StoreContext, decode_record, encode_row, require_id
from orgkernel.state.tables import contract_records, file_claims, handoffs
from orgkernel.state.writer import Transaction

_CHAIN = "dispatches"
_canonical = msgspec.json.Encoder(order="deterministic").encode


class WantedHandoff(msgspec.Struct, frozen=True, kw_only=True):
    """A permitted hand-off that will be recorded."""

    sender: str
    receiver: str
    holder: str
    session: str
    queue_mode: str
    session_key: str
    code: str
    snapshot: str
    seconds: float
    from_session: str | None = None
    brief: WantedContract | None = None
    mission: str | None = None
    depth: int | None = None
    on_behalf_of: str | None = None
    obligations: tuple[str, ...] = ()
    claim: WantedClaim | None = None
    reason: str = ""


class Handoffs:
    """The hand-offs of a store."""

    def __init__(self, context: StoreContext) -> None:
        self._context = context

    def record(
        self, org_id: str, decide: Callable[[HandoffRows], WantedHandoff], *, actor: str
    ) -> HandoffRecord:
        """Record a hand-off with its brief and the claim of its files, all or nothing.

        `decide` returns the record or raises, in the same change. Raises `Conflict` (`HANDOFF_DUPLICATE`,
        `CLAIM_CONFLICT`, `CONTRACT_EXISTS`) and `Refused`.
        """
        require_id("the organization", org_id)

        def change(transaction: Transaction) -> HandoffRecord:
            rows = HandoffRows(transaction, org_id)
            wanted = decide(rows)
            brief = wanted.brief
            if brief is not None:
                _require_free(rows, wanted.session)
                rows.require_new(brief.record_id)
                known = rows.contracts.find(brief.record_id)
                if known is None or not brief.is_stored_as(known):
                    brief.store(transaction, org_id, lambda _: ContractBinding(), actor)
            claim = (
                None
                if wanted.claim is None
                else add_claim(self._context.claims, transaction, org_id, wanted.claim, actor)
            )
            record = _record_handoff(transaction, org_id, wanted, claim, actor, self.new_id())
            transaction.connection.execute(insert(handoffs).values(**encode_row(record)))
            if record.brief is not None and record.token is None:
                transaction.touch()  # a claim would have done it
            _note(transaction, record)
            return record

        return self._context.change(change)

    def new_id(self) -> str:
        """A new unique id."""
        return make_uuid(self._context.tokens(16))

    def list(
        self,
        org_id: str | None = None,
        *,
        session: str | None = None,
        sender: str | None = None,
        receiver: str | None = None,
        brief: str | None = None,
        is_running: bool = False,
    ) -> tuple[HandoffRecord, ...]:
        """The hand-offs, by organization and number.

        `session` is the sender's or the receiver's; `receiver` is the role or the working agent; `brief` is the
        brief itself or the one it is derived from.
        """
        table = handoffs.c
        query = select(handoffs).order_by(table.org_id, table.number)
        if org_id is not None:
            query = query.where(table.org_id == org_id)
        if session is not None:
            query = query.where(or_(table.session == session, table.from_session == session))
        if sender is not None:
            query = query.where(table.sender == sender)
        if receiver is not None:
            query = query.where(or_(table.receiver == receiver, table.holder == receiver))
        if brief is not None:
            query = query.where(or_(table.brief == brief, table.mission == brief))
        if is_running:
            query = query.where(_select_running(self._context.clock()))
        return self._context.read(HandoffRecord, query)

    def find_changes(self, org_id: str) -> tuple[str, ...]:
        """Problems that the chain of digests shows: changed, removed or moved hand-offs. Empty if there are none."""
        query = select(handoffs).where(handoffs.c.org_id == org_id).order_by(handoffs.c.number)
        with self._context.reading() as connection:
            return tuple(list_broken_handoffs(connection.execute(query).all()))


class HandoffRows:
    """Stored records of an organization, while a hand-off is being recorded."""

    def __init__(self, transaction: Transaction, org_id: str) -> None:
        self._transaction = transaction
        self._org_id = org_id
        self.contracts = ContractRows(transaction, org_id)

    def find_brief(self, brief: str) -> HandoffRecord | None:
        """The latest hand-off of a brief."""
        return self._find_last(handoffs.c.brief == brief)

    def find_session(self, session: str) -> HandoffRecord | None:
        """The latest hand-off into a session. One with a brief decides, because a message does not change its work."""
        into = handoffs.c.session == session
        return self._find_last(and_(into, handoffs.c.brief.is_not(None))) or self._find_last(into)

    def list_under(self, brief: str) -> tuple[HandoffRecord, ...]:
        """The hand-offs of the briefs that are derived from a brief, oldest first."""
        return self._list(handoffs.c.mission == brief)

    def list_running_of(self, holders: Collection[str]) -> tuple[HandoffRecord, ...]:
        """The hand-offs with a brief to one of the holders whose work has not ended, oldest first."""
        running = _select_running(self._transaction.now)
        return self._list(and_(handoffs.c.holder.in_(holders), running))

    def list_below(self, brief: str) -> tuple[HandoffRecord, ...]:
        """The hand-offs under a brief, and under their briefs, at any depth."""
        below: dict[int, HandoffRecord] = {}
        briefs = {brief}
        while briefs:
            new = [each for each in self._list(handoffs.c.mission.in_(briefs)) if each.number not in below]
            below.update((each.number, each) for each in new)
            briefs = {each.brief for each in new if each.brief is not None}
        return tuple(below[number] for number in sorted(below))

    def list_above(self, record: HandoffRecord) -> tuple[HandoffRecord, ...]:
        """The hand-offs that led to one, nearest first."""
        above = [record]
        while (sender := self._find_sender_work(above[-1])) is not None and sender.number < above[-1].number:
            above.append(sender)
        return tuple(above[1:])

    def _find_sender_work(self, record: HandoffRecord) -> HandoffRecord | None:
        """The hand-off that the sender of another one got its own work by."""
        own = None if record.mission is None else self.find_brief(record.mission)
        if own is None and record.from_session is not None:
            own = self.find_session(record.from_session)
        return own

    def find_running(self, records: Iterable[HandoffRecord]) -> frozenset[str]:
        """The ids of the hand-offs whose work has not ended."""
        numbers = [each.number for each in records]
        query = select(handoffs.c.handoff_id).where(
            handoffs.c.org_id == self._org_id,
            handoffs.c.number.in_(numbers),
            _select_running(self._transaction.now),
        )
        return frozenset(self._transaction.connection.scalars(query)) if numbers else frozenset()

    def is_running(self, record: HandoffRecord) -> bool:
        """Whether the work of a hand-off has not ended."""
        return self._count(handoffs.c.number == record.number) > 0

    def require_new(self, brief: str) -> None:
        """Raise `Conflict` (`HANDOFF_DUPLICATE`) for a brief that is being worked on, or that has a result."""
        before = self.find_brief(brief)
        if before is None:
            return
        if self.is_running(before) or self.contracts.get_end(before.session) is not None:
            raise Conflict(
                f"brief {quote(brief)} was handed down into session {quote(before.session)}",
                "a brief can be handed down once; write another one",
                code="HANDOFF_DUPLICATE",
            )

    def count_running(self, sender: str, session: str | None) -> int:
        """How much work that a sender handed down, in a session if one is known, has not ended."""
        return self._count(
            handoffs.c.sender == sender if session is None else handoffs.c.from_session == session
        )

    def list_claims(self, brief: str) -> tuple[FileClaim, ...]:
        """The live claims that were made for a brief."""
        return find_claims_for(self._transaction, self._org_id, brief)

    def _count(self, which: ColumnElement[bool]) -> int:
        query = select(func.count()).select_from(handoffs).where(handoffs.c.org_id == self._org_id, which)
        count: int = self._transaction.connection.execute(
            query.where(_select_running(self._transaction.now))
        ).scalar_one()
        return count

    def _list(self, which: ColumnElement[bool]) -> tuple[HandoffRecord, ...]:
        query = select(handoffs).where(handoffs.c.org_id == self._org_id, which).order_by(handoffs.c.number)
        return tuple(decode_record(HandoffRecord, row) for row in self._transaction.connection.execute(query))

    def _find_last(self, which: ColumnElement[bool]) -> HandoffRecord | None:
        query = select(handoffs).where(handoffs.c.org_id == self._org_id, which)
        row = self._transaction.connection.execute(query.order_by(handoffs.c.number.desc()).limit(1)).first()
        return None if row is None else decode_record(HandoffRecord, row)


def _select_running(now: float) -> ColumnElement[bool]:
    """Work by a brief has begun and not ended. Where it owns files, it lasts as long as the claim for its brief."""
    table, ends, claims = handoffs.c, contract_records.c, file_claims.c
    has_result = exists().where(and_(ends.org_id == table.org_id, ends.ends == table.session))
    is_held = exists().where(
        and_(
            claims.org_id == table.org_id,
            claims.brief == table.brief,
            claims.ended_at.is_(None),
            claims.expires_at > now,
        )
    )
    lasts = or_(and_(table.token.is_(None), table.expires_at > now), and_(table.token.is_not(None), is_held))
    return and_(table.brief.is_not(None), not_(has_result), lasts)


def _require_free(rows: HandoffRows, session: str) -> None:
    """A session works by one brief."""
    last, has_ended = rows.find_session(session), rows.contracts.get_end(session) is not None
    if has_ended or (last is not None and last.brief is not None and rows.is_running(last)):
        what = (
            "already has a result"
            if has_ended or last is None
            else f"follows brief {quote(last.brief or '')}"
        )
        raise Conflict(
            f"session {quote(session)} {what}",
            "hand it down into a session of its own",
            code="HANDOFF_DUPLICATE",
        )


def _record_handoff(
    transaction: Transaction,
    org_id: str,
    wanted: WantedHandoff,
    claim: FileClaim | None,
    actor: str,
    handoff_id: str,
) -> HandoffRecord:
    query = select(handoffs).where(handoffs.c.org_id == org_id).order_by(handoffs.c.number.desc()).limit(1)
    last = transaction.connection.execute(query).first()
    # Number and digest continue the chain of the organization, so a row that is removed later leaves a gap.
    record = HandoffRecord(
        org_id=org_id, number=1 if last is None else last.number + 1, handoff_id=handoff_id, at=transaction.now,
        sender=wanted.sender, receiver=wanted.receiver, holder=wanted.holder, session=wanted.session,
        from_session=wanted.from_session, brief=None if wanted.brief is None else wanted.brief.record_id,
        mission=wanted.mission, token=None if claim is None else claim.token, depth=wanted.depth,
        on_behalf_of=wanted.on_behalf_of, queue_mode=wanted.queue_mode, session_key=wanted.session_key,
        code=wanted.code, obligations=wanted.obligations, expires_at=transaction.now + wanted.seconds,
        snapshot=wanted.snapshot, actor=actor, reason=clean_text(wanted.reason),
        previous=GENESIS if last is None else last.digest, digest="",
    )  # fmt: skip
    return msgspec.structs.replace(record, digest=_compute_digest(record))


def _note(transaction: Transaction, record: HandoffRecord) -> None:
    detail = {
        "receiver": record.receiver, "holder": record.holder, "brief": record.brief, "token": record.token,
        "number": record.number, "digest": record.digest,
    }  # fmt: skip
    transaction.audit(
        AuditEntry(
            "handoff", transaction.now, "handed_down", subject=record.sender, actor=record.actor, org_id=record.org_id,
            session=record.session, record_id=record.handoff_id, reason=record.reason,
            detail={name: value for name, value in detail.items() if value is not None},
        )
    )  # fmt: skip


def _compute_digest(record: HandoffRecord) -> str:
    """Compute the digest of a row over its content and the previous digest."""
    fields = msgspec.to_builtins(msgspec.structs.replace(record, digest="", previous=""))
    fields["dispatch_id"] = fields.pop(
        "handoff_id"
    )  # its name in the table, so older rows keep their digests
    return link(record.previous, record.org_id, _CHAIN, record.number, _canonical(fields).decode())


def list_broken_handoffs(rows: Iterable[Any]) -> Iterator[str]:
    """Problems that the digests of an organization's hand-offs show, in the order of the rows."""
    previous, expected = GENESIS, 1
    for row in rows:
        try:
            record = decode_record(HandoffRecord, row)
            is_whole = _compute_digest(record) == record.digest
        except (BadStore, msgspec.MsgspecError, TypeError):
            is_whole = False
        if row.number != expected or row.previous != previous:
            yield f"before hand-off {row.number} something was removed or moved"
        if not is_whole:
            yield f"hand-off {row.number} was changed"
        previous, expected = row.digest, row.number + 1
