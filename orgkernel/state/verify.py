"""`audit verify`: check that no row of the audit is missing, moved or changed, and no contract or hand-off that it recorded.

Each chain is followed from its first row, or from the deleted segment before it, to its last row, and compared with
the signed checkpoints outside of the table. The audit is whole only if every row is proven: by a checkpoint, or by a seal
if it is after the last checkpoint, as a process leaves it that is killed. Such rows are open. A row without proof is a finding
too. Nothing is waited for. It cannot detect a change by an attacker who can write the store and read the key
(docs/how-to/store.md).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain as chain_of
from typing import Any

import msgspec
from sqlalchemy import Connection, select

from orgkernel.decisions.evidence.state_records import (
    AcceptedFinding,
    AuditFinding,
    AuditProblem,
    AuditVerdict,
    CheckpointFolder,
    OpenRows,
    Stream,
    audit_id,
)
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import StoreError
from orgkernel.prepared_types import prepared
from orgkernel.state.chain import GENESIS, decode_entry, is_audit_missing, link
from orgkernel.state.checkpoints import Checkpoints, Enrollment, Head, Link, Segment
from orgkernel.state.database import get_sqlite_connection
from orgkernel.state.rows import StoreContext
from orgkernel.state.seals import ChainRow, read_seal
from orgkernel.state.tables import audit
from orgkernel.state.verify_logs import AuditedLogs

_MAX_FINDINGS = 100
"""Findings that are listed; the rest is counted."""
_COPIES = ("at", "kind", "activity", "subject", "channel", "relationship", "record_id")
_TEXTS = ("writer", "stream", "previous", "digest", "body")
_AT_ONCE = 5_000


class Verification(msgspec.Struct, frozen=True):
    """The result of a verification."""

    verdict: AuditVerdict
    """`changed` if rows were changed, moved or removed; `unproven` if a checkpoint is missing that would prove that none
    was; else `whole`."""
    rows: int
    chains: int
    dropped: int
    """Rows that retention deleted. The checkpoints of their segments are kept."""
    findings: tuple[AuditFinding, ...]
    more_findings: int = 0
    """Beyond those listed."""
    accepted: tuple[AcceptedFinding, ...] = ()
    """Accepted findings. They do not affect the outcome."""
    open: tuple[OpenRows, ...] = ()
    """Rows that no checkpoint covers yet. Their seals prove them, and they do not affect the outcome."""
    folders: tuple[CheckpointFolder, ...] = ()
    """The folders of checkpoints that the rows were compared with."""


class _Chain:
    """One chain, followed row by row."""

    def __init__(
        self, writer: str, stream: Stream, segments: Sequence[Segment], keys: Sequence[bytes]
    ) -> None:
        self.writer, self.stream, self.segments = writer, stream, segments
        self._keys = keys
        self.dropped = max((each.last for each in segments if each.dropped_at is not None), default=0)
        self.last: Link | None = None
        self.signed: dict[int, set[str]] = {}
        """The rows that checkpoints name as the last ones, with the digests they should have."""
        self.at_signed: dict[int, str] = {}
        """The digests that they have."""
        self.broken: list[Any] = []
        """Rows that do not have the digest they should have."""
        self.reached = self.dropped
        """The last row that a checkpoint or a dropped segment names."""
        self._sealed: list[tuple[int, int]] = []
        self._unsealed: list[tuple[int, int]] = []
        """Rows after the last checkpoint: those with a valid seal, and the others. The first and the last of each range."""
        self._covered = Link(0, "")
        """The last row that, by a seal, had a checkpoint."""
        self.open: list[OpenRows] = []
        self.findings: list[AuditFinding] = []

    def name(self, sequence: int) -> str:
        return audit_id(self.writer, self.stream, sequence)

    def rows(self, first: int, last: int) -> str:
        return (
            f"rows {self.name(first)} to {self.name(last)} are"
            if last > first
            else f"row {self.name(first)} is"
        )

    def find(self, problem: AuditProblem, sequence: int, message: str) -> None:
        self.findings.append(AuditFinding(problem, self.name(sequence), message))

    def start(self, first: int) -> Link:
        for segment in self.segments:
            if segment.first == first:
                return Link(first - 1, segment.previous)  # noted as dropped, and the rows are still there
        ends = {each.last: each.digest for each in self.segments if each.dropped_at is not None}
        return Link(self.dropped, ends[self.dropped]) if self.dropped else Link(0, GENESIS)

    def expect(self, signed: Link) -> None:
        """Compare the chain with a checkpoint."""
        if signed.sequence:
            self.signed.setdefault(signed.sequence, set()).add(signed.digest)
            self.reached = max(self.reached, signed.sequence)

    def catch_up(self, signed: Link) -> None:
        """Compare the chain with a later checkpoint. Rows after the last one read are from a later moment."""
        if self.last is not None and signed.sequence >= self.last.sequence:
            self.expect(signed if signed.sequence == self.last.sequence else self.last)
            self.at_signed[self.last.sequence] = self.last.digest
        elif signed.sequence == self._covered.sequence and self._covered.digest:
            self.expect(signed)
            self.at_signed[signed.sequence] = self._covered.digest

    def follow(self, row: Any) -> None:
        before = self.last or self.start(row.sequence)
        if row.sequence != before.sequence + 1:
            first = before.sequence + 1
            self.find("missing", first, f"{self.rows(first, row.sequence - 1)} missing")
        if link(row.previous, self.writer, self.stream, row.sequence, row.body) != row.digest:
            # Judged at the end: a row in another place than it was written at can be named only when all are read.
            self.broken.append(row)
        # The digest covers the body, and not the columns that repeat its fields for filters.
        elif not _do_copies_agree(row):
            self.find(
                "changed",
                row.sequence,
                f"row {self.name(row.sequence)} was changed: its columns contradict it",
            )
        elif (
            row.sequence == before.sequence + 1
            and row.previous != before.digest
            # A broken row is a finding already, and the mismatch with its successor has the same cause.
            and not self._is_broken(before.sequence)
        ):
            what = (
                f"row {self.name(before.sequence)} is not the one {self.name(row.sequence)} was written after"
            )
            self.find("changed", before.sequence or row.sequence, what)
        if row.sequence in self.signed:
            self.at_signed[row.sequence] = row.digest
        if row.sequence > self.reached:
            self._check_seal(row)
        self.last = Link(row.sequence, row.digest)

    def finish_broken(self) -> None:
        """Find the rows that do not have their digest."""
        for row in self.broken:
            place = self._find_place(row)
            if place is None:
                self.find("changed", row.sequence, f"row {self.name(row.sequence)} was changed")
            else:
                text = f"row {self.name(row.sequence)} was written as {self.name(place)}"
                self.find("reordered", row.sequence, text)

    def finish(self, restored: list[_Restored], has_head: bool) -> None:
        self.finish_broken()
        last = self.last.sequence if self.last else self.dropped
        reached = max(self.signed, default=0)
        if last < reached and self.dropped < reached:
            self._find_end(last, reached, restored)
        for sequence, digest in sorted(self.at_signed.items()):
            if self.signed[sequence] != {digest}:
                text = f"row {self.name(sequence)} is not the signed one: rows up to it were rewritten"
                self.find("changed", sequence, text)
        if self.is_ahead and has_head:
            self._judge_rest()

    def read_seal(self, row: Any) -> int | None:
        """The number of the row that the last checkpoint named when a row was sealed. None without a valid seal."""
        parts = ChainRow(row.sequence, row.previous, row.digest, row.body)
        return read_seal(self._keys, self.writer, self.stream, parts)

    def _check_seal(self, row: Any) -> None:
        """Check the seal of a row after the last checkpoint. A row that was changed is a finding already."""
        covered = self.read_seal(row)
        if covered is not None:
            _add_to_ranges(self._sealed, row.sequence)
            if covered > self._covered.sequence:
                self._covered = Link(covered, row.previous if covered == row.sequence - 1 else "")
        elif not self._is_broken(row.sequence):
            _add_to_ranges(self._unsealed, row.sequence)

    def _judge_rest(self) -> None:
        """Find which rows after the last checkpoint are open, and which are not proven."""
        first = self.reached + 1
        covered = self._covered.sequence
        if covered >= first:
            text = (
                f"{self.rows(first, covered)} after the last checkpoint, "
                f"but row {self.name(covered)} had a checkpoint, which is missing"
            )
            self.find("unproven", first, text)
        for start, last in _cut_ranges(self._unsealed, first):
            # With the digest, acceptance is of these rows only: others in their place are a new finding.
            end = f" (digest {self.last.digest[:16]})" if self.last and self.last.sequence == last else ""
            text = f"{self.rows(start, last)} after the last checkpoint, and not signed with the key{end}"
            self.find("unproven", start, text)
        for start, last in _cut_ranges(self._sealed, max(first, covered + 1)):
            self.open.append(OpenRows(self.name(start), self.name(last), last - start + 1))

    def _find_end(self, last: int, reached: int, restored: list[_Restored]) -> None:
        for each in restored:
            if each.lost.get(f"{self.writer}:{self.stream}") == (last + 1, reached):
                text = f"{self.rows(last + 1, reached)} missing since the store was restored from a backup at {each.at}"
                self.find("restored", last + 1, text)
                return
        text = f"the chain ends before row {self.name(last + 1)}, but had reached row {self.name(reached)}"
        self.find("cut_off", last + 1, text)

    @property
    def is_ahead(self) -> bool:
        """Whether there are rows after the last checkpoint."""
        return self.last is not None and self.last.sequence > self.reached

    def _is_broken(self, sequence: int) -> bool:
        return bool(self.broken) and self.broken[-1].sequence == sequence

    def _find_place(self, row: Any) -> int | None:
        """The place where a misplaced row was written; None if unknown."""
        for other in self.broken[:_MAX_FINDINGS]:
            if other is not row and self._is_digest(other.previous, other.sequence, row.body, other.digest):
                return int(other.sequence)  # only its claimed place differs
        near = (row.sequence - 1, row.sequence + 1)
        for sequence in (*(other.sequence for other in self.broken[:_MAX_FINDINGS]), *near):
            if sequence != row.sequence and self._is_digest(row.previous, sequence, row.body, row.digest):
                return int(sequence)
        return None

    def _is_digest(self, previous: str, sequence: int, body: str, digest: str) -> bool:
        return link(previous, self.writer, self.stream, sequence, body) == digest


def _add_to_ranges(ranges: list[tuple[int, int]], sequence: int) -> None:
    """Add the next row to ranges of rows."""
    if ranges and ranges[-1][1] == sequence - 1:
        ranges[-1] = ranges[-1][0], sequence
    else:
        ranges.append((sequence, sequence))


def _cut_ranges(ranges: Sequence[tuple[int, int]], first: int) -> Iterator[tuple[int, int]]:
    """The ranges without the rows before a row."""
    for start, last in ranges:
        if last >= first:
            yield max(start, first), last


class _Restored(msgspec.Struct, frozen=True):
    """A row of the audit that records a restoration."""

    at: str
    lost: dict[str, tuple[int, int]]


def verify_audit(context: StoreContext, *folders: Checkpoints) -> Verification:
    """Follow every chain, and compare it with the checkpoints of all folders."""
    try:
        return _verify_audit(context, folders)
    except StoreError as error:
        # One row with bytes that are not text must not keep the others from being verified. Reading all rows so is slow.
        if context.engine.dialect.name != "sqlite" or "Could not decode to UTF-8" not in error.message:
            raise
        return _verify_audit(context, folders, is_lenient=True)


def _verify_audit(
    context: StoreContext, folders: Sequence[Checkpoints], *, is_lenient: bool = False
) -> Verification:
    findings: list[AuditFinding] = []
    signing = [folder for folder in folders if folder.key() is not None]
    keys = tuple(dict.fromkeys(key for folder in signing for key in folder.signing.read()))
    # INVARIANT: whatever is committed while we read, nothing that is whole is found. A writer has a head before a line of
    # the roster, a head is written after its rows, and a segment before its rows are deleted.
    enrolled = _read_rosters(signing, findings)
    heads: dict[str, list[Head]] = {}
    for folder in signing:
        _read_heads(folder, heads, findings)
    logs = AuditedLogs()
    strange: list[AuditFinding] = []
    rows = _read_rows(context, then=logs.compare, strange=strange, is_lenient=is_lenient)
    first = next(rows, None)  # the rows that follow are read at the same moment
    segments: dict[tuple[str, Stream], list[Segment]] = {}
    for folder in signing:
        _read_segments(folder, segments, findings)
    chains = {key: _Chain(*key, listed, keys) for key, listed in segments.items()}
    for writer, listed in heads.items():
        for stream, signed in (ends for head in listed for ends in head.heads.items()):
            chains.setdefault((writer, stream), _Chain(writer, stream, [], keys)).expect(signed)
    number = 0
    restored: list[_Restored] = []
    for row in () if first is None else chain_of([first], rows):
        number += 1
        key = row.writer, row.stream
        if key not in chains:
            chains[key] = _Chain(*key, [], keys)
        chains[key].follow(row)
        logs.note(row)
        if row.kind == "audit" and row.activity == "restored":
            restored += _read_restored(row)
    findings += strange
    findings += logs.findings
    for folder in folders:
        if folder not in signing and (folder.exists() or not signing) and (number or folder.has_heads()):
            text = f"there is no key in {folder.path}, so no checkpoint there proves anything"
            findings.append(AuditFinding("unproven", "key", text))
    _read_later_heads(signing, chains, heads)
    for key, chain in sorted(chains.items()):
        chain.finish(restored, key[0] in heads)
        findings += chain.findings
    if signing:
        findings += _find_lost_writers(chains, heads, enrolled, findings)
    if not chains and not enrolled and _is_bare(context):
        findings.append(
            AuditFinding("missing", "audit", "there are records, but no row and no checkpoint of the audit")
        )
    return _judge(folders, findings, number, chains, segments)


def select_proven(
    context: StoreContext, folder: Checkpoints, segments: Sequence[Segment]
) -> tuple[Segment, ...]:
    """The segments whose rows are in place and unchanged, or accepted as they are."""
    if not segments:
        return ()
    keys, heads = folder.signing.read(), folder.read_trusted_heads()
    noted = [each for _, each in folder.segments.read(Segment) if each is not None]
    accepted = _read_acceptances([folder])

    def is_proven(segment: Segment) -> bool:
        chain = _Chain(
            segment.writer,
            segment.stream,
            [each for each in noted if (each.writer, each.stream) == (segment.writer, segment.stream)],
            keys,
        )
        head = heads.get(segment.writer)
        end = head.heads.get(segment.stream) if head is not None else None
        if not _is_followed(context, chain, segment, end):
            return False
        chain.finish_broken()
        return all(_name(each) in accepted for each in chain.findings)

    return tuple(filter(is_proven, segments))


def _is_followed(context: StoreContext, chain: _Chain, segment: Segment, end: Link | None) -> bool:
    """Whether the rows of a segment end, or are followed, by a row that proves them: a sealed one, or the one of a checkpoint."""
    where = (
        audit.c.writer == chain.writer, audit.c.stream == chain.stream, audit.c.sequence >= segment.first,
    )  # fmt: skip
    with closing(_read_rows(context, *where)) as rows:
        for row in rows:
            chain.follow(row)
            if row.sequence >= segment.last and (
                Link(row.sequence, row.digest) == end or chain.read_seal(row) is not None
            ):
                return True
    return False


def _judge(
    folders: Sequence[Checkpoints],
    findings: list[AuditFinding],
    number: int,
    chains: dict[tuple[str, Stream], _Chain],
    segments: dict[tuple[str, Stream], list[Segment]],
) -> Verification:
    acceptances = _read_acceptances(folders)
    findings = list(dict.fromkeys(findings))
    accepted = [acceptances[_name(each)] for each in findings if _name(each) in acceptances]
    left = [each for each in findings if _name(each) not in acceptances]
    verdict: AuditVerdict = "whole"
    if left:
        # One certain change outweighs any number of rows that only lack a proof.
        verdict = "unproven" if all(each.problem == "unproven" for each in left) else "changed"
    dropped = {
        (each.writer, each.stream, each.first, each.last)
        for listed in segments.values()
        for each in listed
        if each.dropped_at is not None
    }
    return Verification(
        verdict,
        number,
        sum(chain.last is not None for chain in chains.values()),
        sum(last - first + 1 for _, _, first, last in dropped),
        tuple(left[:_MAX_FINDINGS]),
        max(0, len(left) - _MAX_FINDINGS),
        tuple(accepted[:_MAX_FINDINGS]),
        tuple(rows for _, chain in sorted(chains.items()) for rows in chain.open),
        tuple(
            CheckpointFolder(
                folder.path, folder.key() is not None, tuple(sorted(folder.read_trusted_heads()))
            )
            for folder in folders
        ),
    )


def _name(finding: AuditFinding | AcceptedFinding) -> tuple[str, str, str]:
    """What distinguishes a finding from others."""
    return finding.problem, finding.row, finding.message


def _read_acceptances(folders: Sequence[Checkpoints]) -> dict[tuple[str, str, str], AcceptedFinding]:
    return {
        _name(line): line
        for folder in folders
        for _, line in folder.accepted.read(AcceptedFinding)
        if line is not None
    }


def _read_rows(
    context: StoreContext,
    *where: Any,
    then: Callable[[Connection], None] | None = None,
    strange: list[AuditFinding] | None = None,
    is_lenient: bool = False,
) -> Generator[Any, None, None]:
    """The rows of the audit. `then` reads other tables afterwards, at the same moment.

    SQLite keeps a value of any type in any column. A row with one of another type is left out, and added to `strange`.
    """
    query = select(audit).where(*where).order_by(audit.c.writer, audit.c.stream, audit.c.sequence)
    with context.reading() as connection, _reading_text(connection, is_lenient=is_lenient):
        with connection.execution_options(yield_per=_AT_ONCE).execute(query) as rows:
            for row in rows:
                if type(row.sequence) is int and all(type(getattr(row, name)) is str for name in _TEXTS):
                    yield row
                elif strange is not None:
                    place = quote(f"{row.writer}:{row.stream}:{row.sequence}")
                    text = f"row {place} was changed: a column has a value of another type"
                    strange.append(AuditFinding("changed", place, text))
        if then is not None:
            then(connection)


@contextmanager
def _reading_text(connection: Connection, *, is_lenient: bool) -> Iterator[None]:
    """Replace bytes that are not UTF-8 in what is read within the block, if asked for."""
    if not is_lenient:
        yield
        return
    raw = get_sqlite_connection(connection)
    raw.text_factory = partial(str, encoding="utf-8", errors="replace")
    try:
        yield
    finally:
        raw.text_factory = str


def _is_bare(context: StoreContext) -> bool:
    with context.reading() as connection:
        return is_audit_missing(connection)


def _read_restored(row: Any) -> Iterator[_Restored]:
    try:
        entry = decode_entry(row.body)
        yield msgspec.convert(entry.detail or {}, prepared(_Restored))
    except (msgspec.MsgspecError, ValueError):
        return  # a changed row, which is a finding


def _read_heads(folder: Checkpoints, heads: dict[str, list[Head]], findings: list[AuditFinding]) -> None:
    for writer, head, is_damaged in folder.heads():
        if head is not None:
            heads.setdefault(writer, []).append(head)
        if is_damaged:
            text = f"the checkpoint of writer {writer} was changed, or signed with another key"
            findings.append(AuditFinding("unproven", writer, text))


def _read_segments(
    folder: Checkpoints, segments: dict[tuple[str, Stream], list[Segment]], findings: list[AuditFinding]
) -> None:
    for number, segment in folder.segments.read(Segment):
        if segment is not None:
            segments.setdefault((segment.writer, segment.stream), []).append(segment)
        else:
            text = f"line {number} of the sealed segments was changed, or signed with another key"
            findings.append(AuditFinding("unproven", f"segments:{number}", text))


def _read_rosters(folders: Sequence[Checkpoints], findings: list[AuditFinding]) -> set[str]:
    """The writers named by the rosters of all folders."""
    writers: set[str] = set()
    for folder in folders:
        heads = folder.read_trusted_heads().values()  # before the roster, which may grow meanwhile
        lost, size = 0, folder.measure_roster()
        for number, line in folder.roster.read(Enrollment):
            at = f"roster:{number}"
            if line is None:
                text = f"line {number} of the roster of writers was changed, or signed with another key"
                findings.append(AuditFinding("unproven", at, text))
            elif line.number != number:
                text = f"line {number} of the roster of writers was written as line {line.number}"
                findings.append(AuditFinding("unproven", at, text))
            elif line.lost:
                lost = max(lost, line.lost)
                text = f"lines of the roster of writers were missing before line {number} was written"
                findings.append(AuditFinding("unproven", at, text))
            else:
                writers.add(line.writer)
        for head in heads:
            if size < head.roster and lost < head.roster:
                text = f"lines of the roster of writers are missing, which the checkpoint of writer {head.writer} knows"
                findings.append(AuditFinding("unproven", "roster", text))
                break
    return writers


def _find_lost_writers(
    chains: dict[tuple[str, Stream], _Chain],
    heads: dict[str, list[Head]],
    enrolled: set[str],
    findings: list[AuditFinding],
) -> Iterator[AuditFinding]:
    """Writers without a checkpoint, with and without rows."""
    has_rows = {writer for (writer, _), chain in chains.items() if chain.last is not None}
    known = {each.row for each in findings}
    for writer in sorted((has_rows | enrolled) - heads.keys() - known):
        if writer in has_rows:
            text = f"there is no checkpoint of writer {writer}, so nothing proves where its rows end"
            yield AuditFinding("unproven", writer, text)
        else:
            text = f"all rows of writer {writer} are missing, and so is its checkpoint"
            yield AuditFinding("missing", writer, text)


def _read_later_heads(
    folders: Sequence[Checkpoints],
    chains: dict[tuple[str, Stream], _Chain],
    heads: dict[str, list[Head]],
) -> None:
    """Read the checkpoints again of chains that went on while the rows were read."""
    ahead = {key: chain for key, chain in chains.items() if chain.is_ahead}
    for head in (each for folder in folders if ahead for each in folder.read_trusted_heads().values()):
        heads.setdefault(head.writer, [head])
        for stream, signed in head.heads.items():
            chain = ahead.get((head.writer, stream))
            if chain is not None:
                chain.catch_up(signed)


def _do_copies_agree(row: Any) -> bool:
    try:
        entry = decode_entry(row.body)
    except (msgspec.MsgspecError, ValueError):
        return False
    return all(getattr(entry, name) == row._mapping[name] for name in _COPIES)
