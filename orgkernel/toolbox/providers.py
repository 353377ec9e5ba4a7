"""Providers of tools: a Python function, an HTTP API or an MCP server.

Providers are values and call nothing. The toolbox builds adapters from them. For a tool with several actions, a
provider names a function, route or MCP tool for each action, because the permission is checked by the name of the
action.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A function, sync or async, called with the input as keyword arguments.

    A sync function runs in a thread of its own.
    """

    function: Function | Mapping[str, Function]
    """One function for a tool with one action, or else one for each action."""
    credentials_as: str | None = None
    """The argument for the credentials that the subject may use, name to value. It is never taken from the input."""
    path_from: str | None = None
    """The argument with the path. The permission is then decided for this path."""


@dataclass(frozen=True, slots=True)
class HttpApi:
    """An HTTP API with JSON requests and answers."""

    url: str
    """The URL that paths are appended to."""
    routes: str | Mapping[str, str]
    """`POST /posts/{id}`: method and path, for a tool with one action, or one for each action.

    Arguments named in braces go into the path; the others are the body, or the query where the method has no body.
    """
    headers: Mapping[str, str] = field(default_factory=dict)
    credential_headers: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Credential and prefix for each header: `{"authorization": ("vault", "Bearer ")}`."""
    path_from: str | None = None
    """The argument with the path. The permission is then decided for this path."""
    max_bytes: int = 10_000_000
    """Maximum bytes of an answer. A longer answer is a failure."""


@dataclass(frozen=True, slots=True)
class ServerAuthorization:
    """How the gateway gets access tokens for a server (OAuth 2.0)."""

    grant: Literal["client_credentials", "token_exchange"]
    """`client_credentials`: tokens of the gateway, for all callers. `token_exchange`: a token for each caller, in exchange for the
    token with which it calls the gateway (RFC 8693).
    """
    token_endpoint: str
    """The URL where tokens are requested."""
    client_id: str
    """The gateway, as the authorization server knows it."""
    client_secret: str = field(repr=False)
    """Its secret."""
    client_authentication: Literal["basic", "post"] = "basic"
    """Whether the secret is sent in a header or in the form."""
    scope: str = ""
    """The scopes to request, separated by spaces."""
    resource: str = ""
    """The identifier of the server for its authorization server (RFC 8707). By default its URL, unless an audience is named."""
    audience: str = ""
    """The name of the server, for an authorization server that does not know `resource`."""


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server of the Model Context Protocol."""

    server: str | tuple[str, ...]
    """The URL of a Streamable HTTP endpoint, or the command that starts a server on its standard input and output."""
    tools: str | Mapping[str, str] = field(default_factory=dict)
    """The name of the tool on the server, or of each action. By default, the name of the action, or of a tool with one
    action.
    """
    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables for a command, in addition to the default ones."""
    credential_environment: Mapping[str, str] = field(default_factory=dict)
    """Credentials, keyed by environment variable of a command."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers for a URL."""
    credential_headers: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Credential headers for a URL, like those of an HTTP API."""
    path_from: str | None = None
    """The argument with the path. The permission is then decided for this path."""
    max_bytes: int = 10_000_000
    """Maximum bytes of an answer. A longer answer is a failure. Over HTTP, the rest of it is not read."""
    folder: str | None = None
    """The folder on this machine where relative paths of the server start, so that links are followed before a decision.

    By default that of this process for a command, and none for a URL, or for a command that runs the server in a
    container or on another machine. An empty string means that its files are not on this machine.
    """
    transport: Literal["http", "sse"] = "http"
    """How a URL is spoken to: with Streamable HTTP, or with the older transport that has one event stream."""
    may_ask: tuple[Literal["elicitation", "sampling", "roots"], ...] = ()
    """What the server may ask callers of the gateway for, if they have the right to answer it."""
    sessions: Literal["shared", "per_caller"] = "shared"
    """Whether all callers of the gateway share one connection, or each has its own, for a server that keeps state."""
    authorization: ServerAuthorization | None = None
    """How the gateway gets access tokens for a URL. Only the gateway reads it."""


Provider = PythonFunction | HttpApi | McpServer
