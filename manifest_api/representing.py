"""From an answer to its representation: coded as the client takes it, tagged, kept, and 304 when the client has it.

A route that answers GET with an `ETag` gets all of it here and has to know nothing of it. What may be kept it says
itself, with `keep`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manifest_api.coding import GZIP, LEAST_BYTES, compress
from manifest_api.guards.request_head import read_head
from manifest_api.response_cache import Representation

if TYPE_CHECKING:
    from manifest_api.answering import Answers

# An answer of more bytes is compressed in a thread, so that others do not wait for it.
_MOST_INLINE = 64 * 1024


class Representing:
    """Turn what the routes answer into representations, and keep those that may be."""

    def __init__(self, app: ASGIApp, answers: Answers) -> None:
        self._app = app
        self._answers = answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        start: Message | None = None
        body = b""

        async def take(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start" and _is_tagged(message):
                start = message
            elif start is None:
                await send(message)
            else:
                body += message.get("body", b"")

        self._answers.expect(scope)
        await self._app(scope, receive, take)
        if start is not None:
            head = read_head(scope)
            kept = await _represent(dict(start["headers"]), body, head.coding)
            if not head.has_body:
                self._answers.put_kept(scope, head, kept)
            await kept.send(head.conditions, send)


def _is_tagged(start: Message) -> bool:
    return start["status"] == 200 and any(name == b"etag" for name, _ in start["headers"])


async def _represent(headers: Mapping[bytes, bytes], body: bytes, coding: str) -> Representation:
    etag = headers[b"etag"]
    coded = body
    if coding == GZIP and len(body) >= LEAST_BYTES:
        coded = compress(body) if len(body) <= _MOST_INLINE else await run_in_threadpool(compress, body)
    said = {**headers, b"vary": b"accept-encoding"}
    if len(coded) < len(body):
        # Another coding is another representation, so it has a tag of its own (RFC 9110 §8.8.3).
        etag = etag[:-1] + b'-gzip"'
        said |= {b"etag": etag, b"content-encoding": b"gzip", b"content-length": b"%d" % len(coded)}
        body = coded
    return Representation(list(said.items()), body, etag)
