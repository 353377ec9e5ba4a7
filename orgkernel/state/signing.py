"""The key that signs checkpoints of the audit, and files of signed lines.

The signature is an HMAC-SHA256: in the standard library, and 3 µs per commit (ADR 0008). The first line of the key
file is the signing key. Further lines are former keys, each with the time until which it is valid.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import stat
from collections.abc import Callable, Iterator
from math import inf
from typing import Any, TypeVar

import msgspec

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadStore
from orgkernel.prepared_types import prepared
from orgkernel.private_files import make_once, write_new
from orgkernel.runtime.regular_files import NotRegular, open_regular, read_regular

T = TypeVar("T")
Tokens = Callable[[int], bytes]
"""So many random bytes."""
_BYTES = 32
_MAX_BYTES = 4096
_MAX_FORMER_KEYS = 8
"""Number of former keys that are kept."""
_APPEND = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0)
_canonical = msgspec.json.Encoder(order="deterministic").encode


class SigningKey:
    """The key in a folder of checkpoints. It is read again when its file changes."""

    def __init__(self, folder: str, tokens: Tokens, clock: Callable[[], float]) -> None:
        self.path = os.path.join(folder, "key")
        self._tokens = tokens
        self._clock = clock
        self._seen: tuple[int, int, int] | None = None
        self._lines: tuple[tuple[bytes, float], ...] = ()
        self._before: tuple[bytes, ...] = ()

    def read(self) -> tuple[bytes, ...]:
        """The valid keys, the signing key first. Empty if the file is missing or damaged."""
        try:
            state = os.stat(self.path)
        except FileNotFoundError:
            return ()
        seen = (state.st_mtime_ns, state.st_ino, state.st_size)
        if seen != self._seen:
            self._lines = _parse(read_regular(self.path, _MAX_BYTES))
            self._seen = seen
        now = self._clock()
        return tuple(key for key, until in self._lines if now < until)

    def read_trusted(self) -> tuple[bytes, ...]:
        """The keys whose signatures are trusted: the valid ones, and while a new key is made also those of before."""
        return (*self.read(), *self._before)

    @property
    def edition(self) -> object:
        """A value that changes when the file changes."""
        return self._seen

    def create(self) -> None:
        """Make the key unless there is one."""
        if not os.path.lexists(self.path):
            make_once(self.path, self._beside(), f"{self._draw()}\n".encode())

    @contextlib.contextmanager
    def rotate_until(self, until: float) -> Iterator[None]:
        """Sign with a new key. The former keys remain valid until a time, and while the block runs."""
        self._before = self.read()
        try:
            self._rotate(until)
            yield
        finally:
            self._before = ()

    def _rotate(self, until: float) -> None:
        now = self._clock()
        before = [(key, min(end, until)) for key, end in self._lines][:_MAX_FORMER_KEYS]
        lines = [f"{key.hex()} {end:.0f}" for key, end in before if end > now]
        new = self._beside()
        write_new(new, "".join(f"{line}\n" for line in (self._draw(), *lines)).encode())
        os.rename(new, self.path)

    def get(self) -> bytes:
        """The key to sign with. Raises `BadStore` if there is none."""
        # A process that has signed continues if the key is removed: its rows can be proven once the key is restored.
        key = next(iter(self.read()), self._lines[0][0] if self._lines else None)
        if key is None:
            raise BadStore(
                f"there is no usable key in {quote(self.path)}",
                "restore it from a backup, or move the file away: the next change creates a new key",
            )
        return key

    def sign(self, value: dict[str, Any]) -> bytes:
        """Sign a value as one line of JSON. Raises `BadStore` if there is no key."""
        key = self.get()
        return _canonical({**value, "mac": _compute_mac(key, value)})

    def verify_line(self, line: bytes, kind: type[T]) -> T | None:
        """The value of a signed line. None if its signature is not valid."""
        try:
            value = msgspec.json.decode(line)
            mac = value.pop("mac")
            if any(hmac.compare_digest(mac, _compute_mac(key, value)) for key in self.read_trusted()):
                return msgspec.convert(value, prepared(kind))
        except (msgspec.MsgspecError, UnicodeDecodeError, AttributeError, KeyError, TypeError, ValueError):
            pass
        return None

    def _draw(self) -> str:
        return self._tokens(_BYTES).hex()

    def _beside(self) -> str:
        return f"{self.path}.{self._tokens(6).hex()}"


class SignedLines:
    """A file to which signed lines are added, and in which none is changed."""

    def __init__(self, path: str, key: SigningKey) -> None:
        self.path = path
        self._key = key

    def read(self, kind: type[T]) -> Iterator[tuple[int, T | None]]:
        """Line number and value. None for a line that cannot be trusted."""
        with contextlib.suppress(FileNotFoundError), open_regular(self.path) as file:
            for number, line in enumerate(file, 1):
                yield number, self._key.verify_line(line, kind)

    def add(self, *values: msgspec.Struct) -> None:
        """Add lines. They are on the disk when this returns."""
        file = os.open(self.path, _APPEND, 0o600)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise NotRegular(self.path)
            size = os.fstat(file).st_size
            # An incomplete line stays a separate line.
            is_cut = size and os.pread(file, 1, size - 1) != b"\n"
            lines = b"".join(self._key.sign(msgspec.to_builtins(value)) + b"\n" for value in values)
            os.write(file, b"\n" + lines if is_cut else lines)
            os.fsync(file)
        finally:
            os.close(file)

    def sign_again(self, kind: type[Any]) -> None:
        """Sign each line with the key of now. Lines that cannot be trusted stay as they are."""
        with contextlib.suppress(FileNotFoundError):
            content = read_regular(self.path, -1)
            lines = []
            for line in content.splitlines(keepends=True):
                value = self._key.verify_line(line, kind)
                lines.append(line if value is None else self._key.sign(msgspec.to_builtins(value)) + b"\n")
            new = f"{self.path}.new"
            with contextlib.suppress(FileNotFoundError):
                os.unlink(new)
            write_new(new, b"".join(lines))
            os.rename(new, self.path)


def _parse(content: bytes) -> tuple[tuple[bytes, float], ...]:
    keys = []
    try:
        for line in content.decode("ascii").splitlines():
            key, _, until = line.strip().partition(" ")
            keys.append((bytes.fromhex(key), float(until) if until else inf))
    except ValueError:
        return ()
    return tuple(keys) if all(len(key) == _BYTES for key, _ in keys) else ()


def _compute_mac(key: bytes, value: dict[str, Any]) -> str:
    return hmac.digest(key, _canonical(value), "sha256").hex()
