"""The access log: one line for each request, including refused requests.

It contains the length of a query, not its content.
"""

from __future__ import annotations

import logging
import time

import msgspec
from starlette.types import Message, Receive, Scope, Send

from manifest_api.current_request import PROBLEM, get_route
from manifest_api.guards.middleware import HttpMiddleware
from orgkernel.diagnostics.wording import clean

logger = logging.getLogger("orgkernel.access")
# A request may be as long as it likes; its line in the log may not.
_MAX_LINE_LENGTH = 500


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """A request and its outcome. Every log line also has the id of the request and its caller."""

    client: str
    method: str
    path: str
    """The path, with control characters escaped and secrets masked."""
    route: str
    """The template of the path, such as `/v1/orgs/{org}`. `none` for a request that was refused before."""
    query_bytes: int
    """Length of the query string. The query itself could contain private data."""
    status: int
    problem: str
    """Code of the problem that was the answer. Empty for an answer."""
    bytes: int
    """Bytes of the response body."""
    milliseconds: float
    """Time until the response was handed to the server."""

    def __str__(self) -> str:
        request_line = f"{self.method} {self.path} {self.status}{self.problem and ' ' + self.problem}"
        return f"{request_line}, {self.bytes} bytes, {self.milliseconds:g} ms, from {self.client or 'an unknown address'}"


class AccessLog(HttpMiddleware):
    """Log each request with its source and its outcome."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = time.perf_counter()
        status = sent = 0

        async def send_counting(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                sent += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, send_counting)
        finally:
            client = scope.get("client")
            logger.info(
                "%s",
                Access(
                    client=client[0] if client else "",
                    method=scope["method"],
                    path=clean(scope["path"][:_MAX_LINE_LENGTH]),
                    route=get_route(scope),
                    query_bytes=len(scope["query_string"]),
                    status=status,
                    problem=scope.get(PROBLEM, ""),
                    bytes=sent,
                    milliseconds=round((time.perf_counter() - start) * 1e3, 3),
                ),
            )
