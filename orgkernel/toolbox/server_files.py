"""The MCP servers of `mcp.json` files with their variables filled in, for a gateway that connects to them.

A file names variables, and the operator who starts the gateway decides which ones are filled in: a file alone cannot
read the environment. A variable is filled in where a secret belongs, in the environment of a process and in headers,
and never in a command or a URL, which others can see.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import msgspec

from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import UsageError
from orgkernel.loading.marks import unpack_mark
from orgkernel.toolbox.literal_secrets import SECRET_NAME
from orgkernel.toolbox.providers import McpServer, ServerAuthorization
from orgkernel.toolbox.tool_lists import read_declarations

_VARIABLE: Final = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}")
_OTHER: Final = re.compile(r"\$\{([^}]*)\}?")
_SHOWN: Final = re.compile(r"\$\{[A-Za-z]{0,12}:?[A-Za-z_-]{0,40}\}?")
_SCHEME: Final = re.compile(r"(?:Basic|Bearer|Token)\s+", re.IGNORECASE)
_TRANSPORTS: Final = (None, "stdio", "http", "streamable-http", "streamableHttp", "sse")
OWN_SETTINGS: Final = "orgkernel"
"""The field of a server with the settings that only the gateway reads. Hosts ignore fields that they do not know."""
_NOT_SUPPORTED: Final = ("cwd", "envFile", "headersHelper", "oauth", "auth")
"""Fields that change how a server is reached. Without them, it would be another server, or one without rights."""


_SETTINGS: Final[Mapping[str, type]] = {
    "folder": str,
    "may_ask": tuple,
    "sessions": str,
    "authorization": dict,
}
"""The settings for the gateway, each with its type and named like the field of `McpServer`."""
_TYPE_NAMES: Final[Mapping[type, str]] = {str: "string", tuple: "list", dict: "mapping"}
_REQUIRED: Final = ("grant", "token_endpoint", "client_id", "client_secret")
_OPTIONAL: Final = ("client_authentication", "scope", "resource", "audience")
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "grant": ("client_credentials", "token_exchange"),
    "client_authentication": ("basic", "post"),
}
"""The settings of an authorization that have one of some values."""
_SESSIONS: Final = ("shared", "per_caller")
_KINDS: Final = ("elicitation", "sampling", "roots")


class DeclaredServer(msgspec.Struct, frozen=True):
    """A server that a file declares."""

    place: str
    """File, line and column."""
    provider: McpServer | None
    """How it is reached. None if it cannot be used."""
    error: str = ""
    """Why it cannot be used."""
    declaration: bytes = b""
    """Everything that the file says about it, without the values of variables, so that it can be compared."""
    secrets: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Values that no answer may repeat, keyed by the name of the variable or of the header."""


def read_server_files(paths: Sequence[str], variables: Mapping[str, str]) -> dict[str, DeclaredServer]:
    """All servers of some files, by name. Raises `UsageError` for an invalid file, and for a duplicate name."""
    servers_by_name: dict[str, DeclaredServer] = {}
    for path in paths:
        for field, value, marks in read_declarations(path):
            _, places = marks
            for name, server in value.items():
                mark, _ = places[name]
                line, column = unpack_mark(mark)
                place = f"{path}:{line}:{column}"
                if name in servers_by_name:
                    raise UsageError(
                        f"the server `{name}` is declared twice: {servers_by_name[name].place} and {place}",
                        f"give one of them another name in `{field}`",
                    )
                servers_by_name[name] = _read_declared_server(place, server, variables)
    return servers_by_name


def _read_declared_server(place: str, value: Any, variables: Mapping[str, str]) -> DeclaredServer:
    filled = _Filled(variables)
    provider = _build_provider(value, filled)
    if isinstance(provider, str) or filled.problem:
        return DeclaredServer(place, None, filled.problem or str(provider))
    declaration = msgspec.json.encode(value, order="deterministic")
    return DeclaredServer(place, provider, "", declaration, filled.secrets)


class _Filled:
    """Fills in variables, and remembers the used ones and the first missing one."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self.secrets: dict[str, str] = {}
        self.problem = ""

    def texts(self, table: Mapping[str, str]) -> dict[str, str]:
        """The filled-in values of a table."""
        return {name: self._fill_text(name, text) for name, text in table.items()}

    def _fill_text(self, name: str, text: str) -> str:
        unknown = _OTHER.search(_VARIABLE.sub("", text))
        if unknown:
            # What follows an opening brace can be the rest of a secret.
            shown = unknown[0] if _SHOWN.fullmatch(unknown[0]) else "${…}"
            self.problem = self.problem or f"it uses `{shown}`, which cannot be filled in"
        filled = _VARIABLE.sub(self._get_value, text)
        if filled == text and SECRET_NAME.search(name):
            self.secrets[name] = _SCHEME.sub("", text, count=1)
        return filled

    def _get_value(self, match: re.Match[str]) -> str:
        name, otherwise = match[1], match[2]
        value = self._variables.get(name)
        if value is not None:
            self.secrets[name] = value
            return value
        if otherwise is None and not self.problem:
            self.problem = f"it needs the variable `{name}`; pass it with --env {name}"
        return otherwise[2:] if otherwise else ""


def _is_http_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return url.startswith(("http://", "https://")) and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is not a number, or too large; brackets that do not close
        return False


def _build_provider(value: Any, filled: _Filled) -> McpServer | str:
    """How a server is reached, or why it cannot be used."""
    if not isinstance(value, dict):
        return "it is not a mapping"
    command, url, arguments = value.get("command"), value.get("url"), value.get("args", ())
    environment, headers = value.get("env", {}), value.get("headers", {})
    if not all(isinstance(each, dict) for each in (environment, headers)) or not isinstance(arguments, tuple):
        return "its fields have an unexpected form"
    texts = [*arguments, *environment.values(), *headers.values()]
    if not all(
        isinstance(each, str) for each in [*texts, *(each for each in (command, url) if each is not None)]
    ):
        return "its fields are not strings"
    if value.get("disabled") is True:
        return "it is disabled"
    kind = value.get("type", value.get("transport"))
    if kind not in _TRANSPORTS:
        return f"its transport `{kind}` is not supported"
    for field in _NOT_SUPPORTED:
        if field in value:
            return f"its field `{field}` is not supported"
    settings = _read_settings(value.get(OWN_SETTINGS, {}))
    if isinstance(settings, str):
        return settings
    authorization = settings.pop("authorization", None)
    if any("${" in each for each in [*arguments, command or "", url or ""]):
        return "it uses a variable in its command or URL; variables are filled in only in `env` and `headers`"
    if command is not None and url is not None:
        return "it has both a `command` and a `url`"
    if url is not None:
        if not _is_http_address(url):
            return "its `url` is not an HTTP address"
        transport: Literal["http", "sse"] = "sse" if kind == "sse" else "http"
        server = McpServer(url, headers=filled.texts(headers), transport=transport, **settings)
        return server if authorization is None else _authorize(server, authorization, filled)
    if not command:
        return "it has neither a `command` nor a `url`"
    if authorization is not None:
        return f"its `{OWN_SETTINGS}.authorization` is for a `url`; a command gets its credentials in `env`"
    return McpServer((command, *arguments), environment=filled.texts(environment), **settings)


def _authorize(server: McpServer, table: Mapping[str, Any], filled: _Filled) -> McpServer | str:
    """A server with the settings for its access tokens, or why they cannot be used."""
    where = f"{OWN_SETTINGS}.authorization"
    for name, value in table.items():
        if name not in (*_REQUIRED, *_OPTIONAL):
            hint = (
                did_you_mean(name, (*_REQUIRED, *_OPTIONAL))
                or f"settings are {listing((*_REQUIRED, *_OPTIONAL))}"
            )
            return f"its `{where}` has the unknown setting {quote(name)}; {hint}"
        if not isinstance(value, str) or not value:
            return f"its setting `{where}.{name}` is not a string"
        if value not in _CHOICES.get(name, (value,)):
            return f"its setting `{where}.{name}` is {quote(value)}; it can be {listing(_CHOICES[name])}"
        if "${" in value and name != "client_secret":
            return f"its setting `{where}.{name}` uses a variable; variables are filled in only in `client_secret`"
    if missing := [name for name in _REQUIRED if name not in table]:
        return f"its `{where}` lacks {listing(missing)}"
    if any(name.lower() == "authorization" for name in server.headers):
        return f"it has both `{where}` and a header `Authorization`"
    assert isinstance(server.server, str)
    if server.transport == "sse":
        return f"its `{where}` needs Streamable HTTP, and its transport is `sse`"
    for name, url in (("url", server.server), (f"{where}.token_endpoint", table["token_endpoint"])):
        if not _is_confidential_address(url):
            return f"its `{name}` is neither an https URL nor on loopback, so secrets cannot be sent there"
    secret = filled.texts({"client_secret": table["client_secret"]})
    return replace(server, authorization=ServerAuthorization(**{**table, **secret}))


def _is_confidential_address(url: str) -> bool:
    """Whether what is sent to an address cannot be read on the way."""
    if not _is_http_address(url):
        return False
    parts = urlsplit(url)
    is_here = parts.hostname in ("127.0.0.1", "localhost", "::1")
    return (parts.scheme == "https" or is_here) and not parts.fragment and parts.username is None


def _read_settings(value: Any) -> dict[str, Any] | str:
    """The settings for the gateway, or why they cannot be used."""
    if not isinstance(value, dict):
        return f"its `{OWN_SETTINGS}` is not a mapping"
    for name, setting in value.items():
        if name not in _SETTINGS:
            hint = did_you_mean(name, _SETTINGS) or f"settings are {listing(_SETTINGS)}"
            return f"its `{OWN_SETTINGS}` has the unknown setting {quote(name)}; {hint}"
        if not isinstance(setting, _SETTINGS[name]):
            return f"its setting `{OWN_SETTINGS}.{name}` is not a {_TYPE_NAMES[_SETTINGS[name]]}"
    for kind in value.get("may_ask", ()):
        if kind not in _KINDS:
            return (
                f"its setting `{OWN_SETTINGS}.may_ask` has {quote(str(kind))}; it can have {listing(_KINDS)}"
            )
    sessions = value.get("sessions", _SESSIONS[0])
    if sessions not in _SESSIONS:
        return f"its setting `{OWN_SETTINGS}.sessions` is {quote(sessions)}; it can be {listing(_SESSIONS)}"
    return dict(value)
