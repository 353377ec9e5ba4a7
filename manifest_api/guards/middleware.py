"""Middleware around the routes: hide the details of faults, answer HEAD as GET without a body, add standard headers."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manifest_api.problems import INTERNAL, build_problem_response
from orgkernel.diagnostics.wording import quote

logger = logging.getLogger("orgkernel.server")


class HttpMiddleware(ABC):
    """Middleware for HTTP requests. Other messages pass through."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self.answer if scope["type"] == "http" else self._app)(scope, receive, send)

    @abstractmethod
    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, usually by calling the wrapped application."""


def answer_fault(scope: Scope) -> Response:
    """The response to the exception that is being handled. The log has the details."""
    logger.exception("internal error at %s %s", scope["method"], quote(scope["path"]))
    return build_problem_response(INTERNAL, "the server could not answer", "see the log of the server")


class Faults(HttpMiddleware):
    """Answer 500 for an unexpected exception."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def send_noticing(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, send_noticing)
        except Exception:
            if started:
                raise  # the server closes the connection: half a response must not look whole
            await answer_fault(scope)(scope, receive, send)


IS_HEAD = "orgkernel.is_head"
"""Scope key that marks a HEAD request, so that streams do not begin."""


class HeadAsGet(HttpMiddleware):
    """Answer HEAD as GET without the body."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        inner = {**scope, "method": "GET", IS_HEAD: True}
        try:
            await self._app(inner, receive, send_without_body)
        finally:
            scope["route"] = inner.get("route")


# Only /docs and the page at / are shown in a browser, and they set their own policies. There is no CORS: a page elsewhere may
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


def with_standard(response_headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of a response with the standard headers added."""
    headers = [*response_headers, *_ALWAYS]
    names = {name for name, _ in headers}
    return headers + [each for each in _UNLESS_SAID if each[0] not in names]


class StandardHeaders(HttpMiddleware):
    """Add the standard headers to every response."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": with_standard(message["headers"])}
            await send(message)

        await self._app(scope, receive, send_with_headers)
