"""Reads an agent of Codex, and the configuration of a project.

Codex gives each agent all tools, within the limits of a sandbox. In a sandbox that only reads, an agent cannot change
files, and other effects of its commands need an approval.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.loading.documents import read_broken
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.codex.toml_places import TomlFile, parse_toml
from orgkernel.loading.formats.coding_agents import (
    KIND,
    AgentFile,
    ToolNames,
    ToolRule,
    build_role,
)
from orgkernel.loading.formats.fields import FieldReader
from orgkernel.loading.formats.names import LONGEST, build_server_tool_id, build_tool_id, convert_to_id
from orgkernel.loading.marks import Marks, pack_mark
from orgkernel.loading.parsed import Refusal, describe
from orgkernel.loading.sources import ReadFile

SANDBOX, SERVERS = "sandbox_mode", "mcp_servers"
HIDDEN, _BODY = ".codex", "developer_instructions"
NAMES = ToolNames(server_prefix="", groups={}, starter="spawn_agent", command_tool="shell")
_MODES = ("read-only", "workspace-write", "danger-full-access")
_FIELDS = (
    "name", "description", "developer_instructions", "nickname_candidates", "model", "model_reasoning_effort",
    "model_reasoning_summary", "model_verbosity", SANDBOX, "sandbox_workspace_write", "approval_policy", SERVERS,
    "skills", "web_search", "tools", "features", "personality",
)  # fmt: skip
_FIRST = pack_mark(1, 1)


def read_agent(source: SourceText, root: Root) -> ReadFile:
    """The role of a file with one agent. Empty for another TOML file beside agents outside of `.codex`.

    A file that the configuration names needs no name, description and instructions of its own.
    """
    area = root.find_area(source.path)
    declared = area.content if area is not None else ""
    file = parse_source(source)
    if file.refusal is not None:
        return read_broken(source, KIND, [file.refusal])
    if not declared and _BODY not in file.value and HIDDEN not in source.path.split(os.sep):
        return ReadFile(skipped=True)
    marks: dict[str, tuple[int, Marks]] = {key: file.get_marks(key) for key in file.value}
    fields = FieldReader(file.value, (_FIRST, marks), "the agent", _FIRST)
    name = fields.get_text("name", needed=not declared) or declared
    if name:
        fields.subject = f"agent {quote(name)}"
    description = fields.get_text("description", needed=not declared)
    body = fields.get_text(_BODY, needed=not declared)
    model = fields.get_text("model")
    if len(convert_to_id(name)) > LONGEST:
        fields.refuse("name", f"the name has more than {LONGEST} characters", row=row.MALFORMED_ID)
    rules = [*read_rules(file, fields.refusals)]
    servers = file.value.get(SERVERS, {})
    fields.report_unknown(_FIELDS, "OpenAI Codex", only_misspelled=True)
    if fields.is_refused:
        return read_broken(source, KIND, fields.refusals)
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
    return build_role(source, root, agent, (_FIRST, marks), fields.refusals)


def parse_source(source: SourceText) -> TomlFile:
    """The values of a file. A file that could not be read has the refusal."""
    return TomlFile({}, {}, source.refusal) if source.refusal is not None else parse_toml(source.text)


def read_rules(file: TomlFile, refusals: list[Refusal]) -> Iterator[ToolRule]:
    """The rules of the sandbox, of the search and of servers. A sandbox that cannot be read only reads."""
    mode = file.value.get(SANDBOX)
    mark = file.get_marks(SANDBOX)[1]
    if mode is not None and mode not in _MODES:
        value = quote(mode) if isinstance(mode, str) else describe(mode)
        text = f"`{SANDBOX}` is {value}, not {', '.join(map(quote, _MODES))}, so the agent can only read"
        refusals.append(Refusal(row.UNKNOWN_VALUE, mark, text))
        mode = "read-only"
    if mode == "read-only":
        yield ToolRule("deny", "apply_patch", mark)
        yield ToolRule("ask", NAMES.command_tool, mark)
    elif mode is not None:
        yield ToolRule("allow", "apply_patch", mark)
        yield ToolRule("allow", NAMES.command_tool, mark)
    features = file.value.get("features")
    if isinstance(features, dict) and features.get("shell_tool") is False:
        yield ToolRule("deny", NAMES.command_tool, file.get_marks("features", "shell_tool")[1])
    search = file.value.get("web_search")
    if search in ("disabled", False):
        yield ToolRule("deny", "web_search", file.get_marks("web_search")[1])
    servers = file.value.get(SERVERS, {})
    if not isinstance(servers, dict):
        text = f"`{SERVERS}` is {describe(servers)}, not a table"
        refusals.append(Refusal(row.WRONG_TYPE, file.get_marks(SERVERS)[1], text))
        return
    for name, server in servers.items():
        if isinstance(server, dict):
            yield from _read_server_rules(file, name, server)


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
