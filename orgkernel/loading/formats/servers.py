"""Reads files that declare MCP servers: each server becomes one tool, `mcp__SERVER`.

These files do not list the tools of a server. Tools that agents name are added when the files are combined, and a
saved `tools/list` answer (`listed_tools`) adds the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from orgkernel.diagnostics import catalog as row
from orgkernel.documents.records import Tool, ToolCatalog
from orgkernel.loading.documents import build_diagnostic, read_broken
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import complete_with, read_as, replace_document
from orgkernel.loading.formats.equipment import is_plain
from orgkernel.loading.formats.mappings import ReadMapping, read_mapping
from orgkernel.loading.formats.names import build_server_tool_id, get_server_tool_id_of
from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.json_reader import parse_json
from orgkernel.loading.jsonc_reader import parse_jsonc
from orgkernel.loading.marks import Marks, pack_mark, start_of
from orgkernel.loading.parsed import DocumentProblem, describe
from orgkernel.loading.sources import FileResult, SourceDocument

KIND = "tool_catalog"
_FIRST = pack_mark(1, 1)
FIELD = "mcpServers"
PLUGIN_NAME = "name"
"""Key of the name of a plugin, in its manifest."""
TARGETS = "server_targets"
"""Key of the servers of a file or of an agent, each as `TOOL DIGEST`. The digest tells different servers of one name apart."""
_TARGET_FIELDS = ("command", "args", "url", "httpUrl", "serverUrl")
OF_VSCODE = "servers"
"""Name of the field in `.vscode/mcp.json`."""


def build_server_tool(server: str, name: str = "") -> Tool:
    """A tool of a server. Its side effects are not declared, so the most severe are assumed."""
    description = (
        f"The tool {name} of the MCP server {server}." if name else f"All tools of the MCP server {server}."
    )
    return Tool(description=description, type="mcp_server", provider=server, side_effects="destructive")


def read_servers(source: SourceText, root: Root, fields: Sequence[str] = (FIELD,)) -> FileResult:
    """Read the servers under any of the `fields`, and the name and description of a plugin."""
    # Hosts that write `servers` allow comments.
    mapping = read_mapping(source, parse_jsonc if OF_VSCODE in fields else parse_json)
    if mapping.problems:
        return read_broken(source, KIND, list(mapping.problems))
    return read_server_mapping(source, root, mapping, fields)


def read_server_mapping(
    source: SourceText, root: Root, mapping: ReadMapping, fields: Sequence[str]
) -> FileResult:
    """Read the servers in a mapping."""
    value, marks, start = mapping.value, mapping.marks, mapping.start
    problems: list[DocumentProblem] = []
    tools: dict[str, Tool] = {}
    below: dict[str, tuple[int, Marks]] = {}
    targets: list[str] = []
    for field in fields:
        servers = value.get(field, {})
        if isinstance(servers, dict):
            for name in servers:
                tool = build_server_tool_id(name)
                if tool in tools:
                    text = f"the server has the same id as another one, because both names become `{tool}`"
                    problems.append(DocumentProblem(row.DUPLICATE_KEY, marks[field][1][1][name][0], text))
                    continue
                tools[tool] = build_server_tool(name)
                below[tool] = marks[field][1][1][name]
                targets.append(f"{tool} {_digest_target(servers[name])}")
        elif not (isinstance(servers, str) and "name" in value):  # a plugin may name a file
            text = f"`{field}` is {describe(servers)}, not a mapping"
            problems.append(DocumentProblem(row.WRONG_TYPE, start_of(marks[field][1]), text))
    record = ToolCatalog(tools=tools, description=_get_text(value.get("description")))
    full = (start, {**marks, "tools": (start, (start, below))})
    unknown: dict[str, Any] = {PLUGIN_NAME: value["name"]} if _get_text(value.get("name")) else {}
    if targets:
        unknown[TARGETS] = targets
    document = read_as(source, root, KIND, record, full, unknown)
    return FileResult((document,), (), tuple(build_diagnostic(source, each) for each in problems))


def get_targets(document: SourceDocument) -> dict[str, list[str]]:
    """The entry `TARGETS` of a document with servers, for a replacement of it."""
    targets = get_list_words(document).get(TARGETS)
    return {TARGETS: list(targets)} if targets else {}


def list_targets(servers: Mapping[str, object]) -> list[str]:
    """The servers of a mapping, each as `TOOL DIGEST`."""
    return [f"{build_server_tool_id(name)} {_digest_target(server)}" for name, server in servers.items()]


def _digest_target(server: object) -> str:
    """A digest of what is started or called for a server. Its environment and headers, which can be secret, are left out."""
    if not isinstance(server, dict):
        return ""
    target = {key: server[key] for key in _TARGET_FIELDS if key in server}
    return hashlib.sha256(msgspec.json.encode(target, order="sorted")).hexdigest()[:16] if target else ""


def _get_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def drop_repeated_servers(catalogs: Sequence[SourceDocument]) -> dict[int, SourceDocument]:
    """Documents without the servers that another file already declares."""
    declared: dict[str, Tool] = {}
    instead: dict[int, SourceDocument] = {}
    for document in catalogs:
        made = drop_declared_tools(document, declared)
        if made is not document:
            instead[id(document)] = made
    return instead


def collect_tools(documents: Iterable[SourceDocument]) -> dict[str, Tool]:
    """The tools that documents declare, by their ids."""
    return {
        tool_id: tool
        for each in documents
        if isinstance(each.record, ToolCatalog)
        for tool_id, tool in each.record.tools.items()
    }


def drop_declared_tools(document: SourceDocument, declared: dict[str, Tool]) -> SourceDocument:
    """The document without the tools that are `declared` identically. Its other tools are added to them."""
    record = document.record
    if not isinstance(record, ToolCatalog):
        return document
    tools = {tool_id: tool for tool_id, tool in record.tools.items() if declared.get(tool_id) != tool}
    declared.update({**record.tools, **declared})
    if len(tools) == len(record.tools):
        return document
    return replace_document(document, replace(record, tools=tools), document.marks)


def filter_server_tools(tools: Iterable[str], servers: Container[str]) -> Iterator[str]:
    """The tools of some servers among the tools that agents name. The servers themselves are omitted."""
    for tool in tools:
        if get_server_tool_id_of(tool) in servers and tool not in servers and is_plain(tool):
            yield tool


def build_named_tools(catalog: SourceDocument, tools: Sequence[str]) -> SourceDocument:
    """The tools of a catalog's servers that agents name, each at the place of its server."""
    marks: Marks = catalog.marks[1]["tools"][1][1]
    record = catalog.record
    assert isinstance(record, ToolCatalog)
    made = {
        tool: build_server_tool(
            record.tools[str(get_server_tool_id_of(tool))].provider, tool.rpartition("__")[2]
        )
        for tool in tools
    }
    full = (
        _FIRST,
        {"tools": (_FIRST, (_FIRST, {tool: marks[get_server_tool_id_of(tool)] for tool in tools}))},
    )
    return complete_with(catalog, KIND, ToolCatalog(tools=made), full)


def build_own_servers(
    role: SourceDocument, field: str, servers: Sequence[str], tools: Iterable[str]
) -> SourceDocument:
    """The MCP servers that an agent declares for itself in a field, with the tools of these servers that it names."""
    of = {build_server_tool_id(name): name for name in servers}
    made = {tool: build_server_tool(name) for tool, name in of.items()}
    for tool in filter_server_tools(tools, of):
        made[tool] = build_server_tool(of[str(get_server_tool_id_of(tool))], tool.rpartition("__")[2])
    at = role.marks[1][field][0]
    marks = (_FIRST, {"tools": (at, (at, dict.fromkeys(made, (at, at))))})
    return complete_with(role, KIND, ToolCatalog(tools=made), marks)
