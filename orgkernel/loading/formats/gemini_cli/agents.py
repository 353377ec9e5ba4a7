"""Reads an agent of Gemini CLI: a Markdown file whose front matter lists its tools."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.loading.documents import read_broken
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.coding_agents import KIND, AgentFile, ToolNames, ToolRule, build_role
from orgkernel.loading.formats.fields import FieldReader
from orgkernel.loading.formats.front_matter import (
    GEMINI_CLI,
    FrontMatter,
    find_other_types,
    is_text,
    read_front_matter,
)
from orgkernel.loading.formats.names import MAX_NAME_LENGTH
from orgkernel.loading.formats.servers import list_targets
from orgkernel.loading.markdown import split_front_matter
from orgkernel.loading.marks import start_of
from orgkernel.loading.parsed import DocumentProblem
from orgkernel.loading.sources import FileResult
from orgkernel.loading.yaml_reader import parse_yaml

TOOLS, SERVERS, KIND_FIELD = "tools", "mcp_servers", "kind"
_KINDS = ("local", "remote")
_FIELDS = (
    KIND_FIELD, "name", "description", "display_name", TOOLS, SERVERS, "mcpServers", "model", "temperature", "max_turns",
    "timeout_mins", "agent_card_url", "agent_card_json", "auth",
)  # fmt: skip
_SLUG = re.compile(r"[a-z0-9_-]+\Z")
_TOOL = re.compile(r"[A-Za-z0-9_.:-]*\*?\Z")
NAMES = ToolNames(
    server_prefix="mcp_",
    groups={
        "search_file_content": ("grep_search",),
        "edit": ("replace",),
    },
    starter="",
    command_tool="run_shell_command",
    is_project_final=True,
)
_NOT_LOADED = "so Gemini CLI does not load the agent"


def read_agent(source: SourceText, root: Root) -> FileResult:
    """The role of a file, or the roles of a list of remote agents.

    Files that Gemini CLI ignores are skipped: those whose name begins with `_`, and those without front matter.
    """
    if os.path.basename(source.path).startswith("_"):
        return FileResult(skipped=True)
    if fronts := list(_list_remote_agents(source)):
        reads = [_read_front(source, root, each) for each in fronts]
        return FileResult(
            tuple(document for each in reads for document in each.documents),
            tuple(broken for each in reads for broken in each.broken),
            tuple(diagnostic for each in reads for diagnostic in each.diagnostics),
        )
    front = read_front_matter(source, (TOOLS,), ending=GEMINI_CLI)
    if front is None:
        return FileResult(skipped=True)
    if not front.value:
        return read_broken(source, KIND, front.problems)
    return _read_front(source, root, front)


def _list_remote_agents(source: SourceText) -> Iterator[FrontMatter]:
    """The entries of front matter that is a list of remote agents."""
    parts = None if source.problem is not None else split_front_matter(source.text, GEMINI_CLI.pattern)
    if parts is None or not parts.front.lstrip().startswith("-"):
        return
    # The line break stands for the line `---`, so that lines are counted from the start of the file.
    parsed = parse_yaml("\n" + parts.front, as_text=True, merges=True)
    if parsed.problems or len(parsed.documents) != 1 or not isinstance(parsed.documents[0].value, tuple):
        return
    document = parsed.documents[0]
    if all(isinstance(each, dict) and each.get(KIND_FIELD) == "remote" for each in document.value):
        for value, marks in zip(document.value, document.marks[1], strict=True):
            yield FrontMatter(value, dict(marks[1]), start_of(marks), [])


def _read_front(source: SourceText, root: Root, front: FrontMatter) -> FileResult:
    """The role of one agent."""
    fields = FieldReader(front.value, (front.start, front.marks), "the agent", front.start)
    fields.problems += front.problems
    texts = (KIND_FIELD, "name", "description", "display_name", "model", "agent_card_url", "agent_card_json")
    fields.problems += find_other_types(front.value, front.marks, texts, GEMINI_CLI.host)
    name = fields.get_text("name", needed=True)
    if name:
        fields.subject = f"agent {quote(name)}"
    # Gemini CLI compares the name as it is written; `name` has no spaces around it.
    if name and not _SLUG.match(front.value["name"]):
        text = f"the name {quote(name)} has other characters than a-z, 0-9, `-` and `_`, {_NOT_LOADED}"
        fields.refuse("name", text, row=row.MALFORMED_ID)
    elif name and len(name) > MAX_NAME_LENGTH:
        text = f"the name {quote(name)} has more than {MAX_NAME_LENGTH} characters, {_NOT_LOADED}"
        fields.refuse("name", text, row=row.MALFORMED_ID)
    kind = fields.get_text(KIND_FIELD) or "local"
    if kind not in _KINDS:
        text = f"`{KIND_FIELD}` is {quote(kind)}, not `local` or `remote`, {_NOT_LOADED}"
        fields.refuse(KIND_FIELD, text, row=row.UNKNOWN_VALUE)
    description = fields.get_text("description", needed=kind == "local")
    model = fields.get_text("model")
    rules = [ToolRule("allow", word, mark) for word, mark in fields.get_words(TOOLS)]
    for word, mark in fields.get_words(TOOLS):
        if not is_text(word, mark, GEMINI_CLI.host):
            text = f"`{TOOLS}` lists {quote(word)}, which is not a string to {GEMINI_CLI.host}"
            fields.problems.append(DocumentProblem(row.WRONG_TYPE, mark, text, "write the name of a tool"))
        elif not _TOOL.match(word):
            text = f"{quote(word)} cannot be the name of a tool, {_NOT_LOADED}"
            fields.problems.append(DocumentProblem(row.MALFORMED_ID, mark, text, "write the name of a tool"))
    servers: list[tuple[str, int]] = []
    targets: list[str] = []
    for field in (SERVERS, "mcpServers"):
        written = front.value.get(field)
        if isinstance(written, dict):
            servers += [(each, front.marks[field][1][1][each][0]) for each in written]
            targets += list_targets(written)
        elif written is not None:
            fields.refuse(field, f"{quote(field)} of {fields.subject} is not a mapping", row=row.WRONG_TYPE)
    for key in front.value:
        if key not in _FIELDS:
            text = f"the field {quote(key)} is unknown, {_NOT_LOADED}"
            help = did_you_mean(key, _FIELDS) or "remove it"
            fields.problems.append(DocumentProblem(row.UNKNOWN_FIELD, front.marks[key][0], text, help))
    if fields.is_refused:
        return read_broken(source, KIND, fields.problems)
    agent = AgentFile(
        name=name,
        name_marks=front.marks["name"],
        description=description,
        rules=rules,
        lists_tools=True,
        has_every_tool=TOOLS not in front.value and kind == "local",
        model="" if model == "inherit" else model,
        model_mark=start_of(front.marks["model"][1]) if model else 0,
        servers=servers,
        targets=targets,
        body=front.body,
        body_mark=front.body_mark,
    )
    return build_role(source, root, agent, (front.start, dict(front.marks)), fields.problems)
