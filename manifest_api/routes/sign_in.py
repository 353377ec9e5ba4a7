"""Where a person signs in at the page: the issuer of `[oidc]`, if it knows the page as a client."""

from __future__ import annotations

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.guards.tokens import TokenSettings
from manifest_api.questions import KNOWN_PARAMETERS
from manifest_api.routes.documented import build_content
from manifest_api.store_requests import build_json_response

router = APIRouter(tags=["registry"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])
PATH = "/v1/sign-in"


class SignIn(msgspec.Struct, frozen=True, kw_only=True):
    """The client that the page is at an identity provider. All fields are null if the page is not a client of one."""

    issuer: str | None = None
    client_id: str | None = None
    scope: str | None = None
    """The scopes to ask the issuer for."""
    audience: str | None = None
    """The audience that a token has to name."""


@router.get(PATH, responses={200: {"description": "The answer.", "content": build_content(SignIn)}})
async def get_sign_in(request: Request) -> Response:
    """Get the identity provider where a person signs in at the page. It needs no credential, and names no one."""
    tokens: TokenSettings | None = request.app.state.tokens
    if tokens is None or not tokens.page_client:
        return build_json_response(SignIn())
    return build_json_response(
        SignIn(
            issuer=tokens.issuer,
            client_id=tokens.page_client,
            scope=tokens.page_scope,
            audience=tokens.audience,
        )
    )


def is_sign_in(method: str, path: str) -> bool:
    """Whether a request asks where to sign in. It is public: it is asked before there is a credential."""
    return path == PATH and method in ("GET", "HEAD")
