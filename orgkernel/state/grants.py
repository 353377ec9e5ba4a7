"""Stored grants and restrictions: permissions beyond what roles and policies give, and upper bounds.

Both are issued to a subject until a time or for good. They are revoked by a date and never deleted; decisions ignore
what expired or was revoked. Each use of a grant is written down with the audit row of the decision that used it, in the
same transaction; a grant with `uses_left` goes to the change that commits first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, Literal, TypeVar, get_args

import msgspec
from sqlalchemy import ColumnElement, Table, func, insert, or_, select, update

from orgkernel.decisions.evidence.state_records import AuditEntry, GrantUse
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS, Grant, Restriction, Waiver
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import LEVELS, ToolLevel
from orgkernel.errors import Conflict, Refused
from orgkernel.state.rows import (
    StoreContext,
    clean_record,
    decode_record,
    encode_row,
    require_bound,
    require_id,
    require_record,
    require_reference,
    require_time,
    require_word,
)
from orgkernel.state.tables import grant_uses, grants, restrictions
from orgkernel.state.writer import Transaction

IssuedRecord = TypeVar("IssuedRecord", Grant, Restriction)
SUBJECTS = ("agent", "person", "role", "system", "webhook", "relationship", "tag")
RESOURCES = ("tool", "credential", "data")


class IssuedRecords(Generic[IssuedRecord]):
    """The grants, or the restrictions, of a store."""

    KIND: ClassVar[Literal["grant", "restriction"]]
    ENDED: ClassVar[str]
    """The word for a revoked record."""
    TABLE: ClassVar[Table]
    record: type[IssuedRecord]

    def __init__(self, context: StoreContext) -> None:
        self._context = context
        self._id = self.TABLE.c[f"{self.KIND}_id"]

    def revoke(self, record_id: str, *, actor: str, reason: str = "") -> IssuedRecord:
        """End it: the row stays. Raises `UnknownRecord`, `Conflict` when it was ended already."""

        def change(transaction: Transaction) -> IssuedRecord:
            record = require_record(
                transaction, self.record, self.TABLE, record_id, self.KIND, _list_help(self.KIND)
            )
            if record.revoked_at is not None:
                raise Conflict(
                    f"the {self.KIND} {quote(record_id)} is already {self.ENDED}", code="ALREADY_REVOKED"
                )
            self._update(transaction, record_id, revoked_at=transaction.now)
            ended = msgspec.structs.replace(record, revoked_at=transaction.now)
            note(transaction, ended, "revoked", actor, reason)
            return ended

        return self._context.change(change)

    def expire(self) -> tuple[IssuedRecord, ...]:
        """Note in the audit what ran out since the last time; decisions ignore it from its date on."""
        table = self.TABLE.c

        def change(transaction: Transaction) -> tuple[IssuedRecord, ...]:
            due = (
                table.expires_at <= transaction.now,
                table.expiry_noted.is_(False),
                table.revoked_at.is_(None),
            )
            query = select(self.TABLE).where(*due).order_by(self._id)
            records = tuple(
                decode_record(self.record, row) for row in transaction.connection.execute(query).all()
            )
            for each in records:
                self._update(transaction, get_id(each), expiry_noted=True)
                note(transaction, each, "expired")
            return records

        return self._context.change(change)

    def get(self, record_id: str) -> IssuedRecord | None:
        """One record, even if it no longer applies; None if there is no such id."""
        return self._context.find(self.record, select(self.TABLE).where(self._id == record_id))

    def list(self, subject: str | None = None, *, active_only: bool = False) -> tuple[IssuedRecord, ...]:
        """The records, in the order in which they were issued."""
        query = select(self.TABLE).order_by(self.TABLE.c.issued_at, self._id)
        if subject is not None:
            query = query.where(self.TABLE.c.subject == subject)
        return self._context.read(self.record, query.where(*self._select_holding()) if active_only else query)

    def _select_holding(self) -> tuple[ColumnElement[bool], ...]:
        """The condition for a current row."""
        table = self.TABLE.c
        return (
            table.revoked_at.is_(None),
            or_(table.expires_at.is_(None), table.expires_at > self._context.clock()),
        )

    def _update(self, transaction: Transaction, record_id: str, **values: object) -> None:
        changed = update(self.TABLE).where(self._id == record_id)
        transaction.connection.execute(changed.values(**values, version=transaction.touch()))


def insert_issued(
    transaction: Transaction, table: Table, draft: IssuedRecord, detail: Mapping[str, Any]
) -> IssuedRecord:
    """Within a change: write one with its history; raises `Refused` for what cannot be stored."""
    kind = get_kind(draft)
    require_reference("the subject", draft.subject, SUBJECTS)
    require_resources(kind, draft.resources)
    require_word("the level", draft.level, LEVELS)
    require_id("the organization", draft.org_id)
    if kind == "restriction" and draft.expires_at is not None and transaction.lag:
        # Its end was computed with a clock that is behind. A later end only suspends it for longer.
        draft = msgspec.structs.replace(draft, expires_at=draft.expires_at + transaction.lag)
    # Such a record would never apply, but would look as if it had.
    if draft.expires_at is not None and draft.expires_at <= transaction.now:
        raise Refused(f"the {kind} would have expired before it was issued", code="BAD_VALUE")
    record = msgspec.structs.replace(clean_record(draft), issued_at=transaction.now)
    values = {**encode_row(record), "expiry_noted": False, "version": transaction.touch()}
    transaction.connection.execute(insert(table).values(values))
    about = {"resources": list(record.resources), "expires_at": record.expires_at, **detail}
    note(transaction, record, "created", record.issued_by, record.reason, about)
    return record


def require_resources(kind: str, resources: Sequence[str]) -> None:
    """Raise `Refused` unless there are resources, each of a known kind."""
    if not resources:
        raise Refused(f"a {kind} needs a resource", "such as `tool:ID`", code="BAD_VALUE")
    for resource in resources:
        require_reference("the resource", resource, RESOURCES)


def _list_help(kind: str) -> str:
    return f"`orgkernel {kind} list --all` shows all"


def get_kind(record: Grant | Restriction) -> Literal["grant", "restriction"]:
    """The kind of a record."""
    return "grant" if isinstance(record, Grant) else "restriction"


def get_id(record: Grant | Restriction) -> str:
    """The id of a record."""
    return record.grant_id if isinstance(record, Grant) else record.restriction_id


def note(
    transaction: Transaction,
    record: Grant | Restriction,
    activity: str,
    actor: str = "",
    reason: str = "",
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Write into the audit what happened to one of them."""
    transaction.audit(
        AuditEntry(
            get_kind(record), transaction.now, activity, subject=record.subject, actor=actor,
            resource=record.resources[0], level=record.level, org_id=record.org_id, record_id=get_id(record),
            reason=reason, detail=detail,
        )
    )  # fmt: skip


class Grants(IssuedRecords[Grant]):
    """The grants of a store."""

    KIND, ENDED, TABLE, record = "grant", "revoked", grants, Grant

    def issue(
        self,
        subject: str,
        resources: Sequence[str],
        *,
        issued_by: str,
        level: ToolLevel = "full",
        waives: Sequence[Waiver] = (),
        org_id: str = ALL_ORGANIZATIONS,
        channel: str | None = None,
        session: str | None = None,
        reason: str = "",
        expires_at: float | None = None,
        uses: int | None = None,
        action: str | None = None,
        input_digest: str | None = None,
        snapshot: str | None = None,
    ) -> Grant:
        """Give a permission; raises `Refused` for what cannot be stored."""
        require_time("the end", expires_at)
        grant = Grant(
            self._context.new_id("g"), subject, tuple(resources), level, tuple(waives), org_id, channel, session, reason,
            issued_by, expires_at=expires_at, uses_left=uses, action=action, input_digest=input_digest,
            snapshot=snapshot,
        )  # fmt: skip
        return self._context.change(lambda transaction: insert_grant(transaction, grant))

    def put_to_sleep(self, grant_ids: Sequence[str], *, actor: str, reason: str) -> tuple[Grant, ...]:
        """Let grants give nothing until they are woken; those that sleep already, or that ended, are left as they are."""

        def change(transaction: Transaction) -> tuple[Grant, ...]:
            slept = []
            for grant_id in grant_ids:
                grant = require_record(transaction, Grant, grants, grant_id, "grant", _list_help("grant"))
                if grant.asleep_since is None and grant.revoked_at is None:
                    self._update(transaction, grant_id, asleep_since=transaction.now)
                    slept.append(msgspec.structs.replace(grant, asleep_since=transaction.now))
                    note(transaction, slept[-1], "slept", actor, reason)
            return tuple(slept)

        return self._context.change(change)

    def wake(self, grant_id: str, *, org_id: str, actor: str, reason: str = "") -> Grant:
        """Let a grant that sleeps give again, in an organization; raises `UnknownRecord` and `Conflict`."""

        def change(transaction: Transaction) -> Grant:
            grant = require_record(transaction, Grant, grants, grant_id, "grant", _list_help("grant"))
            if grant.revoked_at is not None:
                raise Conflict(f"the grant {quote(grant_id)} is already revoked", code="ALREADY_REVOKED")
            if grant.asleep_since is None:
                raise Conflict(f"the grant {quote(grant_id)} is awake", code="NOT_ASLEEP")
            self._update(transaction, grant_id, asleep_since=None, org_id=org_id)
            awake = msgspec.structs.replace(grant, asleep_since=None, org_id=org_id)
            note(transaction, awake, "woken", actor, reason)
            return awake

        return self._context.change(change)

    def uses(self, grant_id: str) -> tuple[GrantUse, ...]:
        """When it was used, and by which decision, oldest first."""
        query = select(grant_uses).where(grant_uses.c.grant_id == grant_id).order_by(grant_uses.c.use_id)
        return self._context.read(GrantUse, query)

    def count_uses(self) -> dict[str, int]:
        """How often each grant was used; those never used are not in it."""
        query = select(grant_uses.c.grant_id, func.count()).group_by(grant_uses.c.grant_id)
        with self._context.reading() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def _select_holding(self) -> tuple[ColumnElement[bool], ...]:
        """The condition for a current grant. It includes sleeping grants, because waking makes them apply again."""
        # A used-up grant cannot apply again, unlike one that sleeps.
        return (*super()._select_holding(), or_(grants.c.uses_left.is_(None), grants.c.uses_left > 0))


def insert_grant(transaction: Transaction, grant: Grant) -> Grant:
    """Within a change: write a grant and its history; raises `Refused`."""
    for waiver in grant.waives:
        require_word("the waiver", waiver, get_args(Waiver))
    # Also refused here, below all surfaces: no way to write a grant may skip it.
    if grant.issued_by == grant.subject:
        raise Refused(f"{quote(grant.subject)} cannot give itself a permission", code="SELF_GRANT")
    require_bound(grant.action, grant.input_digest, grant.snapshot)
    for approver in grant.approved_by:
        require_reference("the approver", approver, SUBJECTS)
    if grant.uses_left is not None and grant.uses_left < 1:
        raise Refused("use at least 1", code="BAD_VALUE")
    detail = {
        "waives": list(grant.waives), "uses_left": grant.uses_left, "channel": grant.channel, "session": grant.session,
        "action": grant.action, "input_digest": grant.input_digest, "snapshot": grant.snapshot,
        **({"approved_by": list(grant.approved_by)} if grant.approved_by else {}),
    }  # fmt: skip
    return insert_issued(transaction, grants, grant, detail)


def use_grants(transaction: Transaction, grant_ids: Sequence[str], decision: str) -> None:
    """Within the change that writes a decision: note that it used these grants; raises `Conflict` (`GRANT_USED_UP`)."""
    for grant_id in dict.fromkeys(grant_ids):
        grant = require_record(transaction, Grant, grants, grant_id, "grant", _list_help("grant"))
        # The decision was made before this transaction. In between, another one can have used the grant up or revoked
        # it.
        is_over = grant.expires_at is not None and grant.expires_at <= transaction.now
        is_asleep = grant.asleep_since is not None
        if grant.revoked_at is not None or is_over or is_asleep or grant.uses_left == 0:
            why = (
                "revoked" if grant.revoked_at is not None
                else "expired" if is_over
                else "asleep" if is_asleep
                else "used up"
            )  # fmt: skip
            raise Conflict(f"the grant {quote(grant_id)} is {why}", code="GRANT_USED_UP")
        transaction.connection.execute(
            insert(grant_uses).values(grant_id=grant_id, at=transaction.now, audit_id=decision)
        )
        if grant.uses_left is not None:
            transaction.connection.execute(
                update(grants)
                .where(grants.c.grant_id == grant_id)
                .values(uses_left=grant.uses_left - 1, version=transaction.touch())
            )
        note(transaction, grant, "used", detail={"decision": decision})


class Restrictions(IssuedRecords[Restriction]):
    """The restrictions of a store."""

    KIND, ENDED, TABLE, record = "restriction", "lifted", restrictions, Restriction

    def issue(
        self,
        subject: str,
        resources: Sequence[str],
        *,
        issued_by: str,
        level: ToolLevel = "none",
        org_id: str = ALL_ORGANIZATIONS,
        reason: str = "",
        expires_at: float | None = None,
    ) -> Restriction:
        """Leave a subject no more than `level` of some resources; raises `Refused` for what cannot be stored."""
        require_time("the end", expires_at)
        draft = Restriction(
            self._context.new_id("x"), subject, tuple(resources), level, org_id, reason, issued_by, expires_at=expires_at
        )  # fmt: skip
        return self._context.change(lambda transaction: insert_issued(transaction, restrictions, draft, {}))
