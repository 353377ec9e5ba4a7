"""Reads the settings of Gemini CLI, or the manifest of an extension: MCP servers, and tools that no agent has."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.loading.documents import build_diagnostic, read_broken
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import replace_document
from orgkernel.loading.formats.coding_agents import EVERY, ONLY, PROTECTING, ToolRule, keep_rules
from orgkernel.loading.formats.mappings import read_mapping
from orgkernel.loading.formats.servers import FIELD, get_targets, read_server_mapping
from orgkernel.loading.jsonc_reader import parse_jsonc
from orgkernel.loading.marks import Marks, start_of
from orgkernel.loading.parsed import DocumentProblem, describe
from orgkernel.loading.shipped_tables import read_shipped_table
from orgkernel.loading.sources import FileResult

# The older names of the fields are at the top of the file.
_EXCLUDED = (("tools", "exclude"), ("excludeTools",))
_CORE = (("tools", "core"), ("coreTools",))
# Servers that no agent has, and the only servers that agents have.
_WITHOUT_SERVERS = (("mcp", "excluded"), ("excludeMCPServers",))
_ONLY_SERVERS = (("mcp", "allowed"), ("allowMCPServers",))
_TABLE = os.path.join(os.path.dirname(__file__), "host.yaml")
# A part of a tool that is not the beginning of commands.
_SOME = "?*"
_PART = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\((.*)\)\Z", re.DOTALL)


def read_settings(source: SourceText, root: Root) -> FileResult:
    """The catalog of the servers, with the rules for all agents."""
    mapping = read_mapping(source, parse_jsonc)
    if mapping.problems:
        return read_broken(source, PROTECTING, list(mapping.problems))
    problems: list[DocumentProblem] = []
    full: Marks = (mapping.start, mapping.marks)
    rules = [
        _build_rule(word, mark)
        for route in _EXCLUDED
        for word, mark in _read_list(route, mapping.value, full, problems) or ()
    ]
    core = [
        listed for route in _CORE if (listed := _read_list(route, mapping.value, full, problems)) is not None
    ]
    rules += _list_server_rules(mapping.value, full, problems)
    if problems:
        # A list that is meant to protect and cannot be read leaves no tool.
        rules.append(ToolRule("deny", EVERY, problems[0].mark))
    read = read_server_mapping(source, root, mapping, (FIELD,))
    catalog = read.documents[0]
    given = [_build_rule(word, mark) for word, mark in core[0]] if core else []
    whole = {each.tool for each in given if each.part == EVERY}
    # A rule cannot give a part of a tool only, so who has a tool of which a part is listed is asked.
    rules += [each._replace(effect="ask", part=_SOME) for each in given if each.tool not in whole]
    raw, below = keep_rules(rules, mapping.start, dict(catalog.marks[1]))
    raw |= get_targets(catalog)
    if core:
        raw[ONLY] = [each.tool for each in given]
    document = replace_document(catalog, catalog.record, (mapping.start, below), raw)
    findings = (*read.diagnostics, *(build_diagnostic(source, each) for each in problems))
    return FileResult((document,), (), findings)


def _list_server_rules(
    value: Mapping[str, Any], marks: Marks, problems: list[DocumentProblem]
) -> Iterator[ToolRule]:
    """The rules that take servers from all agents."""
    for route in _WITHOUT_SERVERS:
        for name, mark in _read_list(route, value, marks, problems) or ():
            yield ToolRule("deny", f"mcp_{name}_*", mark)
    servers = value.get(FIELD)
    for route in _ONLY_SERVERS:
        allowed = _read_list(route, value, marks, problems)
        if allowed is not None and isinstance(servers, Mapping):
            names = {name for name, _ in allowed}
            for name in servers:
                if name not in names:
                    yield ToolRule("deny", f"mcp_{name}_*", marks[1][FIELD][1][1][name][0])


def _build_rule(word: str, mark: int) -> ToolRule:
    """A rule about a tool by its name or its class, or about commands of it: `run_shell_command(rm -rf)`."""
    match = _PART.match(word)
    name = word if match is None else match[1]
    tool = read_shipped_table(_TABLE)["class_names"].get(name, name)
    return (
        ToolRule("deny", tool, mark)
        if match is None
        else ToolRule("deny", tool, mark, f"{match[2].strip()} *")
    )


def _read_list(
    route: tuple[str, ...], value: Mapping[str, Any], marks: Marks, problems: list[DocumentProblem]
) -> list[tuple[str, int]] | None:
    """The words of a list. None if the settings do not have it."""
    written: Any = value
    for key in route:
        if not isinstance(written, Mapping) or key not in written:
            return None
        written, marks = written[key], marks[1][key][1]
    if not isinstance(written, tuple):
        text = f"{quote('.'.join(route))} is {describe(written)}, not a list"
        problems.append(DocumentProblem(row.WRONG_TYPE, start_of(marks), text, "write a list of tools"))
        return []
    return list(_iterate_words(route, written, marks, problems))


def _iterate_words(
    route: tuple[str, ...], written: tuple[Any, ...], marks: Marks, problems: list[DocumentProblem]
) -> Iterator[tuple[str, int]]:
    for item, mark in zip(written, marks[1], strict=True):
        if isinstance(item, str):
            yield item.strip(), start_of(mark)
        else:
            text = f"{quote('.'.join(route))} lists {describe(item)}, not a string"
            problems.append(DocumentProblem(row.WRONG_TYPE, start_of(mark), text, "write the name of a tool"))
