"""The page at `/`, which shows the organizations in a browser, and its files.

The page has no data of its own: it asks the HTTP API like every other client.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.answering import Answers, AnswersOfApp
from manifest_api.page_files import FILES, PAGE, SIGNED_IN, read_file
from manifest_api.questions import KNOWN_PARAMETERS

router = APIRouter(default_response_class=Response, include_in_schema=False, dependencies=[KNOWN_PARAMETERS])
returning = APIRouter(default_response_class=Response, include_in_schema=False)
_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'{issuer}",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        # No part of the page may turn a string into markup, so the name of a role never becomes a script.
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)


def build_page_headers(issuer: str = "") -> Mapping[str, str]:
    """The headers of the page and its files. `issuer` is the only other origin that the page may ask."""
    policy = _POLICY.format(issuer=f" {issuer}" if issuer else "")
    return MappingProxyType({"Content-Security-Policy": policy, "Cross-Origin-Opener-Policy": "same-origin"})


@router.get(PAGE)
async def get_page(request: Request, answers: AnswersOfApp) -> Response:
    """The page."""
    return _respond(request, answers, PAGE)


async def get_page_file(request: Request, answers: AnswersOfApp) -> Response:
    """A file of the page."""
    return _respond(request, answers, request.scope["path"])


@returning.get(SIGNED_IN)
async def get_signed_in(request: Request, answers: AnswersOfApp) -> Response:
    """The page that an issuer sends a person back to. It reads its own address, whatever the issuer adds to it."""
    return _respond(request, answers, SIGNED_IN)


for _path in FILES:
    if _path not in (PAGE, SIGNED_IN):
        router.get(_path)(get_page_file)


def _respond(request: Request, answers: Answers, path: str) -> Response:
    _, media_type = FILES[path]
    return answers.respond_with(
        request, read_file(path), media_type, request.app.state.page_headers, answers.answer_version
    )
