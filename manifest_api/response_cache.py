"""Responses kept as bytes for as long as the registry does not change (docs/http.md).

The cache stands behind the guards: a request that may not ask never reaches it. Only what documented routes answer is
kept, as it was sent, so that an answer from here cannot differ from the one that filled it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import Generic, Protocol, TypeAlias, TypeVar

from starlette.types import Send

Headers = list[tuple[bytes, bytes]]

MAX_BYTES = 64 * 1024 * 1024
# Of the objects around a body: the key, the headers, their places in tables.
_OVERHEAD = 2_000
# 304 has no content, so it says nothing of the content's type, coding and length (RFC 9110 §15.4.5).
_OF_CONTENT = (b"content-type", b"content-encoding", b"content-length")


ResponseKey: TypeAlias = tuple[bytes, bytes, str, str, bool]
"""What tells two answers of one state of the registry apart: path and query as they were sent, the coding that was negotiated (whether or not
a small answer was really coded), who asks as far as answers differ by it, and whether answers say that nobody knows what
is on disk."""


class Representation:
    """A response to GET as it goes out: its headers, its body, and the tag that says whether a client has it."""

    __slots__ = ("body", "etag", "headers", "headers_of_304")

    def __init__(self, headers: Headers, body: bytes, etag: bytes) -> None:
        self.headers = headers
        self.body = body
        self.etag = etag
        self.headers_of_304 = [each for each in headers if each[0] not in _OF_CONTENT]

    @property
    def size(self) -> int:
        """Bytes it takes in memory, roughly."""
        return len(self.body) + sum(len(name) + len(value) for name, value in self.headers) + _OVERHEAD

    async def send(self, conditions: bytes, send: Send, method: str = "GET") -> None:
        """Answer a GET, or a HEAD, with this or with 304."""
        if conditions and _matches(conditions, self.etag):
            await send({"type": "http.response.start", "status": 304, "headers": self.headers_of_304})
            await send({"type": "http.response.body", "body": b""})
            return
        await send({"type": "http.response.start", "status": 200, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body if method == "GET" else b""})


def _matches(conditions: bytes, etag: bytes) -> bool:
    """Whether If-None-Match names the representation; compared weakly (RFC 9110 §13.1.2)."""
    return any(tag.strip().removeprefix(b"W/") in (etag, b"*") for tag in conditions.split(b","))


class Sized(Protocol):
    """What can be kept."""

    @property
    def size(self) -> int:
        """Bytes it takes in memory, roughly."""


K = TypeVar("K", bound=Hashable)
V = TypeVar("V", bound=Sized)


class ResponseCache(Generic[K, V]):
    """The most recently used responses of one state, bounded in bytes. Used from one event loop."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._state: object = None
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def bytes(self) -> int:
        """How much is kept."""
        return self._bytes

    @property
    def kept(self) -> Mapping[K, V]:
        """Everything kept, least recently used first."""
        return self._kept

    def find(self, state: object, key: K) -> V | None:
        """The response this state gave before."""
        if state is not self._state:
            return None
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
        return kept

    def put(self, state: object, key: K, kept: V) -> None:
        """Keep a response; those of another state are dropped. One that would fill a quarter of the cache is not kept."""
        if state is not self._state:
            self._state, self._bytes = state, 0
            self._kept.clear()
        if kept.size > self._max_bytes // 4 or key in self._kept:
            return
        self._kept[key] = kept
        self._bytes += kept.size
        while self._bytes > self._max_bytes:
            self._bytes -= self._kept.popitem(last=False)[1].size
