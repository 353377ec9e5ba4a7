"""Refuse pages of other origins, by the Origin header that browsers send."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request

from manifest_api.guards.request_head import read_head
from manifest_api.problems import FOREIGN_ORIGIN, RequestRefused
from orgkernel.diagnostics.wording import quote


def refuse_foreign_origin(request: Request) -> None:
    """Raise `RequestRefused` for a request from a page of another origin."""
    origin_header = read_head(request.scope).origin
    if origin_header is None:
        return
    origin = origin_header.decode("latin-1")
    if urlsplit(origin).netloc != request.headers.get("host"):
        raise RequestRefused(
            FOREIGN_ORIGIN,
            f"the request comes from a page of {quote(origin)}",
            "ask from a program, which sends no `Origin`, or from a page of this server",
        )
