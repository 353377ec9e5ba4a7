"""The headers that guards and cache read, parsed once and cached for the next request.

A client sends the same headers with every request of a connection, so the parsed headers are looked up. Only values
that depend on the headers alone are kept here.
"""

from __future__ import annotations

import re

from starlette.types import Scope

IDENTITY, GZIP = "identity", "gzip"
ON_BEHALF_OF, VIA = b"orgkernel-on-behalf-of", b"orgkernel-via"
"""Headers about who triggered a run, and who handed work to whom in it (`delegation.py`)."""
_FORWARDING = frozenset({
    b"forwarded", b"via", b"x-real-ip", b"x-client-ip", b"client-ip", b"true-client-ip", b"cdn-loop",
    b"x-cluster-client-ip", b"cf-connecting-ip", b"cf-connecting-ipv6", b"fastly-client-ip", b"fly-client-ip",
    b"x-original-forwarded-for", b"x-original-host", b"x-original-url", b"x-envoy-external-address",
    b"x-envoy-original-path", b"x-azure-clientip", b"x-azure-socketip", b"x-appengine-user-ip", b"x-arr-ssl",
    b"x-proxyuser-ip", b"x-remote-addr", b"x-remote-ip", b"x-scheme", b"x-url-scheme", b"front-end-https",
    b"proxy-client-ip", b"wl-proxy-client-ip", b"x-host", b"x-coming-from", b"x-nginx-proxy",
})  # fmt: skip
"""Headers that proxies and content networks add, besides all that begin with `X-Forwarded`."""
# Characters of a header value: the client's id is returned unchanged.
_REQUEST_ID = re.compile(rb"[\t -~\x80-\xff]{1,4096}")
_FORWARDING_PREFIX = b"x-forwarded"

_ITEM = re.compile(r"\s*([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*(?:;\s*[qQ]\s*=\s*([01](?:\.[0-9]{0,3})?)\s*)?")

_SCOPE_KEY = "orgkernel.head"
"""Where the ASGI scope carries the parsed headers, so that every guard of a request reads the same."""
_Headers = tuple[tuple[bytes, bytes], ...]


def choose_coding(accepted: str) -> str:
    """Choose the coding of the answer from Accept-Encoding. Invalid values are treated as not accepted.

    >>> [choose_coding(each) for each in ("", "gzip, br", "gzip;q=0, *", "*", "identity, gzip;q=0.5")]
    ['identity', 'gzip', 'identity', 'gzip', 'identity']
    """
    weights: dict[str, float] = {}
    for item in accepted.split(","):
        match = _ITEM.fullmatch(item)
        if match is not None:
            name = match[1].lower().removeprefix("x-")
            weights.setdefault(name, float(match[2] or 1))
    compressed = weights.get(GZIP, weights.get("*", 0.0))
    return GZIP if compressed > 0 and compressed >= weights.get(IDENTITY, 0.0) else IDENTITY


class RequestHead:
    """The parsed headers of a request."""

    __slots__ = (
        "authorization",
        "body_length",
        "coding",
        "conditions",
        "content_type",
        "delegations",
        "forwarded",
        "has_body",
        "hosts",
        "origin",
        "request_id",
    )

    def __init__(self, headers: _Headers) -> None:
        named: dict[bytes, list[bytes]] = {}
        self.forwarded: str | None = None
        """The name of a proxy header, if there is one."""
        for raw_name, value in headers:
            name = raw_name.lower()
            named.setdefault(name, []).append(value)
            if name in _FORWARDING or name.startswith(_FORWARDING_PREFIX):
                self.forwarded = name.decode("latin-1")
        self.hosts = tuple(value.decode("latin-1") for value in named.get(b"host", ()))
        self.coding = choose_coding(b",".join(named.get(b"accept-encoding", ())).decode("latin-1"))
        """The content coding to answer in."""
        self.conditions = b",".join(named.get(b"if-none-match", ()))
        """The values of If-None-Match, joined."""
        kinds = named.get(b"content-type", [b""])
        self.content_type = kinds[0].split(b";")[0].strip().lower()
        """The media type of the body, without parameters."""
        lengths = named.get(b"content-length", [])
        self.body_length = max((int(value[:20]) for value in lengths if value.isdigit()), default=0)
        """The announced length of the body in bytes."""
        self.authorization = tuple(named.get(b"authorization", ()))
        """The unparsed values of Authorization."""
        ids = named.get(b"x-request-id", [])
        self.request_id = ids[0] if ids and _REQUEST_ID.fullmatch(ids[0]) else b""
        """The id that the client gave to the request."""
        self.origin = next(iter(named.get(b"origin", ())), None)
        """The origin of the requesting page, if a browser sends it."""
        self.delegations = {name: tuple(named[name]) for name in (ON_BEHALF_OF, VIA) if name in named}
        """The values of the headers about a chain of delegation, for those that are there."""
        self.has_body = bool(lengths) or b"transfer-encoding" in named


class HeadCache:
    """The headers of recent requests, limited to a few hundred small ones, so no client can fill the memory.

    They contain credentials in clear text, which are compared and never written.
    """

    _MAX_HEADS, _MAX_HEAD_BYTES = 256, 2_000

    def __init__(self) -> None:
        self._heads: dict[_Headers, RequestHead] = {}

    def read(self, scope: Scope) -> RequestHead:
        """The parsed headers of a request."""
        head: RequestHead | None = scope.get(_SCOPE_KEY)
        if head is None:
            headers = tuple(scope["headers"])
            head = scope[_SCOPE_KEY] = self._heads.get(headers) or self._parse(headers)
        return head

    def _parse(self, headers: _Headers) -> RequestHead:
        head = RequestHead(headers)
        # A request id differs in every request, so such headers would push out those that come again.
        if (
            not head.request_id
            and sum(len(name) + len(value) for name, value in headers) <= self._MAX_HEAD_BYTES
        ):
            if len(self._heads) >= self._MAX_HEADS:
                self._heads.clear()
            self._heads[headers] = head
        return head


read_head = HeadCache().read
