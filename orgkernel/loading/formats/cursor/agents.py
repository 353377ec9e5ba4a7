"""Reads an agent of Cursor: a Markdown file with optional front matter. An agent has every tool, or is read-only.

How Cursor reads front matter is not documented, and its package cannot be had. Where readers of YAML differ, the agent is not
read-only here, because the wider reading counts, and a finding names the line.

Cursor says of a read-only agent that it edits no files and runs no command that changes anything. Which commands that
are is not documented, so a read-only agent has no shell here, and its servers need an approval.
"""

from __future__ import annotations

import os

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.loading.documents import read_broken
from orgkernel.loading.files import MARKDOWN, Root, SourceText
from orgkernel.loading.formats.coding_agents import KIND, AgentFile, ToolNames, ToolRule, build_role
from orgkernel.loading.formats.fields import FieldReader
from orgkernel.loading.formats.front_matter import (
    FrontMatter,
    find_effectless_fields,
    find_misspelled,
    is_text,
    read_front_matter,
)
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, convert_to_id
from orgkernel.loading.formats.suppressions import read_suppressions
from orgkernel.loading.marks import start_of
from orgkernel.loading.parsed import DocumentProblem
from orgkernel.loading.sources import FileResult
from orgkernel.runtime.lazy_patterns import lazy_pattern

READONLY = "readonly"
_FIELDS = ("name", "description", "model", READONLY, "is_background")
NAMES = ToolNames(server_prefix="mcp_", groups={}, starter="task", command_tool="shell")
# Fields that limit agents in other hosts.
_EFFECTLESS = dict.fromkeys(
    ("tools", "disallowedTools", "permissions", "permission", "permissionMode"),
    "write `readonly: true` for an agent that changes nothing",
)
_PLAIN_KEY = lazy_pattern(rf"(?:^|[\r\n])(?:{READONLY}|\"{READONLY}\"|'{READONLY}')[ \t]*:")
_CHANGING = ("edit", "delete", "shell", "browser", "generate_image")


def read_agent(source: SourceText, root: Root) -> FileResult:
    """The role of a file. Empty for another Markdown file in the folder of agents."""
    front = read_front_matter(source, ())
    if front is None:
        return FileResult(skipped=True)
    if not front.value:
        return read_broken(source, KIND, front.problems)
    marks = dict(front.marks)
    fields = FieldReader(front.value, (front.start, front.marks), "the agent", front.start)
    fields.problems += front.problems
    stem = os.path.basename(source.path).removesuffix(MARKDOWN)
    name = fields.get_text("name") or stem
    fields.subject = f"agent {quote(name)}"
    description, model = fields.get_text("description"), fields.get_text("model")
    if len(convert_to_id(name)) > MAX_NAME_LENGTH:
        fields.refuse("name", f"the name has more than {MAX_NAME_LENGTH} characters", row=row.MALFORMED_ID)
    is_readonly = fields.get_flag(READONLY)
    if is_readonly and (doubt := _find_doubt(source.text, front)):
        fields.problems.append(
            DocumentProblem(
                row.EFFECTLESS_PERMISSION, *doubt, f"write `{READONLY}: true` on a line of its own"
            )
        )
        is_readonly = False
    suppressions = tuple(read_suppressions(front.value, marks, fields.problems))
    if fields.is_refused:
        return read_broken(source, KIND, fields.problems)
    rules = []
    if is_readonly:
        mark = fields.start(READONLY)
        rules = [ToolRule("deny", each, mark) for each in _CHANGING]
        rules.append(ToolRule("ask", f"{NAMES.server_prefix}*", mark))
    agent = AgentFile(
        name=name,
        name_marks=marks["name"] if fields.get_text("name") else (front.start, front.start),
        description=description,
        rules=rules,
        has_every_tool=True,
        model="" if model in ("inherit", "fast") else model,
        model_mark=start_of(marks["model"][1]) if model else 0,
        body=front.body,
        body_mark=front.body_mark,
        suppressions=suppressions,
    )
    fields.problems += find_misspelled(front.value, marks, _FIELDS, "Cursor")
    fields.problems += find_effectless_fields(front.value, marks, _EFFECTLESS, "Cursor")
    return build_role(source, root, agent, (front.start, marks), fields.problems)


def _find_doubt(text: str, front: FrontMatter) -> tuple[int, str] | None:
    """The mark and the message if readers of YAML do not agree that an agent is read-only."""
    key, marks = front.marks[READONLY]
    mark = start_of(marks)
    written = front.value[READONLY]
    if any(each.row is row.LOOSE_FRONT_MATTER for each in front.problems):
        return key, f"`{READONLY}` is in front matter that is not valid YAML, so Cursor may ignore it"
    if is_text(written, mark, "Cursor"):
        return (
            key,
            f"`{READONLY}` is the text {quote(written)} to readers of YAML 1.2, so Cursor may ignore it",
        )
    if not _PLAIN_KEY.search(text):
        return key, f"`{READONLY}` is not a key of its own line, so Cursor may ignore it"
    return None
