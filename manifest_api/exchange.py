"""The first and last step of every request: give it its id, and tell observers how it was answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from secrets import token_hex

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manifest_api.current_request import REQUEST_ID, set_current
from manifest_api.guards.request_head import read_head

Observer = Callable[[Scope, int, int, float], None]
"""It is told the scope, the status (0 if there was no answer), the bytes of the body and the seconds."""


class Exchange:
    """Sends the id of a request with its answer (OpenID AuthZEN 1.0, "Request Identification")."""

    def __init__(
        self, app: ASGIApp, observers: Sequence[Observer] = (), clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._app = app
        self._observers = tuple(observers)
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = read_head(scope).request_id or token_hex(8).encode()
        scope[REQUEST_ID] = request_id
        set_current(scope)
        clock = self._clock
        start = clock()
        status = sent = 0

        async def send_counting(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], (b"x-request-id", request_id)]}
            else:
                sent += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, send_counting)
        finally:
            seconds = clock() - start
            for observe in self._observers:
                observe(scope, status, sent, seconds)
