"""The page at `/`, which shows the organizations in a browser, and its files.

The page has no data of its own: it asks the HTTP API like every other client.
"""

from __future__ import annotations

from types import MappingProxyType

from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.answering import Answers, AnswersOfApp
from manifest_api.page_files import FILES, PAGE, read_file
from manifest_api.questions import KNOWN_PARAMETERS

router = APIRouter(default_response_class=Response, include_in_schema=False, dependencies=[KNOWN_PARAMETERS])
_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        # No part of the page may turn a string into markup, so the name of a role never becomes a script.
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
_HEADERS = MappingProxyType({"Content-Security-Policy": _POLICY, "Cross-Origin-Opener-Policy": "same-origin"})


@router.get(PAGE)
async def get_page(request: Request, answers: AnswersOfApp) -> Response:
    """The page."""
    return _respond(request, answers, PAGE)


async def get_page_file(request: Request, answers: AnswersOfApp) -> Response:
    """A file of the page."""
    return _respond(request, answers, request.scope["path"])


for _path in FILES:
    if _path != PAGE:
        router.get(_path)(get_page_file)


def _respond(request: Request, answers: Answers, path: str) -> Response:
    _, media_type = FILES[path]
    return answers.respond_with(request, read_file(path), media_type, _HEADERS, answers.answer_version)
