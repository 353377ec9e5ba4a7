"""The page at `/`, which shows the organizations in a browser, and its files.

The page is static and public: it has no data, and asks the HTTP API like every other client. Its sources are in
`manifest_api/page/src`, and `make page` builds what is served here.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import MappingProxyType

from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.answering import Answers, AnswersOfApp
from manifest_api.questions import KNOWN_PARAMETERS

router = APIRouter(default_response_class=Response, include_in_schema=False, dependencies=[KNOWN_PARAMETERS])
BUILT = Path(__file__).parent.parent / "page" / "built"
"""The folder of the built files. They are checked in, and are in the wheel."""
PAGE = "/"
FILES = MappingProxyType(
    {
        PAGE: ("index.html", "text/html"),
        "/page/page.js": ("page.js", "text/javascript"),
        "/page/page.css": ("page.css", "text/css"),
        "/page/icon.svg": ("icon.svg", "image/svg+xml"),
        "/page/licenses.txt": ("licenses.txt", "text/plain"),
    }
)
"""The file and the media type at each path."""
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


def is_page(method: str, path: str) -> bool:
    """Whether a request is for the page or one of its files. They need no credential, because they contain no data."""
    return path in FILES and method in ("GET", "HEAD")


@router.get(PAGE)
async def get_page(request: Request, answers: AnswersOfApp) -> Response:
    """The page."""
    return _respond(request, answers, PAGE)


@router.get("/page/page.js")
@router.get("/page/page.css")
@router.get("/page/icon.svg")
@router.get("/page/licenses.txt")
async def get_page_file(request: Request, answers: AnswersOfApp) -> Response:
    """A file of the page."""
    return _respond(request, answers, request.scope["path"])


def _respond(request: Request, answers: Answers, path: str) -> Response:
    name, media_type = FILES[path]
    return answers.respond_with(request, _read_built(name), media_type, _HEADERS, answers.answer_version)


@cache
def _read_built(name: str) -> bytes:
    """A built file. Its name is one of `FILES`, and never comes from a request."""
    return (BUILT / name).read_bytes()
