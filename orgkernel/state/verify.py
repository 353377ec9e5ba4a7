"""`audit verify`: check that no row of the audit is missing, moved or changed.

Each chain is followed from its first row, or from the deleted segment before it, to its last row, and compared with the
signed checkpoint outside of the table. It cannot detect a change by somebody who can write both the store and the
folder of checkpoints (docs/how-to/store.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from sqlalchemy import select

from orgkernel.decisions.state_records import AuditFinding, AuditProblem, Stream, audit_id
from orgkernel.state.chain import GENESIS, decode_entry, link
from orgkernel.state.checkpoints import Folder, Head, Link, Segment
from orgkernel.state.rows import StoreContext
from orgkernel.state.tables import audit

_MOST = 100
"""Findings that are listed; the rest is counted."""
_COPIES = ("at", "kind", "activity", "subject", "channel", "relationship", "record_id")
_AT_ONCE = 5_000


class Verification(msgspec.Struct, frozen=True):
    """The result of a verification."""

    rows: int
    chains: int
    dropped: int
    """Rows that retention deleted. The checkpoints of their segments are kept."""
    findings: tuple[AuditFinding, ...]
    more_findings: int = 0
    """Beyond those listed."""
    notes: tuple[str, ...] = ()
    """Parts that could not be verified."""


class _Chain:
    """One chain, followed row by row."""

    def __init__(self, writer: str, stream: Stream, segments: list[Segment]) -> None:
        self.writer, self.stream, self.segments = writer, stream, segments
        self.dropped = max((each.last for each in segments if each.dropped_at is not None), default=0)
        self.last: Link | None = None
        self.digest_at_head: str | None = None
        self.broken: list[Any] = []
        """Rows that do not have the digest they should have."""
        self.findings: list[AuditFinding] = []

    def name(self, sequence: int) -> str:
        return audit_id(self.writer, self.stream, sequence)

    def find(self, problem: AuditProblem, sequence: int, message: str) -> None:
        self.findings.append(AuditFinding(problem, self.name(sequence), message))

    def start(self, first: int) -> Link:
        for segment in self.segments:
            if segment.first == first:
                return Link(first - 1, segment.previous)  # noted as dropped, and the rows are still there
        ends = {each.last: each.digest for each in self.segments if each.dropped_at is not None}
        return Link(self.dropped, ends[self.dropped]) if self.dropped else Link(0, GENESIS)

    def follow(self, row: Any, head: Link | None) -> None:
        before = self.last or self.start(row.sequence)
        if row.sequence != before.sequence + 1:
            first, last = before.sequence + 1, row.sequence - 1
            many = (
                f"rows {self.name(first)} to {self.name(last)} are"
                if last > first
                else f"row {self.name(first)} is"
            )
            self.find("missing", first, f"{many} missing")
        if link(row.previous, self.writer, self.stream, row.sequence, row.body) != row.digest:
            self.broken.append(row)
        elif not _copies_agree(row):
            self.find(
                "changed",
                row.sequence,
                f"row {self.name(row.sequence)} was changed: its columns contradict it",
            )
        elif (
            row.sequence == before.sequence + 1
            and row.previous != before.digest
            and not self._is_broken(before.sequence)
        ):
            what = (
                f"row {self.name(before.sequence)} is not the one {self.name(row.sequence)} was written after"
            )
            self.find("changed", before.sequence or row.sequence, what)
        if head is not None and row.sequence == head.sequence:
            self.digest_at_head = row.digest
        self.last = Link(row.sequence, row.digest)

    def finish(self, head: Link | None) -> None:
        for row in self.broken:
            place = self._place_of(row)
            if place is None:
                self.find("changed", row.sequence, f"row {self.name(row.sequence)} was changed")
            else:
                text = f"row {self.name(row.sequence)} was written as {self.name(place)}"
                self.find("reordered", row.sequence, text)
        if head is None or head.sequence <= self.dropped:
            return
        last = self.last.sequence if self.last else self.dropped
        if last < head.sequence:
            text = f"the chain ends before row {self.name(last + 1)}, but had reached row {self.name(head.sequence)}"
            self.find("cut_off", last + 1, text)
        elif self.digest_at_head is not None and self.digest_at_head != head.digest:
            text = f"row {self.name(head.sequence)} is not the signed one: rows up to it were rewritten"
            self.find("changed", head.sequence, text)

    def _is_broken(self, sequence: int) -> bool:
        return bool(self.broken) and self.broken[-1].sequence == sequence

    def _place_of(self, row: Any) -> int | None:
        """Where a row that does not belong here was written; None when it was nowhere."""
        for other in self.broken[:_MOST]:
            if other is not row and self._is_digest(other.previous, other.sequence, row.body, other.digest):
                return int(other.sequence)  # only what it says was moved
        near = (row.sequence - 1, row.sequence + 1)
        for sequence in (*(other.sequence for other in self.broken[:_MOST]), *near):
            if sequence != row.sequence and self._is_digest(row.previous, sequence, row.body, row.digest):
                return int(sequence)
        return None

    def _is_digest(self, previous: str, sequence: int, body: str, digest: str) -> bool:
        return link(previous, self.writer, self.stream, sequence, body) == digest


def verify_audit(context: StoreContext, folder: Folder, is_shared: bool) -> Verification:
    """Follow every chain. `is_shared`: other machines write too, and their heads are with them."""
    notes: list[str] = []
    findings: list[AuditFinding] = []
    # Heads first: what is committed while we read is then beyond them, never before.
    heads = _read_heads(folder, findings)
    segments = _read_segments(folder, findings)
    if folder.key() is None:
        notes.append(f"there is no key in {folder.path}: it is not known whether ends were cut off")
    chains: dict[tuple[str, Stream], _Chain] = {}
    for writer, stream in {
        (writer, stream) for writer, head in heads.items() for stream in head.heads
    } | segments.keys():
        chains[writer, stream] = _Chain(writer, stream, segments.get((writer, stream), []))
    number = 0
    for row in _read_rows(context):
        number += 1
        key = (row.writer, row.stream)
        if key not in chains:
            chains[key] = _Chain(*key, segments.get(key, []))
        chains[key].follow(row, _head_of(heads, key))
    for key, chain in sorted(chains.items()):
        chain.finish(_head_of(heads, key))
        findings += chain.findings
        if chain.last is not None and key[0] not in heads and folder.key() is not None:
            text = f"there is no checkpoint of writer {key[0]}: it is not known whether its end was cut off"
            if is_shared:
                notes.append(f"{text}; it is beside the store of the machine that wrote it")
            elif not any(each.row == key[0] for each in findings):
                findings.append(AuditFinding("unproven", key[0], text))
    dropped = sum(
        each.last - each.first + 1
        for listed in segments.values()
        for each in listed
        if each.dropped_at is not None
    )
    shown = tuple(findings[:_MOST])
    return Verification(
        number,
        sum(chain.last is not None for chain in chains.values()),
        dropped,
        shown,
        len(findings) - len(shown),
        tuple(dict.fromkeys(notes)),
    )


def _head_of(heads: dict[str, Head], key: tuple[str, Stream]) -> Link | None:
    return heads[key[0]].heads.get(key[1]) if key[0] in heads else None


def _read_rows(context: StoreContext) -> Iterator[Any]:
    order = (audit.c.writer, audit.c.stream, audit.c.sequence)
    with context.reading() as connection:
        yield from connection.execution_options(yield_per=_AT_ONCE).execute(select(audit).order_by(*order))


def _read_heads(folder: Folder, findings: list[AuditFinding]) -> dict[str, Head]:
    heads: dict[str, Head] = {}
    for writer, head, is_damaged in folder.heads():
        if folder.key() is None:
            continue
        if head is not None and head.writer == writer:
            heads[writer] = head
            is_whole = not is_damaged
        else:
            is_whole = False
        if not is_whole:
            text = f"the checkpoint of writer {writer} was changed, or signed with another key"
            findings.append(AuditFinding("unproven", writer, text))
    return heads


def _read_segments(folder: Folder, findings: list[AuditFinding]) -> dict[tuple[str, Stream], list[Segment]]:
    segments: dict[tuple[str, Stream], list[Segment]] = {}
    for number, segment in folder.segments():
        if segment is not None:
            segments.setdefault((segment.writer, segment.stream), []).append(segment)
        elif folder.key() is not None:
            text = f"line {number} of the sealed segments was changed, or signed with another key"
            findings.append(AuditFinding("unproven", f"segments:{number}", text))
    return segments


def _copies_agree(row: Any) -> bool:
    try:
        entry = decode_entry(row.body)
    except (msgspec.MsgspecError, ValueError):
        return False
    return all(getattr(entry, name) == row._mapping[name] for name in _COPIES)
