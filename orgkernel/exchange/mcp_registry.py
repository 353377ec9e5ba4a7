"""MCP registry: a `server.json` for each MCP server for which a tool of the organization declares a registry name.

A tool of the type `mcp_server` has all required data if `names.mcp_registry` is the registry name of its server,
such as `io.github.acme/weather`, and `provider` is the server's address. Other tools are not exported.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from orgkernel.documents.records import Tool
from orgkernel.exchange.a2a.cards import is_address
from orgkernel.exchange.exported import ConvertedFiles, Loss
from orgkernel.exchange.marks import render_mark
from orgkernel.graph.questions import OrgView

TARGET = "mcp-registry"
PLACES = ("*/*/server.json",)
REGISTRY = "mcp_registry"
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_PUBLISHER = "io.modelcontextprotocol.registry/publisher-provided"
# No segment is a step of a path that leads elsewhere.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*/[A-Za-z0-9][A-Za-z0-9._-]*")
_MAX_NAME_LENGTH, _MAX_TEXT_LENGTH = 200, 100


def export_mcp_registry(view: OrgView) -> ConvertedFiles:
    """The servers in the order of their first tools. The same documents always give the same bytes."""
    servers: dict[str, list[tuple[str, Tool]]] = {}
    lacking: list[str] = []
    for tool_id, definition in view.records.tools.items():
        tool = definition.record
        if tool.type == "mcp_server":
            name = tool.names.get(REGISTRY, "")
            if _fits(name, tool):
                servers.setdefault(name, []).append((tool_id, tool))
            else:
                lacking.append(tool_id)
    files = {f"{name}/server.json": _render_server(view, name, tools) for name, tools in servers.items()}
    lost = tuple(_list_losses(view, lacking, servers))
    return ConvertedFiles(files, ("MCP servers with a name of the registry and an address",), lost)


def _fits(name: str, tool: Tool) -> bool:
    return (
        _NAME.fullmatch(name) is not None
        and len(name) <= _MAX_NAME_LENGTH
        and 0 < len(tool.description) <= _MAX_TEXT_LENGTH
        and is_address(tool.provider)
    )


def _render_server(view: OrgView, name: str, tools: list[tuple[str, Tool]]) -> str:
    tool = tools[0][1]
    server: dict[str, Any] = {
        "name": name,
        "description": tool.description,
        "remotes": [{"type": "streamable-http", "url": tool.provider}],
    }
    if 0 < len(tool.name) <= _MAX_TEXT_LENGTH:
        server["title"] = tool.name
    digest = hashlib.sha256(json.dumps(server, sort_keys=True).encode()).hexdigest()[:12]
    document = {
        "_meta": {
            _PUBLISHER: {"$comment": render_mark(view.org_id, TARGET), "tools": [each for each, _ in tools]}
        },
        "$schema": SCHEMA,
        **server,
        "version": f"1.0.0+{digest}",
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _list_losses(
    view: OrgView, lacking: list[str], servers: dict[str, list[tuple[str, Tool]]]
) -> Iterator[Loss]:
    tools = view.records.tools.values()
    differing = sum(
        any(
            (tool.provider, tool.description) != (each[0][1].provider, each[0][1].description)
            for _, tool in each
        )
        for each in servers.values()
    )
    shown = f"{', '.join(lacking[:5])}{', …' if len(lacking) > 5 else ''}"
    counted = (
        (
            f"MCP servers without what the registry needs: {shown}",
            "`names.mcp_registry` (`io.github.acme/weather`), an address in `provider`, and a description of at most "
            "100 characters",
            len(lacking),
        ),
        (
            "servers whose tools differ",
            "the description and the address come from the first tool",
            differing,
        ),
        (
            "tools of other types",
            "the registry has MCP servers only",
            sum(each.record.type != "mcp_server" for each in tools),
        ),
        ("roles", "the registry has no agents", len(view.roles)),
        ("access policies", "the registry has no permissions for servers", len(view.records.policies)),
    )
    yield from (Loss(what, why, count) for what, why, count in counted if count)
    yield Loss("versions", "no document has the version of a server, so it follows the content of the file")
    yield Loss("actions and levels", "the registry has no actions")
