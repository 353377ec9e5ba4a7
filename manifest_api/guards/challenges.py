"""What a client of OAuth learns from a refusal: where the metadata of this server are (RFC 9728, section 5.1), and which scopes a
client of `/mcp` needs (MCP, "Authorization").
"""

from __future__ import annotations

from starlette.requests import HTTPConnection
from starlette.types import Scope

from manifest_api.guards.caller import TOKEN_SCOPE_PREFIX
from manifest_api.guards.proxies import TrustedProxies, is_host, read_base_url

RESOURCE_METADATA = "/.well-known/oauth-protected-resource"
"""Where the metadata of the server are. Those of a path are below, at the same path."""
MCP_PATH = "/mcp"
MCP_SCOPES = tuple(f"{TOKEN_SCOPE_PREFIX}{each}" for each in ("read", "report", "request"))
"""The scopes that a client of `/mcp` needs: to list tools, to call them, and to request an approval."""
_CHALLENGE = b"www-authenticate"
_HEADERS = list[tuple[bytes, bytes]]


class Challenges:
    """Completes the refusals of a server that accepts tokens."""

    def __init__(self, trusted: TrustedProxies) -> None:
        self._trusted = trusted

    def complete(self, scope: Scope, status: int, headers: _HEADERS) -> _HEADERS:
        """The headers of a response. `WWW-Authenticate` of a refusal also names the metadata, and the scopes if it names none."""
        if status not in (401, 403):
            return headers
        return [
            (name, self._extend(scope, value) if name == _CHALLENGE else value) for name, value in headers
        ]

    def _extend(self, scope: Scope, value: bytes) -> bytes:
        is_mcp = scope["path"] == MCP_PATH
        if is_mcp and b"scope=" not in value:
            value += b', scope="%s"' % " ".join(MCP_SCOPES).encode()
        base = read_base_url(HTTPConnection(scope), self._trusted)
        if not is_host(base.partition("://")[2]):
            return value  # a Host that is no host could end the quotes
        place = f"{base}{RESOURCE_METADATA}{MCP_PATH if is_mcp else ''}"
        return value + b', resource_metadata="%s"' % place.encode("latin-1")


def is_resource_metadata(method: str, path: str) -> bool:
    """Whether a request asks for the metadata. It is public: it is asked before there is a credential."""
    return method in ("GET", "HEAD") and path in (RESOURCE_METADATA, f"{RESOURCE_METADATA}{MCP_PATH}")
