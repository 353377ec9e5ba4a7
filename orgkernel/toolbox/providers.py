"""What serves a tool: a Python function, an HTTP API or an MCP server, as whoever sets up a toolbox states it.

These are values and call nothing; the adapters that do are made from them inside the toolbox. A tool with several
actions needs to know which function, route or MCP tool each of them is: what an action requires is checked by its name,
so nothing may run under another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A function, sync or async, called with the input as keyword arguments. A sync one runs in a thread of its own."""

    function: Function | Mapping[str, Function]
    """One function for a tool with one action, else one for each action."""
    credentials_as: str | None = None
    """The argument that gets the credentials the subject may use, name to value; never taken from the input."""
    path_from: str | None = None
    """The argument that names a path; what is allowed is then asked about that path."""


@dataclass(frozen=True, slots=True)
class HttpApi:
    """An HTTP API that is sent and answers JSON."""

    url: str
    """Where its paths start."""
    routes: str | Mapping[str, str]
    """`POST /posts/{id}`: method and path, for a tool with one action, or one for each action.

    Arguments named in braces go into the path; the others are the body, or the query where the method has no body.
    """
    headers: Mapping[str, str] = field(default_factory=dict)
    credential_headers: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Header to the name of a credential and what stands before its value: `{"authorization": ("vault", "Bearer ")}`."""
    path_from: str | None = None
    """The argument that names a path; what is allowed is then asked about that path."""
    max_bytes: int = 10_000_000
    """Answers longer than this are failures."""


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server of the Model Context Protocol."""

    server: str | tuple[str, ...]
    """The URL of a Streamable HTTP endpoint, or the command that starts a server on its standard input and output."""
    tools: str | Mapping[str, str] = field(default_factory=dict)
    """What the server calls the tool, or each action.

    What is left out is called like the action, or like the tool where it has one action.
    """
    environment: Mapping[str, str] = field(default_factory=dict)
    """For a command; added to the few variables a server gets anyway."""
    credential_environment: Mapping[str, str] = field(default_factory=dict)
    """Variable of a command to the name of the credential it holds."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """For a URL."""
    credential_headers: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """As those of an HTTP API."""
    path_from: str | None = None
    """The argument that names a path; what is allowed is then asked about that path."""
    max_bytes: int = 10_000_000
    """Answers longer than this are failures. Over HTTP the reading stops there."""


Provider = PythonFunction | HttpApi | McpServer
