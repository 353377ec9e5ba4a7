"""The providers of tools in `orgkernel.toml`: a table `[toolbox.TOOL]` for each.

[toolbox.search_engine] python = "my_tools.web:search"

[toolbox.post_api] http = "https://…" routes = { post = "POST /posts", read = "GET /posts/{id}" } credential_headers
= { authorization = ["post_api", "Bearer "] }

[toolbox.tracker] mcp = ["tracker-server", "--stdio"]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import msgspec

from orgkernel.diagnostics.validation_text import describe_unfit
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import BadToolbox
from orgkernel.prepared_types import prepared
from orgkernel.toolbox.providers import HttpApi, McpServer, Provider, PythonFunction

_KINDS: dict[str, type[Provider]] = {"python": PythonFunction, "http": HttpApi, "mcp": McpServer}
_FIRST = {"python": "function", "http": "url", "mcp": "server"}


def read_providers(toolbox: Mapping[str, Any]) -> dict[str, Provider]:
    """The provider of each tool from the settings of a project (`Project.toolbox`). Raises `BadToolbox`.

    Functions are imported by this.

    >>> read_providers({"post_api": {"http": "http://127.0.0.1:8000", "routes": "POST /posts"}})["post_api"].routes
    'POST /posts'
    """
    return {tool: _build_provider(tool, table) for tool, table in toolbox.items()}


def _build_provider(tool: str, table: Any) -> Provider:
    where = f"`[toolbox.{tool}]`"
    kinds = [kind for kind in _KINDS if isinstance(table, dict) and kind in table]
    if len(kinds) != 1:
        kinds_text = f"{listing(kinds)}, of which only one can serve the tool" if kinds else "no provider"
        raise BadToolbox(f"{where} names {kinds_text}", f"write one of {listing(_KINDS)}")
    kind = kinds[0]
    made = _KINDS[kind]
    fields = [*made.__dataclass_fields__]
    known = [_FIRST[kind], *(name for name in fields if name != _FIRST[kind])]
    settings = {_FIRST[kind] if name == kind else name: value for name, value in table.items()}
    for name in table:
        if name not in (kind, *known[1:]):
            hint = did_you_mean(name, known[1:]) or f"settings are {listing([kind, *known[1:]])}"
            raise BadToolbox(f"{where}: the setting {quote(name)} is not known", hint)
    if kind == "python":
        settings["function"] = _import_functions(where, settings["function"])
        return PythonFunction(**settings)
    try:
        provider: Provider = msgspec.convert(settings, prepared(made))
    except msgspec.ValidationError as error:
        message, place = describe_unfit(error)
        # The value of `http = ` or `mcp = ` is a setting with the name of the kind.
        place = re.sub(rf"^{_FIRST[kind]}\b", kind, place.removeprefix("."))
        raise BadToolbox(f"{where}: {quote(place)}: {message}" if place else f"{where} {message}") from None
    return provider


def _import_functions(where: str, named: Any) -> Callable[..., Any] | dict[str, Callable[..., Any]]:
    if isinstance(named, dict):
        return {action: _import_function(where, each) for action, each in named.items()}
    return _import_function(where, named)


def _import_function(where: str, named: Any) -> Callable[..., Any]:
    module, _, name = named.partition(":") if isinstance(named, str) else ("", "", "")
    if not module or not name:
        raise BadToolbox(f"{where}: {quote(str(named))} is not a function", "write `package.module:function`")
    try:
        target: Any = import_module(module)
        for step in name.split("."):
            target = getattr(target, step)
    except Exception as error:
        raise BadToolbox(f"{where}: {quote(named)} cannot be imported: {error}") from None
    if not callable(target):
        raise BadToolbox(f"{where}: {quote(named)} is not a function")
    function: Callable[..., Any] = target
    return function
