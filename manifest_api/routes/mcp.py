"""`/mcp`: the questions of an agent about itself, over streamable HTTP. Every request stands for itself.

There are no sessions and no streams, so GET and DELETE are not allowed. What is refused before a tool is reached is a
problem document, as everywhere; what a tool refuses is the result of the tool (ADR 0060).
"""

from __future__ import annotations

import logging
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Message

from manifest_api.mcp_asker import HttpAsker, asker_of
from manifest_api.problems import FOREIGN_ORIGIN, NO_SDK, RequestRefused
from manifest_api.questions import KNOWN_PARAMETERS, word
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.mcp.server import HttpServer, open_http

if TYPE_CHECKING:
    from manifest_api.gateway import HttpGateway

router = APIRouter(tags=["mcp"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
_ASKER = "orgkernel.mcp"
"""Key of the scope with the asker of a request."""


@router.post("/mcp", include_in_schema=False)
async def post_mcp(
    request: Request, org: Annotated[str | None, word("Id of an organization.")] = None
) -> Response:
    """Answer one message of the Model Context Protocol."""
    _refuse_foreign_origin(request)
    gateway: HttpGateway | None = request.app.state.gateway
    if gateway is not None:
        return await run_in_threadpool(gateway.response, request, org)
    request.scope[_ASKER] = asker_of(request, org)
    # The parser leaves whitespace after a value, which is no part of it; the SDK compares some with the body.
    request.scope["headers"] = [(name, value.strip(b" \t")) for name, value in request.scope["headers"]]
    server = await run_in_threadpool(_open)
    body = bytearray()
    start: Message = {}

    async def collect(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.update(message)
        else:
            body.extend(message.get("body", b""))

    await server.answer(request.scope, request.receive, collect)
    response = Response(bytes(body), start["status"])
    response.raw_headers = [each for each in start["headers"] if each[0] != b"content-length"]
    response.headers["content-length"] = str(len(body))
    return response


@cache
def _open() -> HttpServer:
    """The server, which is the same for all requests. Raises `RequestRefused` if the SDK is not installed."""
    try:
        server = open_http(_find_asker)
    except UsageError as error:
        raise RequestRefused(NO_SDK, error.message, error.help) from None
    # It logs every request that it opens.
    logging.getLogger("mcp").setLevel(logging.WARNING)
    return server


def _find_asker(context: Any) -> HttpAsker:
    asker: HttpAsker = context.request.scope[_ASKER]
    return asker


def _refuse_foreign_origin(request: Request) -> None:
    """Refuse pages of other origins: a browser says where its page is from."""
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise RequestRefused(
            FOREIGN_ORIGIN,
            f"the request comes from a page of {quote(origin)}",
            "ask from a program, which sends no `Origin`, or from a page of this server",
        )
