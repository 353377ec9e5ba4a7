"""From a question to a response: ask the kernel once per version, encode once, say which version it was (design §10)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlencode

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Scope

from manifest_api.guards.request_head import RequestHead
from manifest_api.kept import Key, Representation, ResponseCache
from orgkernel.crew.v1 import encode
from orgkernel.kernel.held import State
from orgkernel.kernel.kernel import Kernel

SNAPSHOT = "Orgkernel-Snapshot"
STALE = "Orgkernel-Stale"
# Without keys everybody who may ask gets the same answers; with them, answers are kept apart by what a key may see.
_ASKER = "loopback"
_VERSION = "orgkernel.version"
_KEPT_METHODS = ("GET", "HEAD")


class Answer(NamedTuple):
    """An encoded answer and what its headers say."""

    body: bytes
    state: State
    """What the kernel held when it gave the answer."""
    snapshot: str
    stale: bool = False
    next: str | None = None
    """Cursor of the next page."""


class Answers:
    """Answers of one kernel, as bytes."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.cache = ResponseCache()
        self.reading_failed = False
        """Whether the last attempt to read the documents again failed: then nobody knows what is fresh."""

    async def respond(
        self, request: Request, ask: Callable[[Kernel], Any], org: str | None = None, *, quick: bool = False
    ) -> Response:
        """The response to a GET, which may be kept. `org` is whose version it comes from.

        A `quick` question is answered at once, any other in a thread, so that nobody waits for it.
        """
        answer = await self.find(ask, org, quick=quick)
        headers = self._headers(answer)
        if answer.next is not None:
            headers["Link"] = f'<{_next_page(request, answer.next)}>; rel="next"'
        return self.respond_with(request, answer.body, "application/json", headers, answer.state)

    def respond_with(
        self,
        request: Request,
        body: bytes,
        media_type: str,
        headers: Mapping[str, str] | None = None,
        state: State | None = None,
    ) -> Response:
        """The response to a GET with a body that is the same for as long as the registry is in a state."""
        etag = f'"{hashlib.sha256(body).hexdigest()}"'
        request.scope[_VERSION].append((state or self.kernel.state, self.reading_failed))
        said = {**(headers or {}), "ETag": etag, "Cache-Control": "no-cache"}
        return Response(body, 200, said, media_type)

    async def respond_once(
        self, ask: Callable[[Kernel], Any], org: str | None = None, *, quick: bool = False
    ) -> Response:
        """The response to a POST: neither we nor clients keep it."""
        answer = await self.find(ask, org, quick=quick)
        return Response(answer.body, 200, self._headers(answer), "application/json")

    async def find(
        self, ask: Callable[[Kernel], Any], org: str | None = None, *, quick: bool = False
    ) -> Answer:
        """The answer of one state. Raises what the kernel raises."""
        if quick:
            return _ask(self.kernel, ask, org)
        return await run_in_threadpool(_ask, self.kernel, ask, org)

    def stale(self, stale: bool) -> dict[str, str]:
        """The header that says an answer is not from what is on disk."""
        return {STALE: "true"} if stale or self.reading_failed else {}

    def _headers(self, answer: Answer) -> dict[str, str]:
        return {SNAPSHOT: answer.snapshot, **self.stale(answer.stale)}

    # -- what was answered before -----------------------------------------------------------------------------------

    def find_kept(self, scope: Scope, head: RequestHead) -> Representation | None:
        """The response to the same request of the same state; the guards have let the request pass."""
        if scope["method"] not in _KEPT_METHODS:
            return None
        return self.cache.find(self.kernel.state, _key(scope, head, self.reading_failed))

    def expect(self, scope: Scope) -> None:
        """Prepare for the route's word that its response may be kept."""
        scope[_VERSION] = []

    def put_kept(self, scope: Scope, head: RequestHead, response: Representation) -> None:
        """Keep a response, if its route said so and the registry is still in the same state."""
        for state, reading_failed in scope[_VERSION]:
            if state is self.kernel.state:
                self.cache.put(state, _key(scope, head, reading_failed), response)


def _key(scope: Scope, head: RequestHead, reading_failed: bool) -> Key:
    path = scope.get("raw_path") or scope["path"].encode()
    return path, scope["query_string"], head.coding, _ASKER, reading_failed


def _ask(kernel: Kernel, ask: Callable[[Kernel], Any], org: str | None) -> Answer:
    """An answer that is from one state throughout: asked again when a reload came between."""
    while True:
        state = kernel.state
        value = ask(kernel)
        served = kernel.organization(org) if org is not None else None
        if kernel.state is state:
            break
    return Answer(
        value if isinstance(value, bytes) else encode(value),
        state,
        served.snapshot.digest if served else state.latest.digest,
        served.stale if served else False,
        getattr(value, "next", None),
    )


def _next_page(request: Request, cursor: str) -> str:
    """The same question for the page after, as a relative reference."""
    query = {**request.query_params, "cursor": cursor}
    return f"{request.url.path}?{urlencode(query)}"


async def _answers_of(request: Request) -> Answers:
    answers: Answers = request.app.state.answers
    return answers


AnswersOfApp = Annotated[Answers, Depends(_answers_of)]
