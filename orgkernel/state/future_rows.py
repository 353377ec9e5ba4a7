"""Rows that are dated after the clock, because a clock was ahead when they were written.

By its own dates, a lock of a minute would hold for a day, and a grant of an hour would give until then. So the term of such a row
is counted from the moment at which a clock that is believed first sees it, and the audit says so. Restrictions stay: a longer
one only takes away. Hand-offs and contracts stay as well, because they are chained. A claim of files that another worker still
holds is ended: to the clock that was ahead, the older claim was over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Table, and_, select, update

from orgkernel.decisions.evidence.state_records import AuditEntry, AuditKind
from orgkernel.diagnostics.wording import quote
from orgkernel.runtime.utc import as_utc
from orgkernel.state.claims import end_claim, find_older_claim
from orgkernel.state.rows import StoreContext
from orgkernel.state.tables import (
    api_keys,
    file_claims,
    grants,
    limit_uses,
    qualification_results,
    requests,
    skill_records,
    tool_locks,
)
from orgkernel.state.writer import Transaction

TOLERANCE_SECONDS = 60.0
"""Seconds by which the clocks of two machines may differ."""


class _Dated(NamedTuple):
    """A table whose rows have a term."""

    kind: AuditKind
    table: Table
    start: str
    others: tuple[str, ...]
    """Columns with times that move with the start."""
    is_current: ColumnElement[bool]
    name: Callable[[Any], tuple[str, str]]
    """Subject and id of a row in the audit."""


_TABLES = (
    _Dated(
        "lock", tool_locks, "acquired_at", ("expires_at",), tool_locks.c.holder.is_not(None),
        lambda row: (row.holder, f"{row.tool_id}#{row.token}"),
    ),
    _Dated(
        "claim", file_claims, "claimed_at", ("expires_at",), file_claims.c.ended_at.is_(None),
        lambda row: (row.holder, f"claim#{row.token}"),
    ),
    _Dated(
        "grant", grants, "issued_at", ("expires_at",),
        and_(grants.c.revoked_at.is_(None), grants.c.expiry_noted.is_(False)),
        lambda row: (row.subject, row.grant_id),
    ),
    _Dated(
        "request", requests, "created_at", ("expires_at",), requests.c.status == "pending",
        lambda row: (row.requester, row.request_id),
    ),
    _Dated(
        "result", qualification_results, "at", ("expires_at",), qualification_results.c.invalidated_at.is_(None),
        lambda row: (f"agent:{row.agent_id}", f"{row.qualification}#{row.result_id}"),
    ),
    _Dated(
        "limit", limit_uses, "at", ("lease_until",), limit_uses.c.is_released.is_(False),
        lambda row: (row.subject, row.call_id),
    ),
    _Dated(
        "skill", skill_records, "decays_from", (), skill_records.c.suspended.is_(False),
        lambda row: (f"agent:{row.agent_id}", row.skill),
    ),
    _Dated(
        "key", api_keys, "created_at", ("expires_at",), api_keys.c.revoked_at.is_(None),
        lambda row: (f"agent:{row.agent_id}" if row.agent_id else "", row.key_id),
    ),
)  # fmt: skip


def count_terms_from_now(context: StoreContext) -> int:
    """Count the terms of all rows that are dated after the clock from now. Returns the number of rows.

    The caller has to believe the clock. Raises `StoreError`.
    """
    with context.reading() as connection:  # there are seldom any, and then nothing is locked
        latest = context.clock() + TOLERANCE_SECONDS
        if not any(connection.scalar(_select_future(each, latest).limit(1)) for each in _TABLES):
            return 0
    return context.change(lambda transaction: sum(_count_from_now(transaction, each) for each in _TABLES))


def _count_from_now(transaction: Transaction, dated: _Dated) -> int:
    now, table = transaction.now, dated.table
    rows = transaction.connection.execute(
        _select_future(dated, now + TOLERANCE_SECONDS).with_only_columns(*table.columns)
    ).all()
    for row in rows:
        if table is file_claims and (other := find_older_claim(transaction, row)) is not None:
            end_claim(
                transaction, row, f"a clock was ahead when it was made: {quote(other.holder)} holds the files"
            )
            continue
        times = {name: row._mapping[name] for name in (dated.start, *dated.others)}
        ahead = times[dated.start] - now
        values = {name: None if time is None else time - ahead for name, time in times.items()}
        version = {"version": transaction.touch()} if "version" in table.columns else {}
        key = (column == row._mapping[column.name] for column in table.primary_key)
        transaction.connection.execute(update(table).where(*key).values(**values, **version))
        subject, record_id = dated.name(row)
        detail = {name: as_utc(time) for name, time in times.items() if time is not None}
        transaction.audit(
            AuditEntry(
                dated.kind, now, "term_from_now", subject=subject, org_id=row._mapping.get("org_id") or "",
                record_id=record_id, reason="a clock was ahead when it was written", detail=detail,
            )
        )  # fmt: skip
        transaction.touch()
    return len(rows)


def _select_future(dated: _Dated, latest: float) -> Any:
    return select(dated.table.c[dated.start]).where(dated.table.c[dated.start] > latest, dated.is_current)
