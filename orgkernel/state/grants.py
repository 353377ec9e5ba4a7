"""Stored grants: permissions in addition to what roles and policies give (policies and governance §4).

Each use is written down with the audit row of the decision that used it, in the same transaction; a grant that may be
used `uses_left` times is taken by whoever commits first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from sqlalchemy import ColumnElement, func, insert, or_, select, update

from orgkernel.decisions.state_records import GrantUse
from orgkernel.decisions.state_view import Grant, Waiver
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import Conflict, Refused, UnknownRecord
from orgkernel.records.levels import ToolLevel
from orgkernel.state.issued import Issued, insert_issued, note
from orgkernel.state.rows import record_of, require_time, require_word
from orgkernel.state.tables import grant_uses, grants
from orgkernel.state.transaction import Transaction


class Grants(Issued[Grant]):
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
            self._rows.new_id("g"), subject, tuple(resources), level, tuple(waives), org_id, channel, session, reason,
            issued_by, expires_at=expires_at, uses_left=uses,
        )  # fmt: skip
        return self._rows.change(lambda transaction: insert_grant(transaction, grant))

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

    def _holding(self) -> tuple[ColumnElement[bool], ...]:
        return (*super()._holding(), or_(grants.c.uses_left.is_(None), grants.c.uses_left > 0))


def insert_grant(transaction: Transaction, grant: Grant) -> Grant:
    """Within a change: write a grant and its history; raises `Refused`."""
    for waiver in grant.waives:
        require_word("the waiver", waiver, get_args(Waiver))
    if grant.issued_by == grant.subject:
        raise Refused(f"{quote(grant.subject)} cannot give itself a permission", code="SELF_GRANT")
    if grant.uses_left is not None and grant.uses_left < 1:
        raise Refused("a grant can be used at least once", code="BAD_VALUE")
    detail = {
        "waives": list(grant.waives), "uses_left": grant.uses_left, "channel": grant.channel, "session": grant.session,
    }  # fmt: skip
    return insert_issued(transaction, grants, grant, detail)


def use_grants(transaction: Transaction, grant_ids: Sequence[str], decision: str) -> None:
    """Within the change that writes a decision: note that it used these grants; raises `Conflict` (`GRANT_USED_UP`)."""
    for grant_id in dict.fromkeys(grant_ids):
        row = transaction.connection.execute(select(grants).where(grants.c.grant_id == grant_id)).first()
        if row is None:
            raise UnknownRecord(
                f"there is no grant {quote(grant_id)}", "`orgkernel grant list --all` shows all"
            )
        grant = record_of(Grant, row)
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
        note(transaction, grant, "used", detail={"decision": decision})
