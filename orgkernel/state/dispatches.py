"""The log of dispatches: permission, claim and row are one change, so two writers cannot both succeed and nothing is
done in part.

Rows are only ever added, and chained. Whether a dispatch still runs follows from other rows: it has ended when its
session has a result, or when the claim for its brief has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
from sqlalchemy import ColumnElement, and_, exists, func, insert, not_, or_, select

from orgkernel.decisions.evidence.state_records import AuditEntry, DispatchRecord
from orgkernel.decisions.ownership.claims import FileClaim
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import Conflict
from orgkernel.state.chain import GENESIS, clean_text, link
from orgkernel.state.claims import WantedClaim, add_claim, end_expired, find_claims_for
from orgkernel.state.contracts import ContractRows, WantedContract, make_uuid
from orgkernel.state.rows import StoreContext, decode_record, encode_row, require_id
from orgkernel.state.tables import contract_records, dispatches, file_claims
from orgkernel.state.writer import Transaction

_CHAIN = "dispatches"
_canonical = msgspec.json.Encoder(order="deterministic").encode


class WantedDispatch(msgspec.Struct, frozen=True, kw_only=True):
    """A permitted dispatch that will be recorded."""

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


class Dispatches:
    """The dispatches of a store."""

    def __init__(self, context: StoreContext) -> None:
        self._context = context

    def record(
        self, org_id: str, decide: Callable[[DispatchRows], WantedDispatch], *, actor: str
    ) -> DispatchRecord:
        """Record a dispatch with its brief and the claim of its files, all or nothing.

        `decide` returns the record or raises, in the same change. Raises `Conflict` (`DISPATCH_DUPLICATE`,
        `CLAIM_CONFLICT`, `CONTRACT_EXISTS`) and `Refused`.
        """
        require_id("the organization", org_id)

        def change(transaction: Transaction) -> DispatchRecord:
            end_expired(transaction, org_id)
            rows = DispatchRows(transaction, org_id)
            wanted = decide(rows)
            brief = wanted.brief
            if brief is not None:
                _require_free(rows, wanted.session)
                rows.require_new(brief.record_id)
                known = rows.contracts.find(brief.record_id)
                if known is None or not brief.is_stored_as(known):
                    brief.store(transaction, org_id, lambda _: None, actor)
            claim = (
                None
                if wanted.claim is None
                else add_claim(self._context.claims, transaction, org_id, wanted.claim, actor)
            )
            record = _record_dispatch(transaction, org_id, wanted, claim, actor, self.new_id())
            transaction.connection.execute(insert(dispatches).values(**encode_row(record)))
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
    ) -> tuple[DispatchRecord, ...]:
        """The dispatches, by organization and number.

        `session` is the sender's or the receiver's; `receiver` is the role or the working agent; `brief` is the
        brief itself or the one it is derived from.
        """
        table = dispatches.c
        query = select(dispatches).order_by(table.org_id, table.number)
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
        return self._context.read(DispatchRecord, query)

    def find_changes(self, org_id: str) -> tuple[str, ...]:
        """Problems that the chain of digests shows: changed, removed or moved dispatches. Empty if there are none."""
        query = select(dispatches).where(dispatches.c.org_id == org_id).order_by(dispatches.c.number)
        return tuple(_list_broken(self._context.read(DispatchRecord, query)))


class DispatchRows:
    """Stored records of an organization, while a dispatch is being recorded."""

    def __init__(self, transaction: Transaction, org_id: str) -> None:
        self._transaction = transaction
        self._org_id = org_id
        self.contracts = ContractRows(transaction.connection, org_id)

    def find_brief(self, brief: str) -> DispatchRecord | None:
        """The latest dispatch of a brief."""
        return self._find_last(dispatches.c.brief == brief)

    def find_session(self, session: str) -> DispatchRecord | None:
        """The latest dispatch into a session."""
        return self._find_last(dispatches.c.session == session)

    def is_running(self, record: DispatchRecord) -> bool:
        """Whether the work of a dispatch has not ended."""
        return self._count(dispatches.c.number == record.number) > 0

    def require_new(self, brief: str) -> None:
        """Raise `Conflict` (`DISPATCH_DUPLICATE`) for a brief that is being worked on, or that has a result."""
        before = self.find_brief(brief)
        if before is None:
            return
        if self.is_running(before) or self.contracts.get_end(before.session) is not None:
            raise Conflict(
                f"brief {quote(brief)} was dispatched into session {quote(before.session)}",
                "a brief can be dispatched once; write another one",
                code="DISPATCH_DUPLICATE",
            )

    def count_running(self, sender: str, session: str | None) -> int:
        """How much work that a sender handed down, in a session if one is known, has not ended."""
        return self._count(
            dispatches.c.sender == sender if session is None else dispatches.c.from_session == session
        )

    def claims_of(self, brief: str) -> tuple[FileClaim, ...]:
        """The live claims that were made for a brief."""
        return find_claims_for(self._transaction.connection, self._org_id, brief)

    def _count(self, which: ColumnElement[bool]) -> int:
        query = select(func.count()).select_from(dispatches).where(dispatches.c.org_id == self._org_id, which)
        count: int = self._transaction.connection.execute(
            query.where(_select_running(self._transaction.now))
        ).scalar_one()
        return count

    def _find_last(self, which: ColumnElement[bool]) -> DispatchRecord | None:
        query = select(dispatches).where(dispatches.c.org_id == self._org_id, which)
        row = self._transaction.connection.execute(
            query.order_by(dispatches.c.number.desc()).limit(1)
        ).first()
        return None if row is None else decode_record(DispatchRecord, row)


def _select_running(now: float) -> ColumnElement[bool]:
    """Work by a brief has begun and not ended. Where it owns files, it lasts as long as the claim for its brief."""
    table, ends, claims = dispatches.c, contract_records.c, file_claims.c
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


def _require_free(rows: DispatchRows, session: str) -> None:
    """A session works by one brief."""
    last, has_ended = rows.find_session(session), rows.contracts.get_end(session) is not None
    if has_ended or (last is not None and last.brief is not None and rows.is_running(last)):
        what = (
            "has a result already"
            if has_ended or last is None
            else f"follows brief {quote(last.brief or '')}"
        )
        raise Conflict(
            f"session {quote(session)} {what}",
            "dispatch into a session of its own",
            code="DISPATCH_DUPLICATE",
        )


def _record_dispatch(
    transaction: Transaction,
    org_id: str,
    wanted: WantedDispatch,
    claim: FileClaim | None,
    actor: str,
    dispatch_id: str,
) -> DispatchRecord:
    query = (
        select(dispatches).where(dispatches.c.org_id == org_id).order_by(dispatches.c.number.desc()).limit(1)
    )
    last = transaction.connection.execute(query).first()
    record = DispatchRecord(
        org_id=org_id, number=1 if last is None else last.number + 1, dispatch_id=dispatch_id, at=transaction.now,
        sender=wanted.sender, receiver=wanted.receiver, holder=wanted.holder, session=wanted.session,
        from_session=wanted.from_session, brief=None if wanted.brief is None else wanted.brief.record_id,
        mission=wanted.mission, token=None if claim is None else claim.token, depth=wanted.depth,
        on_behalf_of=wanted.on_behalf_of, queue_mode=wanted.queue_mode, session_key=wanted.session_key,
        code=wanted.code, obligations=wanted.obligations, expires_at=transaction.now + wanted.seconds,
        snapshot=wanted.snapshot, actor=actor, reason=clean_text(wanted.reason),
        previous=GENESIS if last is None else last.digest, digest="",
    )  # fmt: skip
    return msgspec.structs.replace(record, digest=_compute_digest(record))


def _note(transaction: Transaction, record: DispatchRecord) -> None:
    detail = {
        "receiver": record.receiver, "holder": record.holder, "brief": record.brief, "token": record.token,
        "number": record.number, "digest": record.digest,
    }  # fmt: skip
    transaction.audit(
        AuditEntry(
            "dispatch", transaction.now, "dispatched", subject=record.sender, actor=record.actor, org_id=record.org_id,
            session=record.session, record_id=record.dispatch_id, reason=record.reason,
            detail={name: value for name, value in detail.items() if value is not None},
        )
    )  # fmt: skip


def _compute_digest(record: DispatchRecord) -> str:
    """Compute the digest of a row over its content and the previous digest."""
    fields = msgspec.to_builtins(msgspec.structs.replace(record, digest="", previous=""))
    return link(record.previous, record.org_id, _CHAIN, record.number, _canonical(fields).decode())


def _list_broken(records: tuple[DispatchRecord, ...]) -> Iterator[str]:
    previous, expected = GENESIS, 1
    for record in records:
        if record.number != expected or record.previous != previous:
            yield f"before dispatch {record.number} something was removed or moved"
        if _compute_digest(record) != record.digest:
            yield f"dispatch {record.number} was changed"
        previous, expected = record.digest, record.number + 1
