"""The documentation the server carries with it: OpenAPI, a page of it, and what problem codes mean."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.docs_page import render_docs, style_hash
from manifest_api.problems import KINDS, UNKNOWN_PROBLEM, Refused
from manifest_api.routes.documented import PROBLEM, content
from manifest_api.shapes import ProblemKind
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.manifest.v1 import encode

router = APIRouter(tags=["documentation"], default_response_class=Response)


@router.get(
    "/problems/{code}",
    responses={
        200: {"description": "What the code means.", "content": content(ProblemKind)},
        404: {"description": "There is no such code.", "content": PROBLEM},
    },
)
async def get_problem(
    code: Annotated[str, Path(description="Code of a problem.", examples=["UNKNOWN_ROLE"])],
) -> Response:
    """What a problem's code means; the `type` of a problem leads here."""
    if code not in KINDS:
        hint = did_you_mean(code.upper(), KINDS) or f"codes are {listing(KINDS)}"
        raise Refused(UNKNOWN_PROBLEM, f"there is no problem {quote(code)}", hint)
    return Response(encode(KINDS[code]), media_type="application/json", headers={"Cache-Control": "no-cache"})


@router.get("/openapi.json", include_in_schema=False)
async def get_openapi_document(request: Request, answers: AnswersOfApp) -> Response:
    """The OpenAPI document."""
    document, _ = _documents(request.app.openapi)
    return answers.respond_with(request, document, "application/json", None, answers.standpoint)


@router.get("/docs", include_in_schema=False)
async def get_docs(request: Request, answers: AnswersOfApp) -> Response:
    """The OpenAPI document as a page that loads nothing from anywhere."""
    _, page = _documents(request.app.openapi)
    policy = f"default-src 'none'; style-src '{style_hash()}'; base-uri 'none'; frame-ancestors 'none'"
    headers = {"Content-Security-Policy": policy}
    return answers.respond_with(request, page, "text/html", headers, answers.standpoint)


@cache
def _documents(build: Callable[[], dict[str, Any]]) -> tuple[bytes, bytes]:
    """The document and the page of it, made once."""
    document = build()
    return encode(document), render_docs(document).encode()
