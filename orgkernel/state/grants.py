"""Stored grants: permissions in addition to what roles and policies give (policies and governance §4).

They are revoked by a date and never deleted; what expired or was revoked is ignored by decisions. Each use is written
down with the audit row of the decision that used it, in the same transaction; one that may be used `uses_left` times is
taken by whoever commits first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import msgspec
from sqlalchemy import Select, func, insert, or_, select, update

from orgkernel.decisions.state_records import AuditEntry, GrantUse
from orgkernel.decisions.state_view import Grant, Waiver
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import Conflict, Refused, UnknownRecord
from orgkernel.records.levels import LEVELS, ToolLevel
from orgkernel.state.rows import (
    Rows,
    clean_record,
    record_of,
    require_reference,
    require_time,
    require_word,
    row_of,
)
from orgkernel.state.tables import grant_uses, grants
from orgkernel.state.transaction import Transaction

SUBJECTS = ("agent", "person", "role", "system", "webhook", "relationship", "tag")
RESOURCES = ("tool", "credential", "data")


class Grants:
    """The grants of a store."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def issue(
        self,
        subject: str,
        resources: Sequence[str],
        *,
        issued_by: str,
        level: ToolLevel = "full",
        waives: Sequence[Waiver] = (),
        org_id: str | None = None,
        channel: str | None = None,
        session: str | None = None,
        reason: str = "",
        expires_at: float | None = None,
        uses: int | None = None,
    ) -> Grant:
        """Give a permission; raises `Refused` for what cannot be stored."""
        require_time("the end", expires_at)
        grant = Grant(
            self._rows.new_id("g"),
            subject,
            tuple(resources),
            level,
            tuple(waives),
            org_id,
            channel,
            session,
            reason,
            issued_by,
            expires_at=expires_at,
            uses_left=uses,
        )
        return self._rows.change(lambda transaction: insert_grant(transaction, grant))

    def revoke(self, grant_id: str, *, actor: str, reason: str = "") -> Grant:
        """Take it back: the row stays. Raises `UnknownRecord`, `Conflict` when it is revoked already."""

        def change(transaction: Transaction) -> Grant:
            grant = _require(transaction, grant_id)
            if grant.revoked_at is not None:
                raise Conflict(f"the grant {quote(grant_id)} is revoked already", code="ALREADY_REVOKED")
            return _update(transaction, grant, "revoked", actor, reason, revoked_at=transaction.now)

        return self._rows.change(change)

    def expire(self) -> tuple[Grant, ...]:
        """Note in the audit which grants ran out since the last time; decisions ignore them from their date on."""

        def change(transaction: Transaction) -> tuple[Grant, ...]:
            due = (
                grants.c.expires_at <= transaction.now,
                grants.c.expiry_noted.is_(False),
                grants.c.revoked_at.is_(None),
            )
            found = transaction.connection.execute(
                select(grants).where(*due).order_by(grants.c.grant_id)
            ).all()
            return tuple(
                _update(transaction, record_of(Grant, row), "expired", "", "", expiry_noted=True)
                for row in found
            )

        return self._rows.change(change)

    def get(self, grant_id: str) -> Grant | None:
        """One grant, None where there is none."""
        found = self._read(select(grants).where(grants.c.grant_id == grant_id))
        return found[0] if found else None

    def list(self, subject: str | None = None, *, active_only: bool = False) -> tuple[Grant, ...]:
        """Grants in the order in which they were issued."""
        query = select(grants).order_by(grants.c.issued_at, grants.c.grant_id)
        if subject is not None:
            query = query.where(grants.c.subject == subject)
        if active_only:
            query = query.where(
                grants.c.revoked_at.is_(None),
                or_(grants.c.expires_at.is_(None), grants.c.expires_at > self._rows.clock()),
                or_(grants.c.uses_left.is_(None), grants.c.uses_left > 0),
            )
        return self._read(query)

    def uses(self, grant_id: str) -> tuple[GrantUse, ...]:
        """When it was used, and by which decision, oldest first."""
        query = select(grant_uses).where(grant_uses.c.grant_id == grant_id).order_by(grant_uses.c.use_id)
        with self._rows.reading() as connection:
            return tuple(record_of(GrantUse, row) for row in connection.execute(query))

    def count_uses(self) -> dict[str, int]:
        """How often each grant was used; those never used are not in it."""
        query = select(grant_uses.c.grant_id, func.count()).group_by(grant_uses.c.grant_id)
        with self._rows.reading() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def _read(self, query: Select[*tuple[object, ...]]) -> tuple[Grant, ...]:
        with self._rows.reading() as connection:
            return tuple(record_of(Grant, row) for row in connection.execute(query))


def insert_grant(transaction: Transaction, grant: Grant) -> Grant:
    """Within a change: write a grant and its history; raises `Refused`."""
    require_reference("the subject", grant.subject, SUBJECTS)
    if not grant.resources:
        raise Refused("a grant needs a resource", "such as `tool:ID`", code="BAD_VALUE")
    for resource in grant.resources:
        require_reference("the resource", resource, RESOURCES)
    require_word("the level", grant.level, LEVELS)
    for waiver in grant.waives:
        require_word("the waiver", waiver, get_args(Waiver))
    if grant.issued_by == grant.subject:
        raise Refused(f"{quote(grant.subject)} cannot give itself a permission", code="SELF_GRANT")
    if grant.expires_at is not None and grant.expires_at <= transaction.now:
        raise Refused("the grant would have expired before it was issued", code="BAD_VALUE")
    if grant.uses_left is not None and grant.uses_left < 1:
        raise Refused("a grant can be used at least once", code="BAD_VALUE")
    grant = msgspec.structs.replace(clean_record(grant), issued_at=transaction.now)
    transaction.connection.execute(
        insert(grants).values(**row_of(grant), expiry_noted=False, version=transaction.touch())
    )
    _note(transaction, grant, "created", grant.issued_by, grant.reason)
    return grant


def use_grants(transaction: Transaction, grant_ids: Sequence[str], decision: str) -> None:
    """Within the change that writes a decision: note that it used these grants; raises `Conflict` (`GRANT_USED_UP`)."""
    for grant_id in dict.fromkeys(grant_ids):
        grant = _require(transaction, grant_id)
        is_over = grant.expires_at is not None and grant.expires_at <= transaction.now
        if grant.revoked_at is not None or is_over or grant.uses_left == 0:
            why = "revoked" if grant.revoked_at is not None else "expired" if is_over else "used up"
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
        _note(transaction, grant, "used", "", "", decision)


def _require(transaction: Transaction, grant_id: str) -> Grant:
    row = transaction.connection.execute(select(grants).where(grants.c.grant_id == grant_id)).first()
    if row is None:
        raise UnknownRecord(f"there is no grant {quote(grant_id)}", "`orgkernel grant list --all` shows all")
    return record_of(Grant, row)


def _update(
    transaction: Transaction, grant: Grant, activity: str, actor: str, reason: str, **values: object
) -> Grant:
    transaction.connection.execute(
        update(grants)
        .where(grants.c.grant_id == grant.grant_id)
        .values(**values, version=transaction.touch())
    )
    _note(transaction, grant, activity, actor, reason)
    known = {name: value for name, value in values.items() if name in grant.__struct_fields__}
    return msgspec.structs.replace(grant, **known)


def _note(
    transaction: Transaction, grant: Grant, activity: str, actor: str, reason: str, decision: str = ""
) -> None:
    created = {
        "resources": list(grant.resources), "waives": list(grant.waives), "expires_at": grant.expires_at,
        "uses_left": grant.uses_left, "channel": grant.channel, "session": grant.session,
    }  # fmt: skip
    transaction.audit(
        AuditEntry(
            "grant",
            transaction.now,
            activity,
            subject=grant.subject,
            actor=actor,
            resource=grant.resources[0],
            level=grant.level,
            org_id=grant.org_id or "",
            record_id=grant.grant_id,
            reason=reason,
            detail={"decision": decision} if decision else created if activity == "created" else None,
        )
    )
