"""From a question to a response: ask the kernel once per version, encode once, say which version it was (design §10)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from manifest_api.cache import Answer, AnswerCache
from orgkernel.crew.v1 import encode
from orgkernel.kernel.kernel import Kernel, State

SNAPSHOT = "Orgkernel-Snapshot"
STALE = "Orgkernel-Stale"


class Answers:
    """Answers of one kernel, as bytes."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.cache = AnswerCache()
        self.reading_failed = False
        """Whether the last attempt to read the documents again failed: then nobody knows what is fresh."""

    async def respond(
        self,
        request: Request,
        question: tuple[Hashable, ...],
        ask: Callable[[Kernel], Any],
        org: str | None = None,
    ) -> Response:
        """The response to a GET: the answer, or 304 when the client has it. `org` is whose version it comes from."""
        answer = await self.find(question, ask, org)
        headers = {**self._headers(answer), "ETag": answer.etag, "Cache-Control": "no-cache"}
        if answer.next is not None:
            headers["Link"] = f'<{_next_page(request, answer.next)}>; rel="next"'
        if _matches(request.headers.getlist("if-none-match"), answer.etag):
            return Response(None, 304, headers)
        return Response(answer.body, 200, headers, "application/json")

    async def respond_once(
        self, question: tuple[Hashable, ...], ask: Callable[[Kernel], Any], org: str | None = None
    ) -> Response:
        """The response to a POST: clients may not keep it."""
        answer = await self.find(question, ask, org)
        return Response(answer.body, 200, self._headers(answer), "application/json")

    async def find(
        self, question: tuple[Hashable, ...], ask: Callable[[Kernel], Any], org: str | None = None
    ) -> Answer:
        """The answer, from the cache where the same was asked of the same version. Raises what the kernel raises."""
        kept = self.cache.find(self.kernel.state, question)
        if kept is not None:
            return kept
        state, answer = await run_in_threadpool(_ask, self.kernel, ask, org)
        if state is self.kernel.state:
            self.cache.put(state, question, answer)
        return answer

    def stale(self, stale: bool) -> dict[str, str]:
        """The header that says an answer is not from what is on disk."""
        return {STALE: "true"} if stale or self.reading_failed else {}

    def _headers(self, answer: Answer) -> dict[str, str]:
        return {SNAPSHOT: answer.snapshot, **self.stale(answer.stale)}


def _ask(kernel: Kernel, ask: Callable[[Kernel], Any], org: str | None) -> tuple[State, Answer]:
    """An answer that is from one state throughout: asked again when a reload came between."""
    while True:
        state = kernel.state
        value = ask(kernel)
        served = kernel.organization(org) if org is not None else None
        if kernel.state is state:
            break
    body = encode(value)
    return state, Answer(
        body,
        f'"{hashlib.sha256(body).hexdigest()}"',
        served.snapshot.digest if served else state.latest.digest,
        served.stale if served else False,
        getattr(value, "next", None),
    )


def _next_page(request: Request, cursor: str) -> str:
    """The same question for the page after, as a relative reference."""
    query = {**request.query_params, "cursor": cursor}
    return f"{request.url.path}?{urlencode(query)}"


def _matches(conditions: list[str], etag: str) -> bool:
    """Whether If-None-Match names the representation; compared weakly (RFC 9110 §13.1.2)."""
    tags = [tag.strip() for condition in conditions for tag in condition.split(",")]
    return "*" in tags or any(tag.removeprefix("W/") == etag for tag in tags)


async def _answers_of(request: Request) -> Answers:
    answers: Answers = request.app.state.answers
    return answers


AnswersOfApp = Annotated[Answers, Depends(_answers_of)]
