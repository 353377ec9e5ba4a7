"""A cache of encoded responses, valid until the registry changes (docs/http.md).

The cache is behind the guards, so a refused request never reaches it. It only has responses of documented routes,
exactly as they were sent.
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
# 304 has no content, so it has no headers for the content's type, coding and length (RFC 9110 §15.4.5).
_OF_CONTENT = (b"content-type", b"content-encoding", b"content-length")


ResponseKey: TypeAlias = tuple[bytes, bytes, str, str, bool]
"""The key of a response in one version of the registry: the unparsed path and query, the negotiated coding, the
group of callers that gets this response, and whether answers are marked as stale.
"""


class Representation:
    """An encoded response to GET: headers, body and ETag."""

    __slots__ = ("body", "etag", "headers", "headers_of_304", "route")

    def __init__(self, headers: Headers, body: bytes, etag: bytes, route: str) -> None:
        """`route` is the template of its path, for request counts."""
        self.headers = headers
        self.body = body
        self.etag = etag
        self.route = route
        self.headers_of_304 = [each for each in headers if each[0] not in _OF_CONTENT]

    @property
    def size(self) -> int:
        """Approximate bytes in memory."""
        return len(self.body) + sum(len(name) + len(value) for name, value in self.headers) + _OVERHEAD

    async def send(self, conditions: bytes, send: Send, method: str = "GET") -> None:
        """Answer a GET or HEAD request with this response, or with 304."""
        if conditions and _matches(conditions, self.etag):
            await send({"type": "http.response.start", "status": 304, "headers": self.headers_of_304})
            await send({"type": "http.response.body", "body": b""})
            return
        await send({"type": "http.response.start", "status": 200, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body if method == "GET" else b""})


def _matches(conditions: bytes, etag: bytes) -> bool:
    """Whether If-None-Match names the representation, by weak comparison (RFC 9110 §13.1.2)."""
    return any(tag.strip().removeprefix(b"W/") in (etag, b"*") for tag in conditions.split(b","))


class Sized(Protocol):
    """A value that can be cached."""

    @property
    def size(self) -> int:
        """Approximate bytes in memory."""


K = TypeVar("K", bound=Hashable)
V = TypeVar("V", bound=Sized)


class ResponseCache(Generic[K, V]):
    """The most recently used responses of one state, bounded in bytes. Used from one event loop."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._state: object = None
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._bytes = 0
        self.hits = 0
        """Responses that were found."""
        self.misses = 0
        """Responses that were looked for and not found."""

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def bytes(self) -> int:
        """Size of all cached responses in bytes."""
        return self._bytes

    @property
    def kept(self) -> Mapping[K, V]:
        """All cached responses, least recently used first."""
        return self._kept

    def find(self, state: object, key: K) -> V | None:
        """The cached response of this state."""
        kept = self._kept.get(key) if state is self._state else None
        if kept is None:
            self.misses += 1
            return None
        self.hits += 1
        self._kept.move_to_end(key)
        return kept

    def put(self, state: object, key: K, kept: V) -> None:
        """Cache a response, and drop those of other states.

        A response larger than a quarter of the cache is not cached.
        """
        if state is not self._state:
            self._state, self._bytes = state, 0
            self._kept.clear()
        if kept.size > self._max_bytes // 4 or key in self._kept:
            return
        self._kept[key] = kept
        self._bytes += kept.size
        while self._bytes > self._max_bytes:
            self._bytes -= self._kept.popitem(last=False)[1].size
