"""Reads an agent of Codex, and the configuration of a project.

Codex gives each agent all tools, within the limits of a sandbox. In a sandbox that only reads, an agent cannot change
files, and other effects of its commands need an approval.

Codex documents that the sandbox, the search and the servers of an agent's own file count. Codex 0.171 starts every agent in the
sandbox of its session, with the search and the servers of the project. So what an agent's file takes away in this way takes nothing
away, and what it gives counts, because the wider of two readings does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import RoleProfile
from orgkernel.loading.documents import read_broken
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import replace_document
from orgkernel.loading.formats.codex.toml_places import TomlFile, parse_toml
from orgkernel.loading.formats.coding_agents import (
    KIND,
    AgentFile,
    ToolNames,
    ToolRule,
    build_role,
    get_rules,
    keep_rules,
)
from orgkernel.loading.formats.equipment import list_declared_tools
from orgkernel.loading.formats.fields import FieldReader
from orgkernel.loading.formats.names import (
    MAX_NAME_LENGTH,
    MCP,
    build_server_tool_id,
    build_tool_id,
    convert_to_id,
)
from orgkernel.loading.formats.words import get_list_words
from orgkernel.loading.marks import Marks, pack_mark
from orgkernel.loading.parsed import DocumentProblem, describe
from orgkernel.loading.sources import FileResult, LoadedFile, SourceDocument

SANDBOX, SERVERS = "sandbox_mode", "mcp_servers"
HIDDEN, _BODY = ".codex", "developer_instructions"
NAMES = ToolNames(server_prefix="", groups={}, starter="spawn_agent", command_tool="shell")
_MODES = ("read-only", "workspace-write", "danger-full-access")
_EDITOR, _SEARCH = "apply_patch", "web_search"
_OFF = ("disabled", False)
_SERVER_LIMITS = ("enabled", "enabled_tools", "disabled_tools")
_FIELDS = (
    "name", "description", "developer_instructions", "nickname_candidates", "model", "model_reasoning_effort",
    "model_reasoning_summary", "model_verbosity", SANDBOX, "sandbox_workspace_write", "approval_policy", SERVERS,
    "skills", "web_search", "tools", "features", "personality",
)  # fmt: skip
_FIRST = pack_mark(1, 1)


def read_agent(source: SourceText, root: Root) -> FileResult:
    """The role of a file with one agent. Empty for another TOML file next to agents outside of `.codex`.

    A file that the configuration names needs no name, description and instructions of its own.
    """
    area = root.find_area(source.path)
    declared = area.content if area is not None else ""
    file = parse_source(source)
    if file.problem is not None:
        return read_broken(source, KIND, [file.problem])
    # TOML is a format of many programs. Only the instructions, or the hidden folder, tell that a file describes an
    # agent.
    if not declared and _BODY not in file.value and HIDDEN not in source.path.split(os.sep):
        return FileResult(skipped=True)
    marks: dict[str, tuple[int, Marks]] = {key: file.get_marks(key) for key in file.value}
    fields = FieldReader(file.value, (_FIRST, marks), "the agent", _FIRST)
    name = fields.get_text("name", needed=not declared) or declared
    if name:
        fields.subject = f"agent {quote(name)}"
    description = fields.get_text("description", needed=not declared)
    body = fields.get_text(_BODY, needed=not declared)
    model = fields.get_text("model")
    if len(convert_to_id(name)) > MAX_NAME_LENGTH:
        fields.refuse("name", f"the name has more than {MAX_NAME_LENGTH} characters", row=row.MALFORMED_ID)
    rules = [*read_rules(file, fields.problems, is_agent=True)]
    servers = file.value.get(SERVERS, {})
    fields.report_unknown(_FIELDS, "OpenAI Codex", only_misspelled=True)
    if fields.is_refused:
        return read_broken(source, KIND, fields.problems)
    agent = AgentFile(
        name=name,
        name_marks=marks.get("name", (_FIRST, _FIRST)),
        description=description,
        rules=rules,
        has_every_tool=True,
        model=model,
        model_mark=fields.start("model"),
        servers=[(each, file.get_marks(SERVERS, each)[0]) for each in servers],
        body=body,
        body_mark=fields.start(_BODY),
    )
    return build_role(source, root, agent, (_FIRST, marks), fields.problems)


def give_project_servers(files: Sequence[LoadedFile]) -> dict[int, SourceDocument | None]:
    """The replacements of roles, by identity, that have the servers of the project with all of their tools, although their own rules
    would take some away.
    """
    documents = [document for file in files for document in file.read.documents]
    declared = {
        tool for each in documents if each.kind == "tool_catalog" for tool in list_declared_tools(each)
    }
    replaced: dict[int, SourceDocument | None] = {}
    for role in documents:
        rules = get_rules(role) if isinstance(role.record, RoleProfile) else []
        given = [
            # The rule is kept and turned around, so the answer can still cite the line that the host ignores.
            each._replace(effect="allow") if _get_server(each.tool) in declared else each
            for each in rules
        ]
        if given != rules:
            words, below = keep_rules(given, role.marks[0], role.marks[1])
            replaced[id(role)] = replace_document(
                role, role.record, (role.marks[0], below), {**get_list_words(role), **words}
            )
    return replaced


def _get_server(tool: str) -> str:
    """The id of the server of a tool, of a glob for its tools, or of a server itself."""
    return MCP + tool.removeprefix(MCP).partition("__")[0] if tool.startswith(MCP) else ""


def parse_source(source: SourceText) -> TomlFile:
    """The values of a file. A file that could not be read has the problem."""
    return TomlFile({}, {}, source.problem) if source.problem is not None else parse_toml(source.text)


def read_rules(
    file: TomlFile, problems: list[DocumentProblem], *, is_agent: bool = False
) -> Iterator[ToolRule]:
    """The rules of the sandbox, of the search and of servers. A sandbox that cannot be read only reads. In the file of an agent, what
    only a session can take away is refused instead.
    """
    mode = file.value.get(SANDBOX)
    mark = file.get_marks(SANDBOX)[1]
    if mode is not None and mode not in _MODES:
        value = quote(mode) if isinstance(mode, str) else describe(mode)
        text = f"`{SANDBOX}` is {value}, not {', '.join(map(quote, _MODES))}, so the agent can only read"
        problems.append(DocumentProblem(row.UNKNOWN_VALUE, mark, text))
        yield from _list_reading_rules(mark)
    # The session decides, so the limit of the file is reported as without effect, and not applied.
    elif mode == "read-only" and is_agent:
        problems.append(
            _warn_of_session(file, (SANDBOX,), "starts every agent in the sandbox of the session")
        )
    elif mode == "read-only":
        yield from _list_reading_rules(mark)
    elif mode is not None:
        yield ToolRule("allow", _EDITOR, mark)
        yield ToolRule("allow", NAMES.command_tool, mark)
    features = file.value.get("features")
    if features is not None and not isinstance(features, dict):
        text = f"`features` is {describe(features)}, not a table"
        problems.append(DocumentProblem(row.WRONG_TYPE, file.get_marks("features")[1], text))
    elif features and not isinstance(features.get("shell_tool", True), bool):
        text = f"`shell_tool` is {describe(features['shell_tool'])}, not `true` or `false`"
        problems.append(DocumentProblem(row.WRONG_TYPE, file.get_marks("features", "shell_tool")[1], text))
    elif features and features.get("shell_tool") is False:
        yield ToolRule("deny", NAMES.command_tool, file.get_marks("features", "shell_tool")[1])
    if file.value.get(_SEARCH) in _OFF:
        if is_agent:
            problems.append(_warn_of_session(file, (_SEARCH,), "gives every agent the search of the session"))
        else:
            yield ToolRule("deny", _SEARCH, file.get_marks(_SEARCH)[1])
    servers = file.value.get(SERVERS, {})
    if not isinstance(servers, dict):
        text = f"`{SERVERS}` is {describe(servers)}, not a table"
        problems.append(DocumentProblem(row.WRONG_TYPE, file.get_marks(SERVERS)[1], text))
        return
    for name, server in servers.items():
        if isinstance(server, dict):
            yield from _read_server_rules(file, name, server)
            if is_agent:
                problems += (
                    _warn_of_session(
                        file, (SERVERS, name, each), "gives every agent the servers of the project"
                    )
                    for each in _SERVER_LIMITS
                    if server.get(each, True) is not True
                )


def _list_reading_rules(mark: int) -> Iterator[ToolRule]:
    yield ToolRule("deny", _EDITOR, mark)
    yield ToolRule("ask", NAMES.command_tool, mark)


def _warn_of_session(file: TomlFile, route: tuple[str, ...], reason: str) -> DocumentProblem:
    text = f"`{route[-1]}` limits nothing in the file of an agent, because Codex {reason}"
    help = f"write it into `{HIDDEN}/config.toml`"
    return DocumentProblem(row.EFFECTLESS_PERMISSION, file.get_marks(*route)[0], text, help)


def _read_server_rules(file: TomlFile, name: str, server: Mapping[str, Any]) -> Iterator[ToolRule]:
    own = build_server_tool_id(name)
    if server.get("enabled") is False:
        mark = file.get_marks(SERVERS, name, "enabled")[1]
        yield ToolRule("deny", own, mark)
        yield ToolRule("deny", f"{own}__*", mark)
        return
    for field, effect in (("enabled_tools", "allow"), ("disabled_tools", "deny")):
        listed = server.get(field)
        if not isinstance(listed, list):
            continue
        mark = file.get_marks(SERVERS, name, field)[1]
        if effect == "allow":
            # Only the listed tools, and not the server as a whole.
            yield ToolRule("deny", own, mark)
            yield ToolRule("deny", f"{own}__*", mark)
        for each in listed:
            if isinstance(each, str):
                yield ToolRule("allow" if effect == "allow" else "deny", build_tool_id(name, each), mark)
