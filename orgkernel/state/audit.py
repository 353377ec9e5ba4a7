"""The audit of a store: writing entries, searching and counting rows, and dropping old ones (docs/how-to/store.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, delete, func, select, tuple_

from orgkernel.decisions.evidence.state_records import (
    AcceptedFinding,
    AuditEntry,
    AuditFilter,
    AuditFinding,
    AuditRow,
    Stream,
)
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import StoreError, UnknownRecord
from orgkernel.state.chain import build_unreadable_entry, decode_entry, find_ends
from orgkernel.state.checkpoints import Checkpoints, Segment
from orgkernel.state.grants import use_grants
from orgkernel.state.rows import StoreContext
from orgkernel.state.tables import audit
from orgkernel.state.verify import select_proven
from orgkernel.state.writer import PendingWrite, Transaction

_AT_ONCE = 1_000
_CHAIN = (audit.c.writer, audit.c.stream)
_NEWEST_FIRST = tuple(
    column.desc() for column in (audit.c.at, audit.c.writer, audit.c.stream, audit.c.sequence)
)
DAY = 86_400.0
KEPT: Mapping[Stream, float] = {"decision": 90 * DAY, "history": 365 * DAY}
"""Seconds for which rows are kept: decisions and usage; grants, requests, locks and ranks."""


class AuditLog:
    """The audit of a store."""

    def __init__(self, context: StoreContext) -> None:
        self._context = context
        self.defer = context.writer.submit
        """Submit an entry without waiting. It is acknowledged when the pending write resolves."""

    def write(self, entry: AuditEntry, uses: Sequence[str] = ()) -> str:
        """Write an entry and wait until it is on the disk; the name of its row.

        `uses` are the ids of grants the decision needed: they are used in the same transaction, and when one of them
        is used up by now, `Conflict` (`GRANT_USED_UP`) is raised, nothing is written, and the answer has to be no.
        """
        name: str = self.submit(entry, uses).result()
        return name

    def submit(
        self,
        entry: AuditEntry,
        uses: Sequence[str] = (),
        *,
        is_urgent: bool = True,
        reserve: Callable[[Transaction], object] | None = None,
    ) -> PendingWrite:
        """Like `write`, for callers that wait on their own. Raises `StoreBusy` if too many wait.

        Rows that are not urgent are written a little later, together with other rows. `reserve` charges the limits of the call in
        the same transaction; if it raises `Conflict`, nothing is written.
        """
        if not uses and reserve is None:
            return self._context.writer.submit(entry, may_wait=False, is_urgent=is_urgent)

        def change(transaction: Transaction) -> str:
            name = transaction.audit(entry)
            use_grants(transaction, uses, name)
            if reserve is not None:
                reserve(transaction)
            return name

        return self._context.writer.submit(change, may_wait=False)


class SenderCount(msgspec.Struct, frozen=True):
    """An unknown sender, and the number of its attempts."""

    channel: str
    sender: str
    count: int
    last_at: float


class PolicyCount(msgspec.Struct, frozen=True):
    """How often a policy matched, and how often it denied."""

    policy: str
    matched: int
    denied: int


class AuditStats(msgspec.Struct, frozen=True):
    """Decisions by outcome, in all and by subject and channel."""

    outcomes: Mapping[str, int]
    subjects: Mapping[str, Mapping[str, int]]
    channels: Mapping[str, Mapping[str, int]]


def read_rows(
    context: StoreContext, wanted: AuditFilter, limit: int | None = None, after: str | None = None
) -> Iterator[AuditRow]:
    """Rows, newest first. `after` is the name of the last row of the previous page.

    Raises `UnknownRecord` if it does not exist.
    """
    query = _filter_rows(select(audit), wanted).order_by(*_NEWEST_FIRST)
    with context.reading() as connection:
        if after is not None:
            query = query.where(_is_after(connection, after))
        if limit is not None:
            query = query.limit(limit)
        for row in connection.execution_options(yield_per=_AT_ONCE).execute(query):
            try:
                entry = decode_entry(row.body)
            except ValueError:
                entry = build_unreadable_entry(row.at)
            yield AuditRow(row.writer, row.stream, row.sequence, row.previous, row.digest, entry)


def read_entries(
    connection: Connection, kind: str, until: float | None, subject: str | None = None
) -> Iterator[AuditEntry]:
    """The entries of a kind up to a time and at that time, oldest first. Raises `StoreError` if one was changed."""
    query = select(audit.c.body).where(audit.c.kind == kind)
    if until is not None:
        query = query.where(audit.c.at <= until)
    if subject is not None:
        query = query.where(audit.c.subject == subject)
    for row in connection.execute(query.order_by(audit.c.at, audit.c.writer, audit.c.sequence)):
        try:
            yield decode_entry(row.body)
        except ValueError:
            raise StoreError(
                "a row of the audit was changed and cannot be read", "`orgkernel audit verify` names it"
            ) from None


def count_unknown_senders(context: StoreContext, since: float | None = None) -> tuple[SenderCount, ...]:
    """Unknown senders, most frequent first."""
    counts: Counter[tuple[str, str]] = Counter()
    last: dict[tuple[str, str], float] = {}
    for row in read_rows(context, AuditFilter(since=since, kind="decision", relationship="unknown")):
        key = (row.entry.channel, row.entry.sender or row.entry.subject)
        counts[key] += 1
        last.setdefault(key, row.entry.at)
    ordered = sorted(counts, key=lambda key: (-counts[key], key))
    return tuple(SenderCount(*key, counts[key], last[key]) for key in ordered)


def count_policies(context: StoreContext, since: float | None = None) -> tuple[PolicyCount, ...]:
    """How often each policy matched and denied, by name. A declared policy that is missing here never matched."""
    matched: Counter[str] = Counter()
    denied: Counter[str] = Counter()
    for row in read_rows(context, AuditFilter(since=since, kind="decision")):
        matched.update(row.entry.policies_matched)
        denied.update(row.entry.policies_denied)
    return tuple(PolicyCount(name, matched[name], denied[name]) for name in sorted(matched | denied))


def count_decisions(context: StoreContext, since: float | None = None) -> AuditStats:
    """Decisions by outcome."""
    wanted = AuditFilter(since=since, kind="decision")
    counts_by_column: dict[str, dict[str, Counter[str]]] = {"subject": {}, "channel": {}}
    outcomes: Counter[str] = Counter()
    with context.reading() as connection:
        for name, counts in counts_by_column.items():
            column = audit.c[name]
            query = select(column, audit.c.activity, func.count()).group_by(column, audit.c.activity)
            for key, outcome, number in connection.execute(_filter_rows(query, wanted)):
                counts.setdefault(key, Counter())[outcome] += number
    for by_outcome in counts_by_column["subject"].values():
        outcomes.update(by_outcome)
    return AuditStats(
        _sort_counts(outcomes),
        _sort_all_counts(counts_by_column["subject"]),
        _sort_all_counts(counts_by_column["channel"]),
    )


def _sort_counts(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def _sort_all_counts(counts_by_key: dict[str, Counter[str]]) -> dict[str, dict[str, int]]:
    return {key: _sort_counts(counts) for key, counts in sorted(counts_by_key.items()) if key}


def _filter_rows(query: Select[Any], wanted: AuditFilter) -> Select[Any]:
    for name in ("kind", "activity", "channel", "relationship", "record_id"):
        value = getattr(wanted, name)
        if value is not None:
            query = query.where(audit.c[name] == value)
    if wanted.subject is not None:
        kind, _, name = wanted.subject.partition(":")
        # All subjects of a kind are adjacent in the index: `;` comes after `:`.
        of_kind = (audit.c.subject >= f"{kind}:", audit.c.subject < f"{kind};")
        query = query.where(audit.c.subject == wanted.subject) if name else query.where(*of_kind)
    if wanted.since is not None:
        query = query.where(audit.c.at >= wanted.since)
    if wanted.until is not None:
        query = query.where(audit.c.at < wanted.until)
    return query


def _is_after(connection: Any, name: str) -> Any:
    writer, _, rest = name.partition(":")
    stream, _, number = rest.partition(":")
    sequence = int(number) if number.isdecimal() and len(number) < 19 else 0
    where = (audit.c.writer == writer, audit.c.stream == stream, audit.c.sequence == sequence)
    at = connection.scalar(select(audit.c.at).where(*where))
    if at is None:
        raise UnknownRecord(f"there is no audit row {quote(name)}")
    return tuple_(audit.c.at, audit.c.writer, audit.c.stream, audit.c.sequence) < (
        at,
        writer,
        stream,
        sequence,
    )


def drop_old(
    context: StoreContext, folder: Checkpoints, kept: Mapping[Stream, float] = KEPT
) -> tuple[Segment, ...]:
    """Seal and drop the expired rows at the beginning of each chain. Returns the dropped segments.

    The newest row of a chain always stays, so that it can be continued, and so do rows that are not proven: a signed segment
    would hide what happened to them. The segment is on the disk before its rows go: when that fails, or we are killed, the
    rows are still there and the next time takes them.
    """
    now = context.clock()
    proven = select_proven(context, folder, _find_expired(context, {name: now - kept[name] for name in kept}))
    if not proven:
        return ()

    def change(transaction: Transaction) -> tuple[Segment, ...]:
        dropped = []
        for segment in proven:
            if _read_segment(transaction.connection, segment) != segment:
                continue  # another process has just dropped it
            noted = msgspec.structs.replace(segment, dropped_at=transaction.now)
            folder.add_segment(noted)
            transaction.connection.execute(delete(audit).where(*_up_to(segment)))
            dropped.append(noted)
        if dropped:
            number = sum(each.last - each.first + 1 for each in dropped)
            transaction.audit(
                AuditEntry(
                    "audit", transaction.now, "dropped", detail={"rows": number, "segments": len(dropped)}
                )
            )
        return tuple(dropped)

    return context.change(change)


def _find_expired(context: StoreContext, before: Mapping[Stream, float]) -> list[Segment]:
    """The rows at the beginning of each chain that are older than a time, but not the newest row."""
    expired = []
    with context.reading() as connection:
        for writer, stream in sorted(map(tuple, connection.execute(select(*_CHAIN).distinct())), key=str):
            if not isinstance(writer, str) or stream not in before:
                continue  # SQLite keeps a value of any type, and such a row is a finding
            own = (audit.c.writer == writer, audit.c.stream == stream)
            newest = connection.scalar(select(func.max(audit.c.sequence)).where(*own))
            if not isinstance(newest, int):
                continue
            young = connection.scalar(
                select(func.min(audit.c.sequence)).where(*own, audit.c.at >= before[stream])
            )
            last = (newest if young is None else young) - 1
            segment = _read_segment(connection, Segment(writer, stream, 0, last, "", ""))
            if segment is not None:
                expired.append(segment)
    return expired


def _up_to(segment: Segment) -> tuple[Any, ...]:
    return (
        audit.c.writer == segment.writer, audit.c.stream == segment.stream, audit.c.sequence <= segment.last,
    )  # fmt: skip


def _read_segment(connection: Connection, segment: Segment) -> Segment | None:
    """The rows of a chain up to the last one of a segment, as they are now. None if there are none."""
    ends = [
        connection.execute(
            select(audit.c.sequence, audit.c.previous, audit.c.digest)
            .where(*_up_to(segment))
            .order_by(order)
            .limit(1)
        ).first()
        for order in (audit.c.sequence, audit.c.sequence.desc())
    ]
    first, last = ends
    if first is None or last is None or last.sequence != segment.last:
        return None
    return Segment(segment.writer, segment.stream, first.sequence, last.sequence, first.previous, last.digest)


def accept_findings(
    context: StoreContext,
    folder: Checkpoints,
    findings: Sequence[AuditFinding],
    *,
    actor: str,
    reason: str,
) -> None:
    """Record accepted findings of a verification in the audit, and then next to the checkpoints."""

    def change(transaction: Transaction) -> float:
        listed = [f"{each.problem}: {each.message}" for each in findings]
        entry = AuditEntry(
            "audit", transaction.now, "accepted", actor=actor, reason=reason, detail={"findings": listed}
        )
        transaction.audit(entry)
        return transaction.now

    now = context.change(change)
    folder.accept(
        tuple(AcceptedFinding(now, actor, reason, each.problem, each.row, each.message) for each in findings)
    )


def rotate_signing_key(
    context: StoreContext, folder: Checkpoints, until: float, *, actor: str, reason: str
) -> None:
    """Sign checkpoints with a new key. The old key remains valid until a time.

    The new checkpoints cover rows that the old key has sealed, because their seals end with the old key.
    """
    with context.reading() as connection:
        folder.rotate_key(
            until, lambda head: find_ends(connection, folder.signing.read_trusted(), head.writer, head.heads)
        )

    def change(transaction: Transaction) -> None:
        detail = {"until": until}
        transaction.audit(
            AuditEntry("audit", transaction.now, "rekeyed", actor=actor, reason=reason, detail=detail)
        )

    context.change(change)
