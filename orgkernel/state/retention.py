"""What is old leaves the audit in whole sealed segments, whose signed ends stay (policies and governance §5.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, func, select

from orgkernel.decisions.state_records import AuditEntry, Stream
from orgkernel.state.chain import GENESIS
from orgkernel.state.checkpoints import Folder, Segment
from orgkernel.state.rows import Rows
from orgkernel.state.tables import audit
from orgkernel.state.transaction import Transaction

DAY = 86_400.0
KEPT: Mapping[Stream, float] = {"decision": 90 * DAY, "history": 365 * DAY}
"""Seconds for which rows are kept: decisions and usage; what was granted, asked, locked and ranked."""


def drop_old(rows: Rows, folder: Folder, kept: Mapping[Stream, float] = KEPT) -> tuple[Segment, ...]:
    """Seal and drop the rows at the beginning of each chain that are all older than is kept; the dropped segments.

    The newest row of a chain always stays, so that it can be continued. The segment is on the disk before its rows go:
    when that fails, or we are killed, the rows are still there and the next time takes them.
    """

    def change(transaction: Transaction) -> tuple[Segment, ...]:
        connection = transaction.connection
        chains = connection.execute(select(audit.c.writer, audit.c.stream).distinct()).all()
        dropped = []
        for writer, stream in sorted(tuple(chain) for chain in chains):
            segment = _oldest(transaction, folder, writer, stream, transaction.now - kept[stream])
            if segment is not None:
                folder.add_segment(segment)
                upto = (audit.c.writer == writer, audit.c.stream == stream, audit.c.sequence <= segment.last)
                connection.execute(delete(audit).where(*upto))
                dropped.append(segment)
        if dropped:
            number = sum(each.last - each.first + 1 for each in dropped)
            transaction.audit(
                AuditEntry(
                    "audit", transaction.now, "dropped", detail={"rows": number, "segments": len(dropped)}
                )
            )
        return tuple(dropped)

    return rows.change(change)


def _oldest(
    transaction: Transaction, folder: Folder, writer: str, stream: Stream, before: float
) -> Segment | None:
    def scalar(what: Any, *where: Any) -> Any:
        return transaction.connection.scalar(
            select(what).where(audit.c.writer == writer, audit.c.stream == stream, *where)
        )

    newest = scalar(func.max(audit.c.sequence))
    young = scalar(func.min(audit.c.sequence), audit.c.at >= before)
    last = (newest if young is None else young) - 1
    first = scalar(func.min(audit.c.sequence))
    if last < first:
        return None
    return Segment(
        writer,
        stream,
        first,
        last,
        scalar(audit.c.previous, audit.c.sequence == first) or GENESIS,
        scalar(audit.c.digest, audit.c.sequence == last),
        transaction.now,
    )
