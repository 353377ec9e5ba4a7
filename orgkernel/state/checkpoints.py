"""Proof of the audit outside of the table: signed checkpoints of the end of each chain.

A folder contains the key (readable by its owner only), one head per writer, the roster of writers, the sealed segments,
and the accepted findings. A head contains the last row of each chain of a writer. It is overwritten after every
commit, before the callers are answered, so a chain whose end was removed is detected. It is not synchronized to
the disk, so after a power failure it can be older than the table. Each head also states the length of the roster,
so a roster whose end was removed is detected too.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping

import msgspec

from orgkernel.decisions.evidence.state_records import AcceptedFinding, Stream
from orgkernel.errors import BadStore
from orgkernel.private_files import one_at_a_time
from orgkernel.runtime.regular_files import read_regular
from orgkernel.state.signing import SignedLines, SigningKey, Tokens

try:
    import fcntl
except ImportError:  # Windows has no such locks, so every process writes chains of its own
    fcntl = None  # type: ignore[assignment]

SLOT = 512
"""Size of a head in bytes; its file has two."""
_HEAD = re.compile(r"writer-([0-9a-f]{12})\.head")


class Link(msgspec.Struct, frozen=True, array_like=True):
    """The last row of a chain."""

    sequence: int
    digest: str


class Head(msgspec.Struct, frozen=True):
    """The last row of each chain of one writer at a checkpoint."""

    writer: str
    heads: Mapping[Stream, Link]
    roster: int = 0
    """Bytes of the roster at that time."""


class Enrollment(msgspec.Struct, frozen=True):
    """A line of the roster of writers."""

    writer: str
    number: int
    """Line number."""
    lost: int = 0
    """Bytes that the roster once had, if it was found shorter. Then no writer is named."""


class Segment(msgspec.Struct, frozen=True):
    """A sealed part of a chain. After its rows are dropped, only this record remains."""

    writer: str
    stream: Stream
    first: int
    last: int
    previous: str
    """The digest before its first row."""
    digest: str
    """The digest of its last row."""
    dropped_at: float | None = None


class Checkpoints:
    """The checkpoints of one store."""

    def __init__(self, path: str, tokens: Tokens, clock: Callable[[], float]) -> None:
        self.path = path
        self._tokens = tokens
        self.signing = SigningKey(path, tokens, clock)
        self.roster = SignedLines(os.path.join(path, "writers.jsonl"), self.signing)
        self.segments = SignedLines(os.path.join(path, "segments.jsonl"), self.signing)
        self.accepted = SignedLines(os.path.join(path, "accepted.jsonl"), self.signing)

    def key(self) -> bytes | None:
        """The signing key. None if there is none."""
        return next(iter(self.signing.read()), None)

    def exists(self) -> bool:
        """Whether there is such a folder."""
        return os.path.isdir(self.path)

    def has_heads(self) -> bool:
        """Whether there is any checkpoint, trusted or not."""
        return bool(self._list_names())

    def is_held(self, writer: str) -> bool:
        """Whether a running process could be writing the head of a writer."""
        try:
            file = os.open(self._get_head_path(writer), os.O_RDWR)
        except OSError:
            return False
        try:
            if fcntl:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return fcntl is None
        except OSError:
            return True
        finally:
            os.close(file)

    def heads(self) -> Iterator[tuple[str, Head | None, bool]]:
        """Each writer, its head, and whether a slot is damaged; None for an untrusted head."""
        for name in self._list_names():
            for _ in range(3):  # another process could be in the middle of writing it
                head, damaged = self._read_head(os.path.join(self.path, name))
                if not damaged:
                    break
            match = _HEAD.fullmatch(name)
            assert match is not None
            trusted = head is not None and head.writer == match[1]
            yield match[1], head if trusted else None, damaged or not trusted

    def read_trusted_heads(self) -> dict[str, Head]:
        """The head of each writer that has one to trust."""
        return {writer: head for writer, head, _ in self.heads() if head is not None}

    def lease(self, is_continued: Callable[[Head], bool], is_audit_missing: Callable[[], bool]) -> HeadFile:
        """Lease a writer that no other process uses: an earlier one that can be continued, else a new one.

        `is_continued` tells whether the table still has all rows up to a head, so that its chains can be continued.
        `is_audit_missing` tells whether the store has records but no rows of the audit.
        """
        self._require_key()
        leased = self._lease_old(is_continued) or self._lease_new()
        try:
            self._enroll(leased.writer, is_audit_missing)
        except BaseException:
            leased.close()
            raise
        return leased

    def _lease_old(self, is_continued: Callable[[Head], bool]) -> HeadFile | None:
        for name in self._list_names() if fcntl else ():
            with contextlib.suppress(OSError):
                file = os.open(os.path.join(self.path, name), os.O_RDWR)
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    head, _ = self._read_head(os.path.join(self.path, name))
                    if head is not None and is_continued(head):
                        return HeadFile(head.writer, file, self, head.heads)
                except OSError:
                    os.close(file)
                    continue
                os.close(file)
        return None

    def _lease_new(self) -> HeadFile:
        writer = self._tokens(6).hex()
        path = self._get_head_path(writer)
        # Locked and complete before it gets its name, so a process that is killed here leaves nothing that looks like a
        # head.
        file = os.open(f"{path}.new", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        if fcntl:
            fcntl.flock(file, fcntl.LOCK_EX)
        fresh = HeadFile(writer, file, self, {})
        fresh.write({})
        os.rename(f"{path}.new", path)
        return fresh

    def add_segment(self, segment: Segment) -> None:
        """Record a sealed or dropped segment. The record is on the disk when this returns."""
        self._require_key()
        with one_at_a_time(self.path):
            self.segments.add(segment)

    def accept(self, findings: tuple[AcceptedFinding, ...]) -> None:
        """Record accepted findings. They are on the disk when this returns."""
        with one_at_a_time(self.path):
            self.accepted.add(*findings)

    def rotate_key(self, until: float, find_ends: Callable[[Head], Mapping[Stream, Link] | None]) -> None:
        """Sign with a new key, including what is already signed. The old key remains valid until a time.

        `find_ends` finds the last proven rows of a writer that no process uses; None if its chains were changed. Then its
        head is signed as it is, because it is evidence. A running process signs its head itself, with its next commit.
        """
        with one_at_a_time(self.path), self.signing.rotate_until(until):
            self.roster.sign_again(Enrollment)
            self.segments.sign_again(Segment)
            self.accepted.sign_again(AcceptedFinding)
            for name in self._list_names() if fcntl else ():
                with contextlib.suppress(BlockingIOError):
                    file = os.open(os.path.join(self.path, name), os.O_RDWR)
                    try:
                        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        head, _ = self._read_head(os.path.join(self.path, name))
                        if head is not None:
                            ends = find_ends(head) or head.heads
                            HeadFile(head.writer, file, self, head.heads).write(ends)
                    finally:
                        os.close(file)

    def measure_roster(self) -> int:
        """Size of the roster of writers in bytes; 0 if there is none."""
        try:
            return os.stat(self.roster.path).st_size
        except FileNotFoundError:
            return 0

    def write_head(self, head: Head) -> None:
        """Write the head of a writer that no process uses."""
        path = self._get_head_path(head.writer)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(file, self.encode_slot(head))
        finally:
            os.close(file)

    def encode_slot(self, head: Head) -> bytes:
        """Encode a head for a slot."""
        return self.signing.sign(msgspec.to_builtins(head)).ljust(SLOT - 1) + b"\n"

    def _enroll(self, writer: str, is_audit_missing: Callable[[], bool]) -> None:
        """Add a writer to the roster, and earlier writers that it does not list.

        A roster that is shorter than a head says has lost its end. A line without a writer records that once, because
        the new lines would hide it.
        """
        with one_at_a_time(self.path):
            lines = [line for _, line in self.roster.read(Enrollment)]
            known = {line.writer for line in lines if line is not None}
            heads = self.read_trusted_heads()
            expected_size = max((head.roster for head in heads.values()), default=0)
            if not lines and heads.keys() <= {writer} and is_audit_missing():
                # Someone removed the roster and all other heads with the audit: it existed, but its size is unknown.
                expected_size = 1
            recorded_loss = max((line.lost for line in lines if line is not None), default=0)
            is_cut = self.measure_roster() < expected_size and recorded_loss < expected_size
            enrollments = [Enrollment("", 0, expected_size)] if is_cut else []
            enrollments += [Enrollment(each, 0) for each in sorted({*heads, writer} - known)]
            numbered = enumerate(enrollments, len(lines) + 1)
            if enrollments:
                self.roster.add(*(msgspec.structs.replace(line, number=at) for at, line in numbered))

    def _require_key(self) -> None:
        """Create the folder and its key if they do not exist."""
        os.makedirs(self.path, mode=0o700, exist_ok=True)
        with one_at_a_time(self.path):  # else a second process could replace a key that was used already
            self.signing.create()

    def _get_head_path(self, writer: str) -> str:
        return os.path.join(self.path, f"writer-{writer}.head")

    def _read_head(self, path: str) -> tuple[Head | None, bool]:
        try:
            content = read_regular(path, 2 * SLOT)
        except OSError:
            return None, True
        slots = [content[:SLOT].strip(b"\0 \n"), content[SLOT:].strip(b"\0 \n")]
        heads = [self.signing.verify_line(slot, Head) for slot in slots if slot]
        good = [head for head in heads if head is not None]
        newest = max(good, key=lambda head: sum(link.sequence for link in head.heads.values()), default=None)
        return newest, not heads or None in heads

    def _list_names(self) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self.path) if _HEAD.fullmatch(name))
        except OSError:
            return []


class HeadFile:
    """The head of a writer, locked by one process until it ends; the system releases the lock of a killed process."""

    def __init__(self, writer: str, file: int, folder: Checkpoints, heads: Mapping[Stream, Link]) -> None:
        self.writer = writer
        self.heads = heads
        """The link that was written last."""
        self._file = file
        self._folder = folder
        self._next_slot = 0
        self._roster = 0
        self._edition: object = None

    def write(self, heads: Mapping[Stream, Link]) -> None:
        """Write the slots alternately, so one is always intact. After a change of the key, write both.

        Raises `BadStore` if the file was removed.
        """
        if not os.fstat(self._file).st_nlink:
            raise BadStore(
                f"the checkpoint of writer {self.writer} was removed", "see `orgkernel audit verify`"
            )
        self._roster = max(self._roster, self._folder.measure_roster())
        slot = self._folder.encode_slot(Head(self.writer, heads, self._roster))
        edition = self._folder.signing.edition
        # The slot with the previous head stays until the new one is written, so after a crash one slot is
        # intact.
        for _ in range(1 if edition == self._edition else 2):
            os.pwrite(self._file, slot, self._next_slot * SLOT)
            self._next_slot = 1 - self._next_slot
        self._edition = edition
        self.heads = dict(heads)

    def close(self) -> None:
        """Let another process continue."""
        os.close(self._file)
