"""The documentation the server carries with it: OpenAPI, a page of it, and what problem codes mean."""

from __future__ import annotations

from functools import cache
from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.docs_page import render_docs, style_hash
from manifest_api.problems import KINDS, UNKNOWN_PROBLEM, Refused
from manifest_api.routes.documented import PROBLEM, content
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.manifest.v1 import encode

router = APIRouter(tags=["documentation"])


@router.get(
    "/problems/{code}",
    response_class=Response,
    responses={
        200: {"description": "What the code means.", "content": content("ProblemKind")},
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
    return answers.respond_with(request, _document(), "application/json", None, answers.standpoint)


@router.get("/docs", include_in_schema=False)
async def get_docs(request: Request, answers: AnswersOfApp) -> Response:
    """The OpenAPI document as a page that loads nothing from anywhere."""
    policy = f"default-src 'none'; style-src '{style_hash()}'; base-uri 'none'; frame-ancestors 'none'"
    return answers.respond_with(
        request, _page(), "text/html", {"Content-Security-Policy": policy}, answers.standpoint
    )


@cache
def _document() -> bytes:
    from manifest_api.openapi import build_openapi  # which documents these very routes

    return encode(build_openapi())


@cache
def _page() -> bytes:
    from manifest_api.openapi import build_openapi

    return render_docs(build_openapi()).encode()
