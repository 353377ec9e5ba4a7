"""Responses to questions: the kernel is asked once per version, and the response names the version (docs/http.md)."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import urlencode

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manifest_api.current_request import get_route
from manifest_api.guards.middleware import HttpMiddleware
from manifest_api.guards.request_head import GZIP, RequestHead, read_head
from manifest_api.response_cache import Representation, ResponseCache, ResponseKey
from orgkernel.errors import StoreError
from orgkernel.kernel.answer_version import AnswerVersion
from orgkernel.kernel.kernel import Kernel
from orgkernel.manifest.v1 import encode

SNAPSHOT = "Orgkernel-Snapshot"
STALE = "Orgkernel-Stale"
# All callers with the scope `read` get the same answers. Answers that differ between callers are not cached.
_ASKER = "read"
# A store that changes faster than an answer can be made must not keep callers waiting.
_TRIES = 5
_VERSION = "orgkernel.version"
_KEPT_METHODS = ("GET", "HEAD")
# Below this many bytes a compressed answer saves no packet.
MIN_COMPRESSED_BYTES = 1_024
_LEVEL = 3
# An answer of more bytes is compressed in a thread, so that others do not wait for it.
_MAX_INLINE_BYTES = 64 * 1024


class Answer(NamedTuple):
    """An encoded answer and the values of its headers."""

    body: bytes
    answer_version: AnswerVersion | None
    """The version of the documents, of the store and of the clock that the answer came from. None if the store cannot
    be read.
    """
    snapshot: str
    stale: bool = False
    next: str | None = None
    """Cursor of the next page."""


class Answers:
    """Answers of one kernel, as bytes."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.cache: ResponseCache[ResponseKey, Representation] = ResponseCache()
        self.reading_problem: Literal["failed", "overrun"] | None = None
        """The problem of the last reload. While it is set, answers are marked as stale."""

    @property
    def reading_failed(self) -> bool:
        """Whether the last reload failed or has not ended in time."""
        return self.reading_problem is not None

    @property
    def answer_version(self) -> AnswerVersion | None:
        """The version that answers now. None if the store cannot be read; some answers do not need it."""
        try:
            return self.kernel.answer_version
        except StoreError:
            return None

    async def respond(
        self,
        request: Request,
        ask: Callable[[Kernel], Any],
        org: str | None = None,
        *,
        quick: bool = False,
        keeps: bool = True,
    ) -> Response:
        """The response to a GET, which can be cached. `org` is the organization whose version answers.

        A `quick` question is answered on the event loop. Any other question is answered in a thread, so that no
        request waits for it. Without `keeps`, the server does not cache it, because more than the version changes it.
        """
        answer = await self.find(ask, org, quick=quick)
        headers = self._build_headers(answer)
        if answer.next is not None:
            headers["Link"] = f'<{_build_next_link(request, answer.next)}>; rel="next"'
        answer_version = answer.answer_version if keeps else None
        return self.respond_with(request, answer.body, "application/json", headers, answer_version)

    def respond_with(
        self,
        request: Request,
        body: bytes,
        media_type: str,
        headers: Mapping[str, str] | None,
        answer_version: AnswerVersion | None,
    ) -> Response:
        """The response to a GET whose body stays the same until the version changes."""
        etag = f'"{hashlib.sha256(body).hexdigest()}"'
        if answer_version is not None:
            request.scope[_VERSION].append((answer_version, self.reading_failed))
        response_headers = {**(headers or {}), "ETag": etag, "Cache-Control": "no-cache"}
        return Response(body, 200, response_headers, media_type)

    async def respond_once(
        self, ask: Callable[[Kernel], Any], org: str | None = None, *, quick: bool = False
    ) -> Response:
        """The response to a POST. It is never cached."""
        answer = await self.find(ask, org, quick=quick)
        return Response(answer.body, 200, self._build_headers(answer), "application/json")

    async def find(
        self, ask: Callable[[Kernel], Any], org: str | None = None, *, quick: bool = False
    ) -> Answer:
        """The answer for one state. Raises the errors of the kernel."""
        if quick:
            return self._ask(ask, org)
        return await run_in_threadpool(self._ask, ask, org)

    def _ask(self, ask: Callable[[Kernel], Any], org: str | None) -> Answer:
        """An answer from a single version. The question is repeated if the version changed in between."""
        kernel = self.kernel
        for _ in range(_TRIES):
            answer_version, state = self.answer_version, kernel.state
            value = ask(kernel)
            served = kernel.organization(org) if org is not None else None
            if self.answer_version is answer_version and kernel.state is state:
                break
        return Answer(
            value if isinstance(value, bytes) else encode(value),
            answer_version,
            served.snapshot.digest if served else state.latest.digest,
            served.stale if served else False,
            getattr(value, "next", None),
        )

    def stale(self, stale: bool) -> dict[str, str]:
        """The header that marks an answer as stale."""
        return {STALE: "true"} if stale or self.reading_failed else {}

    def _build_headers(self, answer: Answer) -> dict[str, str]:
        return {SNAPSHOT: answer.snapshot, **self.stale(answer.stale)}

    # -- what was answered before -----------------------------------------------------------------------------------

    def find_kept(self, scope: Scope, head: RequestHead) -> Representation | None:
        """The cached response to the same request in the same version. The guards have accepted the request."""
        if scope["method"] not in _KEPT_METHODS:
            return None
        return self.cache.find(self.kernel.answer_version, _build_key(scope, head, self.reading_failed))

    def expect(self, scope: Scope) -> None:
        """Prepare for the route to mark its response as cacheable."""
        scope[_VERSION] = []

    def put_kept(self, scope: Scope, head: RequestHead, response: Representation) -> None:
        """Cache a response, if its route allows it and the version is still the same."""
        for answer_version, reading_failed in scope[_VERSION]:
            if answer_version is self.answer_version:
                self.cache.put(answer_version, _build_key(scope, head, reading_failed), response)


def _build_key(scope: Scope, head: RequestHead, reading_failed: bool) -> ResponseKey:
    path = scope.get("raw_path") or scope["path"].encode()
    return path, scope["query_string"], head.coding, _ASKER, reading_failed


def _build_next_link(request: Request, cursor: str) -> str:
    """A relative link to the next page of the same question."""
    query = {**request.query_params, "cursor": cursor}
    return f"{request.url.path}?{urlencode(query)}"


async def _get_answers(request: Request) -> Answers:
    answers: Answers = request.app.state.answers
    return answers


AnswersOfApp = Annotated[Answers, Depends(_get_answers)]


class Representing(HttpMiddleware):
    """Turn the answers of routes into representations, and cache those that can be cached."""

    def __init__(self, app: ASGIApp, answers: Answers) -> None:
        super().__init__(app)
        self._answers = answers

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":
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
            kept = await _represent(dict(start["headers"]), body, head.coding, get_route(scope))
            if not head.has_body:
                self._answers.put_kept(scope, head, kept)
            await kept.send(head.conditions, send)


def _is_tagged(start: Message) -> bool:
    return start["status"] == 200 and any(name == b"etag" for name, _ in start["headers"])


async def _represent(headers: Mapping[bytes, bytes], body: bytes, coding: str, route: str) -> Representation:
    etag = headers[b"etag"]
    coded = body
    if coding == GZIP and len(body) >= MIN_COMPRESSED_BYTES:
        coded = compress(body) if len(body) <= _MAX_INLINE_BYTES else await run_in_threadpool(compress, body)
    response_headers = {**headers, b"vary": b"accept-encoding"}
    if len(coded) < len(body):
        # Another coding is another representation, so it has a tag of its own (RFC 9110 §8.8.3).
        etag = etag[:-1] + b'-gzip"'
        response_headers |= {
            b"etag": etag,
            b"content-encoding": b"gzip",
            b"content-length": b"%d" % len(coded),
        }
        body = coded
    return Representation(list(response_headers.items()), body, etag, route)


def compress(body: bytes) -> bytes:
    """A body in gzip. The same body always has the same bytes."""
    return gzip.compress(body, _LEVEL, mtime=0)
