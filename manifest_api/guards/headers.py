"""Headers every response carries, refusals included (design §10)."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Nothing of ours is a page of its own but /docs, which sets its own policy. There is no CORS: a page elsewhere may
# neither read an answer nor embed it.
_ALWAYS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_UNLESS_SAID = [
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
]


def with_standard(said: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of a response, and the standard ones."""
    headers = [*said, *_ALWAYS]
    names = {name for name, _ in headers}
    return headers + [each for each in _UNLESS_SAID if each[0] not in names]


class StandardHeaders:
    """Add the headers to whatever answers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": with_standard(message["headers"])}
            await send(message)

        await self._app(scope, receive, send_with_headers)
