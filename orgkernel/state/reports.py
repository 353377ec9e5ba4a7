"""SALUTE reports: each stored once, the latest of each agent in each role, and earlier ones for a while.

Reports with the same content are one row, even if they arrive twice: from a file and its copy, or from a host that
missed the answer. Old rows are deleted when the next report of their agent arrives; the latest one always stays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import msgspec
from sqlalchemy import Select, delete, func, insert, select, update

from orgkernel.decisions.evidence.state_records import AuditEntry, ReportReceipt
from orgkernel.decisions.evidence.state_view import PaceTierName, StoredReport
from orgkernel.errors import Refused
from orgkernel.runtime.utc import as_seconds
from orgkernel.state.chain import clean_value
from orgkernel.state.clock_gap import measure_gap
from orgkernel.state.rows import StoreContext, encode_row, require_id, require_word
from orgkernel.state.tables import salute_latest, salute_reports
from orgkernel.state.writer import PendingWrite, Transaction

KEPT_SECONDS = 7 * 86_400.0
"""How long reports are kept that are not the latest of their agent."""
MAX_REPORT_BYTES = 64 * 1024
"""Maximum size of a report as JSON, in bytes."""
_MAX_AT_ONCE = 500
_UNIT = ("org_id", "role_id", "agent_id", "agent_number")
_canonical = msgspec.json.Encoder(order="deterministic").encode


class Reports:
    """The reports of a store."""

    def __init__(self, context: StoreContext, kept_seconds: float = KEPT_SECONDS) -> None:
        self._context = context
        self._kept_seconds = kept_seconds

    def record(self, body: Mapping[str, Any], *, actor: str, agent_id: str = "") -> ReportReceipt:
        """Store a report that was read (`runtime.salute_format.read_report`); raises `Refused`."""
        receipt: ReportReceipt = self.submit(body, actor=actor, agent_id=agent_id).result()
        return receipt

    def submit(self, body: Mapping[str, Any], *, actor: str, agent_id: str = "") -> PendingWrite:
        """Hand a report in; the pending write resolves with its receipt once it is on the disk. Raises `Refused`."""
        draft = _draft(body, agent_id)
        digest = hashlib.sha256(_canonical([agent_id, draft.body])).hexdigest()
        return self._context.writer.submit(lambda transaction: self._store(transaction, draft, digest, actor))

    def latest(self, org_id: str | None = None, role_id: str | None = None) -> tuple[StoredReport, ...]:
        """The latest report of each agent in each role, by organization, role and agent."""
        query = (
            select(salute_reports)
            .join(salute_latest, salute_latest.c.number == salute_reports.c.number)
            .order_by(*(salute_latest.c[name] for name in _UNIT))
        )
        return self._context.read(StoredReport, _select_for(query, org_id, role_id))

    def history(
        self,
        org_id: str | None = None,
        role_id: str | None = None,
        *,
        before: int | None = None,
        limit: int = 100,
    ) -> tuple[StoredReport, ...]:
        """Reports, newest first; with `before`, only reports stored before that number."""
        query = _select_for(select(salute_reports), org_id, role_id).order_by(salute_reports.c.number.desc())
        if before is not None:
            query = query.where(salute_reports.c.number < before)
        return self._context.read(StoredReport, query.limit(limit))

    def after(
        self,
        number: int,
        org_id: str | None = None,
        role_id: str | None = None,
        *,
        limit: int = _MAX_AT_ONCE,
    ) -> tuple[StoredReport, ...]:
        """Reports in the order in which they were stored, from the one after `number` on."""
        query = _select_for(select(salute_reports), org_id, role_id).where(salute_reports.c.number > number)
        return self._context.read(StoredReport, query.order_by(salute_reports.c.number).limit(limit))

    def last_number(self) -> int:
        """The number of the latest report; 0 if there is none."""
        with self._context.reading() as connection:
            return connection.scalar(select(func.max(salute_reports.c.number))) or 0

    def drop_old(self, kept_seconds: float | None = None) -> int:
        """Delete expired reports, except the latest of each agent. Returns their number."""
        kept = self._kept_seconds if kept_seconds is None else kept_seconds

        def change(transaction: Transaction) -> int:
            latest = select(salute_latest.c.number)
            dropped = transaction.connection.execute(
                delete(salute_reports).where(
                    salute_reports.c.at < transaction.now - kept, salute_reports.c.number.not_in(latest)
                )
            )
            return dropped.rowcount

        return self._context.change(change)

    def _store(self, transaction: Transaction, draft: StoredReport, digest: str, actor: str) -> ReportReceipt:
        connection = transaction.connection
        known = connection.scalar(select(salute_reports.c.number).where(salute_reports.c.digest == digest))
        if known is not None:
            return ReportReceipt("known", known)
        # A sender on a machine whose clock is behind states a time that is behind as well. Its emergency must not pass for old.
        at = min(draft.at + transaction.lag, transaction.now)
        report = msgspec.structs.replace(draft, at=at, received_at=transaction.now)
        unit = [(name, getattr(report, name)) for name in _UNIT]
        before = connection.execute(
            select(salute_reports.c.number, salute_reports.c.at, salute_reports.c.tier)
            .join(salute_latest, salute_latest.c.number == salute_reports.c.number)
            .where(*(salute_latest.c[name] == value for name, value in unit))
        ).first()
        # A clock that is ahead must not delete reports, so they are old at the time that the audit proves.
        oldest = transaction.now - measure_gap(connection, transaction.now) - self._kept_seconds
        if before is not None and report.at < min(before.at, oldest):
            return ReportReceipt("expired", None)
        row = encode_row(report)
        del row["number"]
        number = connection.execute(insert(salute_reports).values(**row, digest=digest)).inserted_primary_key
        assert number is not None  # both engines give it
        # A report that is dated ahead came while a clock was ahead. It must not keep later ones from being the latest.
        if before is None or report.at >= before.at or before.at > transaction.now:
            self._put_latest(transaction, unit, number[0], is_first=before is None)
            _note_tier(transaction, report, number[0], None if before is None else before.tier, actor)
            connection.execute(
                delete(salute_reports).where(
                    *(salute_reports.c[name] == value for name, value in unit),
                    salute_reports.c.at < oldest,
                    salute_reports.c.number != number[0],
                )
            )
        return ReportReceipt("stored", number[0])

    def _put_latest(
        self, transaction: Transaction, unit: Sequence[tuple[str, Any]], number: int, *, is_first: bool
    ) -> None:
        values = {"number": number, "version": transaction.touch()}
        if is_first:
            transaction.connection.execute(insert(salute_latest).values(**dict(unit), **values))
            return
        where = (salute_latest.c[name] == value for name, value in unit)
        transaction.connection.execute(update(salute_latest).where(*where).values(**values))


def _select_for(query: Select[Any], org_id: str | None, role_id: str | None) -> Select[Any]:
    if org_id is not None:
        query = query.where(salute_reports.c.org_id == org_id)
    return query if role_id is None else query.where(salute_reports.c.role_id == role_id)


def _draft(body: Mapping[str, Any], agent_id: str) -> StoredReport:
    """Prepare a report for storing: its strings masked, its time from its own clock. Raises `Refused`."""
    clean: dict[str, Any] = clean_value(body)
    if len(_canonical(clean)) > MAX_REPORT_BYTES:
        raise Refused(f"a report has more than {MAX_REPORT_BYTES} bytes", code="BAD_VALUE")
    unit = clean["unit"]
    at = as_seconds(clean["time"]["timestamp"])
    if at is None:
        raise Refused(
            "the report does not have a valid time", "write `time.timestamp` in ISO 8601", code="BAD_VALUE"
        )
    tier: Any = clean["status"].get("pace_level", "primary")
    require_word("the tier", tier, get_args(PaceTierName))
    return StoredReport(
        0,
        require_id("the organization", unit.get("organization") or ""),
        require_id("the role", unit["role_id"]),
        require_id("the agent", agent_id) if agent_id else "",
        unit.get("agent_number", 0),
        at,
        0.0,
        tier,
        clean,
    )


def _note_tier(
    transaction: Transaction, report: StoredReport, number: int, before: PaceTierName | None, actor: str
) -> None:
    """Record a change of tier in the audit, because it changes decisions. Other reports are their own history."""
    if report.tier == (before or "primary"):
        return
    transaction.audit(
        AuditEntry(
            "report",
            transaction.now,
            report.tier,
            subject=f"role:{report.role_id}",
            actor=actor,
            org_id=report.org_id,
            record_id=str(number),
            detail={"agent_id": report.agent_id, "agent_number": report.agent_number, "before": before},
        )
    )
