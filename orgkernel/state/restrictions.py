"""Stored restrictions: upper bounds, separate from grants (policies and governance §4.7)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from sqlalchemy import insert, or_, select, update

from orgkernel.decisions.state_records import AuditEntry
from orgkernel.decisions.state_view import Restriction
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import Conflict, Refused, UnknownRecord
from orgkernel.records.levels import LEVELS, ToolLevel
from orgkernel.state.grants import RESOURCES, SUBJECTS
from orgkernel.state.rows import (
    Rows,
    clean_record,
    record_of,
    require_reference,
    require_time,
    require_word,
    row_of,
)
from orgkernel.state.tables import restrictions
from orgkernel.state.transaction import Transaction


class Restrictions:
    """The restrictions of a store."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def issue(
        self,
        subject: str,
        resources: Sequence[str],
        *,
        issued_by: str,
        level: ToolLevel = "none",
        org_id: str | None = None,
        reason: str = "",
        expires_at: float | None = None,
    ) -> Restriction:
        """Leave a subject no more than `level` of some resources; raises `Refused` for what cannot be stored."""
        require_reference("the subject", subject, SUBJECTS)
        for resource in resources:
            require_reference("the resource", resource, RESOURCES)
        if not resources:
            raise Refused("a restriction needs a resource", "such as `tool:ID`", code="BAD_VALUE")
        require_word("the level", level, LEVELS)
        require_time("the end", expires_at)
        draft = Restriction(
            self._rows.new_id("x"),
            subject,
            tuple(resources),
            level,
            org_id,
            reason,
            issued_by,
            expires_at=expires_at,
        )

        def change(transaction: Transaction) -> Restriction:
            restriction = msgspec.structs.replace(clean_record(draft), issued_at=transaction.now)
            if expires_at is not None and expires_at <= transaction.now:
                raise Refused("the restriction would have expired before it was issued", code="BAD_VALUE")
            transaction.connection.execute(
                insert(restrictions).values(
                    **row_of(restriction), expiry_noted=False, version=transaction.touch()
                )
            )
            _note(transaction, restriction, "created", issued_by, reason)
            return restriction

        return self._rows.change(change)

    def revoke(self, restriction_id: str, *, actor: str, reason: str = "") -> Restriction:
        """Lift it: the row stays. Raises `UnknownRecord`, `Conflict` when it is lifted already."""

        def change(transaction: Transaction) -> Restriction:
            where = restrictions.c.restriction_id == restriction_id
            row = transaction.connection.execute(select(restrictions).where(where)).first()
            if row is None:
                raise UnknownRecord(
                    f"there is no restriction {quote(restriction_id)}",
                    "`orgkernel restriction list --all` shows all",
                )
            if row.revoked_at is not None:
                raise Conflict(
                    f"the restriction {quote(restriction_id)} is lifted already", code="ALREADY_REVOKED"
                )
            transaction.connection.execute(
                update(restrictions)
                .where(where)
                .values(revoked_at=transaction.now, version=transaction.touch())
            )
            restriction = msgspec.structs.replace(record_of(Restriction, row), revoked_at=transaction.now)
            _note(transaction, restriction, "revoked", actor, reason)
            return restriction

        return self._rows.change(change)

    def expire(self) -> int:
        """Note in the audit which restrictions ran out since the last time; their number."""

        def change(transaction: Transaction) -> int:
            due = (
                restrictions.c.expires_at <= transaction.now,
                restrictions.c.expiry_noted.is_(False),
                restrictions.c.revoked_at.is_(None),
            )
            order = restrictions.c.restriction_id
            found = transaction.connection.execute(select(restrictions).where(*due).order_by(order)).all()
            for row in found:
                transaction.connection.execute(
                    update(restrictions)
                    .where(order == row.restriction_id)
                    .values(expiry_noted=True, version=transaction.touch())
                )
                _note(transaction, record_of(Restriction, row), "expired", "", "")
            return len(found)

        return self._rows.change(change)

    def get(self, restriction_id: str) -> Restriction | None:
        """One restriction, also one that holds no more; None where there is none of that id."""
        query = select(restrictions).where(restrictions.c.restriction_id == restriction_id)
        with self._rows.reading() as connection:
            row = connection.execute(query).first()
        return None if row is None else record_of(Restriction, row)

    def list(self, subject: str | None = None, *, active_only: bool = False) -> tuple[Restriction, ...]:
        """Restrictions in the order in which they were issued."""
        query = select(restrictions).order_by(restrictions.c.issued_at, restrictions.c.restriction_id)
        if subject is not None:
            query = query.where(restrictions.c.subject == subject)
        if active_only:
            query = query.where(
                restrictions.c.revoked_at.is_(None),
                or_(restrictions.c.expires_at.is_(None), restrictions.c.expires_at > self._rows.clock()),
            )
        with self._rows.reading() as connection:
            return tuple(record_of(Restriction, row) for row in connection.execute(query))


def _note(transaction: Transaction, restriction: Restriction, activity: str, actor: str, reason: str) -> None:
    created = {"resources": list(restriction.resources), "expires_at": restriction.expires_at}
    transaction.audit(
        AuditEntry(
            "restriction",
            transaction.now,
            activity,
            subject=restriction.subject,
            actor=actor,
            resource=restriction.resources[0],
            level=restriction.level,
            org_id=restriction.org_id or "",
            record_id=restriction.restriction_id,
            reason=reason,
            detail=created if activity == "created" else None,
        )
    )
