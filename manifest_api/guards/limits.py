"""Limits on the size of a request and on the time for its body.

The request line and headers are checked first. The complete body is read here, so no route can forget the limit.
"""

from __future__ import annotations

import asyncio

from starlette.types import Message, Receive, Scope, Send

from manifest_api.guards.middleware import HttpMiddleware
from manifest_api.guards.request_head import RequestHead, read_head
from manifest_api.problems import (
    BODY_TOO_LARGE,
    QUERY_TOO_LONG,
    SLOW_BODY,
    UNKNOWN_ROUTE,
    RequestRefused,
    build_refusal_response,
)
from manifest_api.shapes import ProblemCode

MAX_BODY = 64 * 1024
BODY_SECONDS = 10.0
MAX_QUERY = 4096
MAX_SEGMENT = 200
MAX_PATH = 2048


def refuse_too_long(scope: Scope, head: RequestHead, most: int = MAX_BODY) -> tuple[ProblemCode, str] | None:
    """The problem of the request line or headers. None if they are within the limits; a body has `most` bytes."""
    path: str = scope["path"]
    if len(path) > MAX_PATH or (
        len(path) > MAX_SEGMENT and any(len(segment) > MAX_SEGMENT for segment in path.split("/"))
    ):
        return UNKNOWN_ROUTE, f"a path segment has more than {MAX_SEGMENT} characters, but ids are shorter"
    # A slash or a NUL inside a segment is decoded before routing, where it could turn an id into another route.
    raw_path: bytes = scope.get("raw_path", b"")
    if (b"%" in raw_path and b"%2f" in raw_path.lower()) or "\0" in path:
        return UNKNOWN_ROUTE, "a path segment has a character that ids cannot have"
    if len(scope["query_string"]) > MAX_QUERY:
        return QUERY_TOO_LONG, f"the query string has more than {MAX_QUERY} bytes"
    if head.body_length > most:
        return BODY_TOO_LARGE, _say_too_large(most)
    return None


def _say_too_large(most: int) -> str:
    return f"the body has more than {most} bytes"


async def take_body(receive: Receive, seconds: float = BODY_SECONDS, most: int = MAX_BODY) -> bytes | None:
    """The body. None if the client has disconnected. Raises `RequestRefused` for a body that is too large or too slow."""
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                if len(body) > most:
                    raise RequestRefused(BODY_TOO_LARGE, _say_too_large(most))
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise RequestRefused(SLOW_BODY, f"the body did not arrive within {seconds:g} seconds") from None


class BodyLimits(HttpMiddleware):
    """Read the body, and refuse one that is too large or too slow."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not read_head(scope).has_body:
            await self._app(scope, receive, send)
            return
        try:
            taken = await take_body(receive)
        except RequestRefused as error:
            await build_refusal_response(error)(scope, receive, send)
            return
        if taken is None:
            return  # the client has disconnected
        await self._app(scope, replay(taken, receive), send)


def replay(body: bytes, receive: Receive) -> Receive:
    """Deliver the body that was read, then later messages."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
