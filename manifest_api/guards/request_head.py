"""What the guards and the cache look at in the headers of a request, read once."""

from __future__ import annotations

from functools import lru_cache

from starlette.types import Scope

_HEAD = "orgkernel.head"
_OTHER, _HOST, _FORWARDED, _ACCEPTED, _CONDITIONS, _BODY = range(6)
_FORWARDING = (b"forwarded", b"x-real-ip", b"via")
_FORWARDING_PREFIX = b"x-forwarded"
_MEANINGS = {
    b"host": _HOST,
    b"accept-encoding": _ACCEPTED,
    b"if-none-match": _CONDITIONS,
    b"content-length": _BODY,
    b"transfer-encoding": _BODY,
}


class RequestHead:
    """The headers that decide whether and how a request is answered."""

    __slots__ = ("accepted", "conditions", "forwarded", "has_body", "hosts")

    def __init__(self, scope: Scope) -> None:
        self.accepted = b""
        """Accept-Encoding, several of them joined."""
        self.conditions = b""
        """If-None-Match, several of them joined."""
        self.hosts: list[bytes] = []
        self.forwarded: bytes | None = None
        """The name of a header that proxies add."""
        self.has_body = False
        for name, value in scope["headers"]:
            meaning = _meaning_of(name) if len(name) < 100 else _find_meaning(name)
            if meaning == _OTHER:
                continue
            if meaning == _HOST:
                self.hosts.append(value)
            elif meaning == _ACCEPTED:
                self.accepted = self.accepted + b"," + value if self.accepted else value
            elif meaning == _CONDITIONS:
                self.conditions = self.conditions + b"," + value if self.conditions else value
            elif meaning == _BODY:
                self.has_body = True
            else:
                self.forwarded = name


def read_head(scope: Scope) -> RequestHead:
    """The head of a request; the same object for the same request."""
    head: RequestHead | None = scope.get(_HEAD)
    if head is None:
        head = scope[_HEAD] = RequestHead(scope)
    return head


def _find_meaning(name: bytes) -> int:
    name = name.lower()
    if name in _FORWARDING or name.startswith(_FORWARDING_PREFIX):
        return _FORWARDED
    return _MEANINGS.get(name, _OTHER)


_meaning_of = lru_cache(maxsize=512)(_find_meaning)
