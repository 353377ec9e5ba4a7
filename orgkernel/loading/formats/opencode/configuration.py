"""Reads `opencode.json`: agents, the rules for all agents, and MCP servers."""

from __future__ import annotations

from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.loading.documents import build_diagnostic, read_broken
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import replace_document
from orgkernel.loading.formats.coding_agents import PROTECTING, keep_rules
from orgkernel.loading.formats.front_matter import FrontMatter
from orgkernel.loading.formats.mappings import read_mapping
from orgkernel.loading.formats.opencode.agents import DISABLED, is_disabled, read_entry, read_rules
from orgkernel.loading.formats.servers import get_targets, read_server_mapping
from orgkernel.loading.jsonc_reader import parse_jsonc
from orgkernel.loading.marks import start_of
from orgkernel.loading.parsed import DocumentProblem, describe
from orgkernel.loading.sources import BrokenDocument, FileResult

_AGENTS = ("agent", "agents", "mode")
_MAX_AGENTS = 200
"""Maximum number of agents in one configuration. Each of them may start each other one."""


def read_configuration(source: SourceText, root: Root) -> FileResult:
    """The catalog of the servers with the rules for all agents, and the roles of the agents."""
    mapping = read_mapping(source, parse_jsonc)
    if mapping.problems:
        return read_broken(source, PROTECTING, list(mapping.problems))
    value, marks, start = mapping.value, mapping.marks, mapping.start
    problems: list[DocumentProblem] = []
    rules = list(read_rules(value, marks, problems))
    servers = read_server_mapping(source, root, mapping, ("mcp",))
    catalog = servers.documents[0]
    raw, below = keep_rules(rules, start, dict(catalog.marks[1]))
    raw = {
        **raw,
        **get_targets(catalog),
        DISABLED: [name for field in _AGENTS for name in _list_disabled(value.get(field))],
    }
    documents = [replace_document(catalog, catalog.record, (start, below), raw)]
    broken: list[BrokenDocument] = []
    findings = [*servers.diagnostics, *(build_diagnostic(source, each) for each in problems)]
    for field in _AGENTS:
        entries = value.get(field, {})
        if not isinstance(entries, dict):
            text = f"{quote(field)} is {describe(entries)}, not a mapping"
            problem = DocumentProblem(
                row.WRONG_TYPE, start_of(marks[field][1]), text, "write `NAME: {…}` for each agent"
            )
            return read_broken(source, PROTECTING, [*problems, problem])
        if len(entries) > _MAX_AGENTS:
            text = f"{quote(field)} declares more than {_MAX_AGENTS} agents"
            problem = DocumentProblem(
                row.TOO_LARGE, marks[field][0], text, "declare agents in files of their own"
            )
            return read_broken(source, PROTECTING, [*problems, problem])
        for name, entry in entries.items():
            key, at = marks[field][1][1][name]
            if not isinstance(entry, dict):
                text = f"agent {quote(name)} is {describe(entry)}, not a mapping"
                findings.append(build_diagnostic(source, DocumentProblem(row.WRONG_TYPE, start_of(at), text)))
                continue
            if is_disabled(entry):
                continue
            front = FrontMatter(entry, dict(at[1]), key, [])
            read = read_entry(source, root, front, name, (key, key), is_primary=field == "mode")
            documents += read.documents
            broken += read.broken
            findings += read.diagnostics
    return FileResult(tuple(documents), tuple(broken), tuple(findings))


def _list_disabled(entries: Any) -> list[str]:
    """The names of the agents that a field disables."""
    pairs = entries.items() if isinstance(entries, dict) else ()
    return [name for name, entry in pairs if isinstance(entry, dict) and is_disabled(entry)]
