"""The access log: one line of JSON for each request, including refused requests.

All text from a client is inside a JSON string, so a request cannot add a line of its own.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manifest_api.guards.caller import caller_name
from manifest_api.guards.gate import REQUEST_ID
from manifest_api.guards.middleware import HttpMiddleware

logger = logging.getLogger("orgkernel.access")
# A request may be as long as it likes; its line in the log may not.
_LONGEST = 500


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """A request and its outcome."""

    time: str
    """UTC, ISO 8601."""
    client: str
    method: str
    path: str
    query_bytes: int
    """Length of the query string. The text itself may hold what is nobody else's business."""
    status: int
    bytes: int
    """Bytes of the response body."""
    request: str
    """The id of the request, as in `X-Request-ID` of the answer."""
    caller: str
    """The name of the credential, such as `caller:KEY_ID`. Empty for a request that was refused."""
    milliseconds: float
    """Time until the response was handed to the server."""


class AccessLog(HttpMiddleware):
    """Log each request with its source and its outcome."""

    def __init__(self, app: ASGIApp, clock: Callable[[], float] = time.perf_counter) -> None:
        super().__init__(app)
        self._clock = clock

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = self._clock()
        status = sent = 0

        async def send_counting(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
            elif message["type"] == "http.response.body":
                sent += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, send_counting)
        finally:
            client = scope.get("client")
            said = Access(
                time=datetime.now(UTC).isoformat(timespec="milliseconds"),
                client=client[0] if client else "",
                method=scope["method"],
                path=scope["path"][:_LONGEST],
                query_bytes=len(scope["query_string"]),
                status=status,
                bytes=sent,
                request=scope.get(REQUEST_ID, b"")[:_LONGEST].decode("latin-1"),
                caller=caller_name(scope),
                milliseconds=round((self._clock() - start) * 1e3, 3),
            )
            logger.info("%s", msgspec.json.encode(said).decode())
