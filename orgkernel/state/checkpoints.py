"""What proves the audit, kept outside of the table: how far each chain had come, signed.

A folder beside the store holds the key (readable by its owner only), one head per writer and the sealed segments. A
head is overwritten after every commit and before the callers are answered, so that cutting off the end of a chain shows;
it is not synchronized to the disk, so that after a power failure it may lag behind the table, which is no finding. The
signature is an HMAC-SHA256: in the standard library, and 3 µs per commit (ADR 0008).
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from orgkernel.decisions.state_records import Stream
from orgkernel.runtime.regular_files import open_regular, read_regular

try:
    import fcntl
except ImportError:  # no such locks there: every process writes chains of its own
    fcntl = None  # type: ignore[assignment]

Tokens = Callable[[int], bytes]
"""So many random bytes."""
_SLOT = 512
_MOST_KEY = 1024
_HEAD = re.compile(r"writer-([0-9a-f]{12})\.head")
_KEY_BYTES = 32
_canonical = msgspec.json.Encoder(order="deterministic").encode


class Link(msgspec.Struct, frozen=True, array_like=True):
    """The last row of a chain."""

    sequence: int
    digest: str


class Head(msgspec.Struct, frozen=True):
    """How far the chains of one writer had come."""

    writer: str
    heads: Mapping[Stream, Link]


class Segment(msgspec.Struct, frozen=True):
    """A stretch of a chain that will not change any more; when it was dropped, all that is left of it."""

    writer: str
    stream: Stream
    first: int
    last: int
    previous: str
    """The digest before its first row."""
    digest: str
    """The digest of its last row."""
    dropped_at: float | None = None


class Folder:
    """The checkpoints of one store."""

    def __init__(self, path: str, tokens: Tokens) -> None:
        self.path = path
        self._tokens = tokens
        self._key: bytes | None = None

    def key(self, create: bool = False) -> bytes | None:
        """The key; None where there is none and none is made."""
        if self._key is None:
            path = os.path.join(self.path, "key")
            if create and not os.path.exists(path):
                self._create_key(path)
            with contextlib.suppress(FileNotFoundError):
                self._key = bytes.fromhex(read_regular(path, _MOST_KEY).decode("ascii").strip())
        return self._key

    def heads(self) -> Iterator[tuple[str, Head | None, bool]]:
        """Writer, what its head says, and whether a slot of it is damaged; None for a head nobody can trust."""
        for name in self._names():
            for _ in range(3):  # somebody may be writing it
                head, damaged = self._read_head(os.path.join(self.path, name))
                if not damaged:
                    break
            found = _HEAD.fullmatch(name)
            assert found is not None
            yield found[1], head, damaged

    def lease(self, is_continued: Callable[[Head], bool]) -> HeadFile:
        """A writer nobody else is at the moment: one of before that can be continued, else a new one."""
        os.makedirs(self.path, mode=0o700, exist_ok=True)
        self.key(create=True)
        for name in self._names() if fcntl else ():
            with contextlib.suppress(OSError):
                file = os.open(os.path.join(self.path, name), os.O_RDWR)
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    head, _ = self._read_head(os.path.join(self.path, name))
                    if head is not None and is_continued(head):
                        return HeadFile(head.writer, file, self.sign)
                except OSError:
                    os.close(file)
                    continue
                os.close(file)
        writer = self._tokens(6).hex()
        path = os.path.join(self.path, f"writer-{writer}.head")
        # Held and whole before it has its name: a process that is killed here leaves nothing that looks like a head.
        file = os.open(f"{path}.new", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        if fcntl:
            fcntl.flock(file, fcntl.LOCK_EX)
        fresh = HeadFile(writer, file, self.sign)
        fresh.write({})
        os.rename(f"{path}.new", path)
        return fresh

    def segments(self) -> Iterator[tuple[int, Segment | None]]:
        """Line number and segment; None for a line that cannot be trusted."""
        with (
            contextlib.suppress(FileNotFoundError),
            open_regular(os.path.join(self.path, "segments.jsonl")) as file,
        ):
            for number, line in enumerate(file, 1):
                yield number, self._signed(line, Segment)

    def add_segment(self, segment: Segment) -> None:
        """Write down a sealed or dropped segment; on the disk when this returns."""
        os.makedirs(self.path, mode=0o700, exist_ok=True)
        self.key(create=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        file = os.open(os.path.join(self.path, "segments.jsonl"), flags, 0o600)
        try:
            os.write(file, self.sign(msgspec.to_builtins(segment)) + b"\n")
            os.fsync(file)
        finally:
            os.close(file)

    def sign(self, value: dict[str, Any]) -> bytes:
        """A value as one line of JSON with its signature."""
        key = self.key()
        assert key is not None
        return _canonical({**value, "mac": _mac(key, value)})

    def _signed(self, line: bytes, kind: type[Any]) -> Any:
        try:
            value = msgspec.json.decode(line)
            mac = value.pop("mac")
            key = self.key()
            if key is not None and hmac.compare_digest(mac, _mac(key, value)):
                return msgspec.convert(value, kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, AttributeError, KeyError, TypeError, ValueError):
            pass
        return None

    def _read_head(self, path: str) -> tuple[Head | None, bool]:
        try:
            content = read_regular(path, 2 * _SLOT)
        except OSError:
            return None, True
        slots = [content[:_SLOT].strip(b"\0 \n"), content[_SLOT:].strip(b"\0 \n")]
        heads: list[Head | None] = [self._signed(slot, Head) for slot in slots if slot]
        good = [head for head in heads if head is not None]
        newest = max(good, key=lambda head: sum(link.sequence for link in head.heads.values()), default=None)
        return newest, not heads or None in heads

    def _names(self) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self.path) if _HEAD.fullmatch(name))
        except OSError:
            return []

    def _create_key(self, path: str) -> None:
        """Complete before it has its name: another process may read it at any moment."""
        new = f"{path}.{self._tokens(6).hex()}"
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(file, self._tokens(_KEY_BYTES).hex().encode() + b"\n")
            os.fsync(file)
        finally:
            os.close(file)
        with contextlib.suppress(FileExistsError):
            os.link(new, path)
        os.unlink(new)


class HeadFile:
    """The head of a writer, held by one process until it ends: the lock is the system's, a killed process frees it."""

    def __init__(self, writer: str, file: int, sign: Callable[[dict[str, Any]], bytes]) -> None:
        self.writer = writer
        self._file = file
        self._sign = sign
        self._turn = 0

    def write(self, heads: Mapping[Stream, Link]) -> None:
        """Two slots in turns: whatever happens while one is written, the other is whole."""
        line = self._sign({"writer": self.writer, "heads": {name: [*link] for name, link in _plain(heads)}})
        os.pwrite(self._file, line.ljust(_SLOT - 1) + b"\n", self._turn * _SLOT)
        self._turn = 1 - self._turn

    def close(self) -> None:
        """Let another process continue."""
        os.close(self._file)


def _plain(heads: Mapping[Stream, Link]) -> Iterator[tuple[Stream, tuple[int, str]]]:
    return ((stream, (link.sequence, link.digest)) for stream, link in heads.items())


def _mac(key: bytes, value: dict[str, Any]) -> str:
    return hmac.new(key, _canonical(value), hashlib.sha256).hexdigest()
