"""`/mcp`: the questions of an agent about itself, over streamable HTTP. Every request is independent.

There are no sessions and no streams, so GET and DELETE are not allowed. A refusal before a tool is reached is a
problem document, as everywhere; the refusal of a tool is the result of the tool (ADR 0060).
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Message

from manifest_api.guards.challenges import MCP_PATH
from manifest_api.guards.origin import refuse_foreign_origin
from manifest_api.mcp_asker import HttpAsker, find_asker
from manifest_api.problems import NO_SDK, RequestRefused
from manifest_api.questions import KNOWN_PARAMETERS, declare_word
from orgkernel.errors import UsageError
from orgkernel.mcp.server import HttpServer, open_http

router = APIRouter(tags=["mcp"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
PATH = MCP_PATH
MAX_CALL_BYTES = 4 * 1024 * 1024
"""Maximum size of a call through the gateway. Its arguments can contain a file."""
_ASKER = "orgkernel.mcp"
"""Scope key of the asker of a request."""


@router.post(PATH, include_in_schema=False)
async def post_mcp(
    request: Request, org: Annotated[str | None, declare_word("Id of an organization.")] = None
) -> Response:
    """Answer one message of the Model Context Protocol."""
    refuse_foreign_origin(request)
    request.scope[_ASKER] = find_asker(request, org)
    # The parser leaves whitespace after a value, which is not part of it; the SDK compares some with the
    # body.
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
