"""Reads `.codex/config.toml`: the sandbox, the MCP servers, and the agents that it declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Tool, ToolCatalog
from orgkernel.loading.documents import build_diagnostic, read_broken, read_broken_role
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import add_words, read_as
from orgkernel.loading.formats.codex import resolve_declared_file
from orgkernel.loading.formats.codex.agents import SERVERS, parse_source, read_rules
from orgkernel.loading.formats.codex.declarations import FILE
from orgkernel.loading.formats.codex.toml_places import TomlFile
from orgkernel.loading.formats.coding_agents import PROTECTING, AgentFile, build_role, keep_rules
from orgkernel.loading.formats.fields import FieldReader
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, build_server_tool_id, convert_to_id
from orgkernel.loading.formats.servers import build_server_tool
from orgkernel.loading.marks import Marks, pack_mark
from orgkernel.loading.parsed import DocumentProblem
from orgkernel.loading.sources import BrokenDocument, FileResult, SourceDocument

_FIELDS = ("description", "config_file", "nickname_candidates", "model", "spawn_mode")
_AGENTS, _CONFIG_FILE = "agents", "config_file"
_FIRST = pack_mark(1, 1)


def read_configuration(source: SourceText, root: Root) -> FileResult:
    """The catalog of the servers of a project, with the rules of its sandbox for all agents, and the declared agents."""
    file = parse_source(source)
    if file.problem is not None:
        return read_broken(source, PROTECTING, [file.problem])
    problems: list[DocumentProblem] = []
    rules = list(read_rules(file, problems))
    tools: dict[str, Tool] = {}
    places: dict[str, tuple[int, Marks]] = {}
    servers = file.value.get(SERVERS, {})
    for name in servers if isinstance(servers, dict) else ():
        tool = build_server_tool_id(name)
        tools.setdefault(tool, build_server_tool(name))
        places.setdefault(tool, file.get_marks(SERVERS, name))
    raw, below = keep_rules(rules, _FIRST, {"tools": (_FIRST, (_FIRST, places))})
    documents = [read_as(source, root, "tool_catalog", ToolCatalog(tools=tools), (_FIRST, below), raw)]
    broken: list[BrokenDocument] = []
    findings = [build_diagnostic(source, each) for each in problems]
    agents = file.value.get(_AGENTS)
    for name, table in agents.items() if isinstance(agents, dict) else ():
        if isinstance(table, dict):  # the others are limits for all agents
            read = _read_declared(source, root, file, name, table)
            documents += read.documents
            broken += read.broken
            findings += read.diagnostics
    return FileResult(tuple(documents), tuple(broken), tuple(findings))


def _read_declared(
    source: SourceText, root: Root, file: TomlFile, name: str, table: Mapping[str, Any]
) -> FileResult:
    """The role of an agent that the configuration declares. What its own file adds is joined later."""
    marks: dict[str, tuple[int, Marks]] = {key: file.get_marks(_AGENTS, name, key) for key in table}
    at = file.get_marks(_AGENTS, name)
    fields = FieldReader(table, (at[0], marks), f"agent {quote(name)}", at[0])
    written = fields.get_text(_CONFIG_FILE)
    description = fields.get_text("description", needed=not written)
    model = fields.get_text("model")
    path = resolve_declared_file(written)
    if written and (path is None or all(area.path != path or not area.content for area in root.areas)):
        text = f"the file {quote(written)} of agent {quote(name)} is not in the project, so Codex ignores the agent"
        fields.refuse(_CONFIG_FILE, text, "write a path relative to `.codex`")
    if not 0 < len(convert_to_id(name)) <= MAX_NAME_LENGTH:
        text = f"the name of an agent is empty or has more than {MAX_NAME_LENGTH} characters"
        fields.problems.append(DocumentProblem(row.MALFORMED_ID, at[0], text))
    fields.report_unknown(_FIELDS, "OpenAI Codex", only_misspelled=True)
    if fields.is_refused:
        return read_broken_role(source, convert_to_id(name), fields.problems)
    agent = AgentFile(
        name=name,
        name_marks=at,
        description=description,
        rules=(),
        has_every_tool=True,
        model=model,
        model_mark=fields.start("model"),
    )
    read = build_role(source, root, agent, (at[0], marks), fields.problems)
    if path is None:
        return read
    documents: tuple[SourceDocument, ...] = tuple(add_words(each, {FILE: [path]}) for each in read.documents)
    return FileResult(documents, (), read.diagnostics)
