"""Reads one MCP file: declared servers, listed tools of servers, or both."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.loading.documents import read_broken
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.listed_tools import list_tools_in_server, read_listed
from orgkernel.loading.formats.mappings import ReadMapping
from orgkernel.loading.formats.organizations import build_organization, get_organization_name
from orgkernel.loading.formats.servers import (
    FIELD,
    KIND,
    OF_VSCODE,
    drop_repeated_servers,
    read_server_mapping,
)
from orgkernel.loading.json_reader import parse_json
from orgkernel.loading.jsonc_reader import parse_jsonc
from orgkernel.loading.marks import Marks, pack_mark, start_of
from orgkernel.loading.parsed import DocumentProblem
from orgkernel.loading.sources import Completion, FileResult, LoadedFile

_FIRST = pack_mark(1, 1)
_FIELDS = (FIELD, OF_VSCODE)
_STRICT = ".mcp.json"
_AT_ROOT = ("command", "url")


def read_file(source: SourceText, root: Root) -> FileResult:
    """The servers and tools of a file."""
    if source.problem is not None:
        return read_broken(source, KIND, [source.problem])
    # Only Claude Code, whose file has a dot in front, takes no comments.
    is_strict = os.path.basename(source.path) == _STRICT
    parsed = (parse_json if is_strict else parse_jsonc)(source.text)
    if parsed.problems:
        return read_broken(source, KIND, list(parsed.problems))
    value: Any = parsed.documents[0].value if parsed.documents else None
    marks: Marks = parsed.documents[0].marks if parsed.documents else _FIRST
    is_answer = isinstance(value, dict) and value.keys().isdisjoint(_FIELDS)
    if is_answer and isinstance(value.get("result"), dict):
        value, marks = value["result"], marks[1]["result"][1]  # the whole answer was saved
    if isinstance(value, dict) and any(isinstance(value.get(each), dict) for each in _FIELDS):
        mapping = ReadMapping(value, marks[1], start_of(marks))
        if any(list_tools_in_server(server) for each in _FIELDS for server in _list_values(value.get(each))):
            return read_listed(source, root, mapping, _FIELDS)
        return read_server_mapping(source, root, mapping, _FIELDS)
    if has_servers_at_root(value):
        mapping = ReadMapping({FIELD: value}, {FIELD: (start_of(marks), marks)}, start_of(marks))
        return read_server_mapping(source, root, mapping, (FIELD,))
    server = os.path.basename(source.path).removesuffix(".json")
    if isinstance(value, tuple):
        value, marks = {"tools": value}, (start_of(marks), {"tools": (start_of(marks), marks)})
    if isinstance(value, dict) and isinstance(value.get("tools"), tuple):
        wrapped = {OF_VSCODE: {server: value}}
        at = start_of(marks)
        below = {OF_VSCODE: (at, (at, {server: (at, marks)}))}
        return read_listed(source, root, ReadMapping(wrapped, below, at), _FIELDS)
    help = "name a file with `mcpServers` or `servers`, or one in which an answer to `tools/list` was saved"
    problem = DocumentProblem(
        row.MISSING_FIELD, start_of(marks), "the file declares no MCP servers and lists no tools", help
    )
    return read_broken(source, KIND, [problem])


def has_servers_at_root(value: object) -> bool:
    """Whether a file without `mcpServers` and `servers` holds servers themselves, which FastMCP and plugins of Claude Code read.

    Source: `MCPConfig.wrap_servers_at_root` of FastMCP 4.1.2.
    """
    if not isinstance(value, dict) or not value.keys().isdisjoint(_FIELDS):
        return False
    return any(isinstance(each, dict) and not each.keys().isdisjoint(_AT_ROOT) for each in value.values())


def _list_values(servers: object) -> Sequence[object]:
    return list(servers.values()) if isinstance(servers, dict) else ()


def complete(root: Root, files: Sequence[LoadedFile]) -> Completion:
    """An organization without roles, which has the tools."""
    documents = [document for file in files for document in file.read.documents]
    if not documents:
        return Completion({}, ())
    first = documents[0]
    is_file = len(root.areas) == 1
    called = get_organization_name(root)
    if is_file:
        called = os.path.basename(first.path).removesuffix(".json").lstrip(".") or called
    organization = build_organization(first, root.path, called, {}, otherwise="servers")
    return Completion(drop_repeated_servers(documents), (organization,))
