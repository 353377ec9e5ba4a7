"""Reads an agent of Cursor: a Markdown file with optional front matter. An agent has every tool, or is read-only.

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
from orgkernel.loading.formats.front_matter import find_effectless_fields, find_misspelled, read_front_matter
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, convert_to_id
from orgkernel.loading.formats.suppressions import read_suppressions
from orgkernel.loading.marks import start_of
from orgkernel.loading.sources import ReadFile

READONLY = "readonly"
_FIELDS = ("name", "description", "model", READONLY, "is_background")
NAMES = ToolNames(server_prefix="mcp_", groups={}, starter="task", command_tool="shell")
# Fields that limit agents in other hosts.
_EFFECTLESS = dict.fromkeys(
    ("tools", "disallowedTools", "permissions", "permission", "permissionMode"),
    "write `readonly: true` for an agent that changes nothing",
)
_CHANGING = ("edit", "delete", "shell", "browser", "generate_image")


def read_agent(source: SourceText, root: Root) -> ReadFile:
    """The role of a file. Empty for another Markdown file in the folder of agents."""
    front = read_front_matter(source, ())
    if front is None:
        return ReadFile(skipped=True)
    if not front.value:
        return read_broken(source, KIND, front.refusals)
    marks = dict(front.marks)
    fields = FieldReader(front.value, (front.start, front.marks), "the agent", front.start)
    fields.refusals += front.refusals
    stem = os.path.basename(source.path).removesuffix(MARKDOWN)
    name = fields.get_text("name") or stem
    fields.subject = f"agent {quote(name)}"
    description, model = fields.get_text("description"), fields.get_text("model")
    if len(convert_to_id(name)) > MAX_NAME_LENGTH:
        fields.refuse("name", f"the name has more than {MAX_NAME_LENGTH} characters", row=row.MALFORMED_ID)
    is_readonly = fields.get_flag(READONLY)
    suppressions = tuple(read_suppressions(front.value, marks, fields.refusals))
    if fields.is_refused:
        return read_broken(source, KIND, fields.refusals)
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
    fields.refusals += find_misspelled(front.value, marks, _FIELDS, "Cursor")
    fields.refusals += find_effectless_fields(front.value, marks, _EFFECTLESS, "Cursor")
    return build_role(source, root, agent, (front.start, marks), fields.refusals)
