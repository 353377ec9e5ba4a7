"""List the tools of the MCP servers of an `mcp.json`: each server is asked, and its answer is not trusted."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadToolbox, UsageError
from orgkernel.loading.files import is_file, read_text
from orgkernel.loading.json_reader import parse_json
from orgkernel.loading.jsonc_reader import parse_jsonc
from orgkernel.loading.marks import Marks
from orgkernel.toolbox.providers import McpServer

_FIELDS = ("mcpServers", "servers")
_VARIABLE = "${"


def read_servers(path: str) -> dict[str, McpServer | str]:
    """The servers that a file declares, or the reason why a server cannot be asked.

    Raises `UsageError` for any other file.
    """
    servers_by_name: dict[str, McpServer | str] = {}
    for _, servers, _ in read_declarations(path):
        servers_by_name |= {name: _build_server(server) for name, server in servers.items()}
    return servers_by_name


def read_declarations(path: str) -> list[tuple[str, dict[str, Any], Marks]]:
    """The fields of a file that declare servers, with their values and source positions.

    Raises `UsageError` for any other file.
    """
    if not is_file(path):
        raise UsageError(f"there is no file {quote(path)}", "name a file with `mcpServers` or `servers`")
    source = read_text(path, path)
    # Only Claude Code, whose file has a dot in front, takes no comments.
    parsed = (parse_json if os.path.basename(path) == ".mcp.json" else parse_jsonc)(source.text)
    if source.problem is not None or parsed.problems or not parsed.documents:
        raise UsageError(f"`{path}` cannot be read as JSON", "run `orgkernel check --from mcp` on it")
    value, marks = parsed.documents[0].value, parsed.documents[0].marks
    declarations = []
    for field in _FIELDS:
        servers = value.get(field) if isinstance(value, dict) else None
        if isinstance(servers, dict) and servers:
            declarations.append((field, servers, marks[1][field][1]))
    if not declarations:
        raise UsageError(f"`{path}` declares no MCP servers", "name a file with `mcpServers` or `servers`")
    return declarations


def _build_server(value: Any) -> McpServer | str:
    """The address or command of a server.

    Variables are never filled in, because they could send a secret to the file's author.
    """
    if not isinstance(value, dict):
        return "it is not a mapping"
    command, url, arguments = value.get("command"), value.get("url"), value.get("args", ())
    environment, headers = value.get("env", {}), value.get("headers", {})
    texts = [command, url, *arguments] if isinstance(arguments, tuple) else [arguments]
    for each in (environment, headers):
        texts += each.values() if isinstance(each, dict) else [each]
    # Searched in every string, because an address or an argument can carry a secret out as well as a header.
    if any(_VARIABLE in str(each) for each in texts):
        return "it uses variables, which are not filled in"
    if not all(isinstance(each, str) for each in texts if each is not None):
        return "its fields are not strings"
    if isinstance(url, str) and url.startswith(("http://", "https://")):
        return McpServer(url, headers=dict(headers))
    if isinstance(command, str) and command:
        return McpServer((command, *arguments), environment=dict(environment))
    return "it has neither a `command` nor a `url`"


def ask_servers(
    servers: Mapping[str, McpServer], seconds: float
) -> dict[str, tuple[list[dict[str, Any]], str]]:
    """The tools of each server, or the error. Servers are asked one after the other."""
    try:
        from orgkernel.toolbox.adapters.mcp_listing import list_tools
    except ImportError:
        raise BadToolbox("asking an MCP server needs its SDK", "install the extra `orgkernel[mcp]`") from None

    async def ask() -> dict[str, tuple[list[dict[str, Any]], str]]:
        return {name: await list_tools(server, seconds) for name, server in servers.items()}

    return asyncio.run(ask())
