"""Reads the MCP servers of Kiro: those of a project (`.kiro/settings/mcp.json`), and those that an agent declares for itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.loading.documents import build_diagnostic, read_broken
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import replace_document
from orgkernel.loading.formats.coding_agents import ToolRule, keep_rules
from orgkernel.loading.formats.mappings import read_mapping
from orgkernel.loading.formats.servers import FIELD, KIND, get_targets, read_server_mapping
from orgkernel.loading.json_reader import parse_json
from orgkernel.loading.marks import Marks, start_of
from orgkernel.loading.parsed import DocumentProblem, describe
from orgkernel.loading.sources import FileResult

_DISABLED, _DENIED, APPROVED = "disabled", "disabledTools", "autoApprove"


def read_project_servers(source: SourceText, root: Root) -> FileResult:
    """The catalog of a project's servers, with rules that deny those that are disabled."""
    mapping = read_mapping(source, parse_json)
    if mapping.problems:
        return read_broken(source, KIND, list(mapping.problems))
    read = read_server_mapping(source, root, mapping, (FIELD,))
    catalog = read.documents[0]
    problems: list[DocumentProblem] = []
    servers = mapping.value.get(FIELD)
    rules = []
    if isinstance(servers, dict):
        rules = list(list_denied(servers, mapping.marks[FIELD][1][1], problems))
    if any(each.is_error for each in problems):
        return read_broken(source, KIND, problems)
    raw, below = keep_rules(rules, mapping.start, dict(catalog.marks[1]))
    made = replace_document(
        catalog, catalog.record, (catalog.marks[0], below), {**raw, **get_targets(catalog)}
    )
    diagnostics = (*read.diagnostics, *(build_diagnostic(source, each) for each in problems))
    return FileResult((made,), (), diagnostics)


def list_denied(
    servers: Mapping[str, Any], marks: Mapping[str, tuple[int, Marks]], problems: list[DocumentProblem]
) -> Iterator[ToolRule]:
    """The rules that deny servers that are disabled, and tools that a server leaves out."""
    for name, server in servers.items():
        key, at = marks[name]
        if not isinstance(server, dict):
            text = f"server {quote(name)} is {describe(server)}, not a mapping"
            problems.append(DocumentProblem(row.WRONG_TYPE, start_of(at), text))
            continue
        # JSON has booleans; front matter is read as text.
        if (is_disabled := server.get(_DISABLED)) in (True, "true"):
            yield ToolRule("deny", f"@{name}", key)
        elif is_disabled not in (None, False, "false"):
            text = f"{quote(_DISABLED)} of server {quote(name)} is {describe(is_disabled)}, not `true` or `false`"
            problems.append(DocumentProblem(row.WRONG_TYPE, start_of(at[1][_DISABLED][1]), text))
        for tool, mark in _list_tools(name, server, at, _DENIED, problems):
            yield ToolRule("deny", tool, mark)


def list_approved(
    servers: Mapping[str, Any], marks: Mapping[str, tuple[int, Marks]], problems: list[DocumentProblem]
) -> Iterator[ToolRule]:
    """The rules that allow tools without an approval."""
    for name, server in servers.items():
        if isinstance(server, dict):
            for tool, mark in _list_tools(name, server, marks[name][1], APPROVED, problems):
                yield ToolRule("allow", tool, mark)


def _list_tools(
    name: str, server: Mapping[str, Any], at: Marks, field: str, problems: list[DocumentProblem]
) -> Iterator[tuple[str, int]]:
    written = server.get(field, ())
    if not isinstance(written, tuple) or not all(isinstance(each, str) for each in written):
        text = f"{quote(field)} of server {quote(name)} is not a list of names"
        problems.append(
            DocumentProblem(row.WRONG_TYPE, start_of(at[1][field][1]), text, "write a list of names of tools")
        )
        return
    for tool, mark in zip(written, at[1][field][1][1] if written else (), strict=True):
        yield f"@{name}/{tool}", start_of(mark)
