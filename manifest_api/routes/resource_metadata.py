"""The metadata of this server for clients of OAuth (RFC 9728): whose tokens it accepts, and for which resource."""

from __future__ import annotations

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response

from manifest_api.guards.challenges import MCP_PATH, MCP_SCOPES, RESOURCE_METADATA
from manifest_api.guards.proxies import read_base_url
from manifest_api.guards.tokens import TokenSettings
from manifest_api.problems import NO_ISSUER, RequestRefused
from manifest_api.questions import KNOWN_PARAMETERS
from manifest_api.routes.documented import PROBLEM, build_content
from orgkernel.manifest.v1 import encode

router = APIRouter(tags=["registry"], default_response_class=Response, dependencies=[KNOWN_PARAMETERS])


class ProtectedResource(msgspec.Struct, frozen=True, kw_only=True):
    """The metadata of a resource that tokens give access to (RFC 9728, section 2)."""

    resource: str
    """The identifier to ask a token for, as its `resource` (RFC 8707)."""
    authorization_servers: tuple[str, ...]
    """The issuers of tokens that are accepted."""
    scopes_supported: tuple[str, ...]
    """The scopes that a client of `/mcp` needs."""
    bearer_methods_supported: tuple[str, ...] = ("header",)
    """How a token is sent."""
    resource_name: str = "orgkernel"
    """The name of the resource for people."""


@router.get(
    f"{RESOURCE_METADATA}{MCP_PATH}",
    responses={
        200: {"description": "The metadata.", "content": build_content(ProtectedResource)},
        404: {"description": "The server accepts no tokens.", "content": PROBLEM},
    },
)
async def get_mcp_resource_metadata(request: Request) -> Response:
    """Get the issuer of tokens for `/mcp`, and the identifier to ask it for. It needs no credential."""
    return _answer(request, MCP_PATH)


@router.get(
    RESOURCE_METADATA,
    responses={
        200: {"description": "The metadata.", "content": build_content(ProtectedResource)},
        404: {"description": "The server accepts no tokens.", "content": PROBLEM},
    },
)
async def get_resource_metadata(request: Request) -> Response:
    """Get the issuer of tokens for this server, and the identifier to ask it for. It needs no credential."""
    return _answer(request, "")


def _answer(request: Request, path: str) -> Response:
    tokens: TokenSettings | None = request.app.state.tokens
    if tokens is None:
        raise RequestRefused(NO_ISSUER, NO_ISSUER.sentence, "use an API key")
    # An audience that is a URL is the identifier that tokens name. Otherwise the issuer is asked for the address, and knows
    # the audience of this server by itself.
    is_url = tokens.audience.startswith(("https://", "http://"))
    resource = tokens.audience if is_url else read_base_url(request, request.app.state.trusted_proxies) + path
    metadata = ProtectedResource(
        resource=resource, authorization_servers=(tokens.issuer,), scopes_supported=MCP_SCOPES
    )
    return Response(encode(metadata), media_type="application/json", headers={"Cache-Control": "no-cache"})
