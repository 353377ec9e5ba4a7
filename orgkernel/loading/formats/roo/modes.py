"""Reads the custom modes of Roo Code: a list of modes, each with groups of tools.

Every mode has the tools that belong to no group, and can start every other mode. A file expression of the group `edit`
limits which files its tools change. Access decisions compare paths with globs and not with regular expressions, so these
tools ask.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import RoleProfile
from orgkernel.loading.documents import read_broken, read_broken_role
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import join_reads, replace_document
from orgkernel.loading.formats.coding_agents import KIND, AgentFile, ToolNames, ToolRule, build_role
from orgkernel.loading.formats.fields import FieldReader
from orgkernel.loading.formats.mappings import read_mapping
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, MCP, convert_to_id
from orgkernel.loading.formats.suppressions import SUPPRESSIONS, read_suppressions
from orgkernel.loading.json_reader import parse_json
from orgkernel.loading.marks import Marks, start_of
from orgkernel.loading.parsed import DocumentProblem, describe
from orgkernel.loading.sources import FileResult
from orgkernel.loading.yaml_reader import parse_foreign_yaml
from orgkernel.runtime.lazy_patterns import lazy_pattern

_MODES, _GROUPS, _FILES = "customModes", "groups", "fileRegex"
_SLUG = lazy_pattern(r"[a-zA-Z0-9-]+")
_SENTENCE = lazy_pattern(r"(?s).{0,300}?(?:[.!?](?=\s|$)|(?=\n|$))|.{300}")
# Source: `modeConfigSchema` and `TOOL_GROUPS` of Roo Code 3.36.
_FIELDS = (
    "slug", "name", "roleDefinition", "whenToUse", "description", "customInstructions", _GROUPS, "source", "iconName", "rulesFiles",
    SUPPRESSIONS,
)  # fmt: skip
_OF_GROUPS = {
    "read": ("read_file", "fetch_instructions", "search_files", "list_files", "list_code_definition_names", "codebase_search"),
    "edit": (
        "write_to_file", "apply_diff", "apply_patch", "edit_file", "insert_content", "search_and_replace", "search_replace", "generate_image",
    ),
    "browser": ("browser_action",),
    "command": ("execute_command", "read_command_output"),
    "mcp": ("use_mcp_tool", "access_mcp_resource", f"{MCP}*"),
}  # fmt: skip
_EVERYWHERE = "modes"
_ALWAYS = (
    "new_task", "switch_mode", "ask_followup_question", "attempt_completion", "update_todo_list", "run_slash_command", "skill",
)  # fmt: skip
NAMES = ToolNames(
    server_prefix="",
    groups={**_OF_GROUPS, _EVERYWHERE: _ALWAYS},
    starter="new_task",
    command_tool="execute_command",
)


def read_modes(source: SourceText, root: Root) -> FileResult:
    """The roles of a file. A mode that cannot be read does not take the others with it."""
    mapping = read_mapping(source, parse_json if source.text.lstrip().startswith("{") else parse_foreign_yaml)
    if mapping.problems:
        return read_broken(source, KIND, list(mapping.problems))
    fields = FieldReader(mapping.value, (mapping.start, mapping.marks), "the file", mapping.start)
    if not fields.value.get(_MODES):
        fields.get_words(_MODES)  # refuses a value that is not a list
        return read_broken(source, KIND, fields.problems) if fields.is_refused else FileResult(skipped=True)
    modes = fields.get_only_mappings(_MODES, "slug")
    if fields.problems:
        return read_broken(source, KIND, fields.problems)
    return join_reads(
        _read_mode(source, root, FieldReader(item, marks, "the mode"), number)
        for number, (item, marks) in enumerate(modes, 1)
    )


def _read_mode(source: SourceText, root: Root, fields: FieldReader, number: int) -> FileResult:
    """The documents of one mode, or its problems."""
    slug = fields.get_text("slug", needed=True)
    if slug:
        fields.subject = f"mode {quote(slug)}"
        if not _SLUG.fullmatch(slug):
            fields.refuse("slug", f"Roo Code refuses the slug {quote(slug)}", "write letters, digits and `-`")
    if len(convert_to_id(slug)) > MAX_NAME_LENGTH:
        fields.refuse("slug", f"the slug has more than {MAX_NAME_LENGTH} characters", row=row.MALFORMED_ID)
    name = fields.get_text("name", needed=True)
    definition = fields.get_text("roleDefinition", needed=True)
    texts = [text for key in ("description", "whenToUse") if (text := fields.get_text(key))]
    more = fields.get_text("customInstructions")
    marks = dict(fields.marks)
    rules = [ToolRule("allow", _EVERYWHERE, fields.at), *_read_groups(fields)]
    suppressions = tuple(read_suppressions(dict(fields.value), marks, fields.problems))
    fields.report_unknown(_FIELDS, "Roo Code", only_misspelled=True)
    if fields.is_refused:
        role_id = convert_to_id(slug)[:MAX_NAME_LENGTH] or f"mode-{number}"
        return read_broken_role(source, role_id, fields.problems)
    agent = AgentFile(
        name=slug,
        name_marks=marks["slug"],
        description=" ".join(texts) or _SENTENCE.match(definition)[0],  # type: ignore[index]  # it matches every text
        rules=rules,
        has_every_tool=False,
        body="\n\n".join(each for each in (definition, more) if each),
        body_mark=fields.start("roleDefinition"),
        suppressions=suppressions,
    )
    described = next(key for key in ("description", "whenToUse", "roleDefinition") if key in marks)
    marks["description"] = marks[described]
    read = build_role(source, root, agent, (fields.at, marks), fields.problems)
    role = read.documents[0]
    record = role.record
    assert isinstance(record, RoleProfile)
    at, below = role.marks
    named = replace_document(
        role, replace(record, role_name=name), (at, {**below, "role_name": marks["name"]})
    )
    return FileResult((named, *read.documents[1:]), (), read.diagnostics)


def _read_groups(fields: FieldReader) -> Iterator[ToolRule]:
    """The groups of tools of a mode, by name or as a pair of the name and its limits."""
    written = fields.value.get(_GROUPS)
    if written is None:
        fields.get_text(_GROUPS, needed=True)
    if not isinstance(written, tuple):
        fields.get_words(_GROUPS)
        return
    for item, at in zip(written, fields.marks[_GROUPS][1][1], strict=True):
        limits: dict[str, Any] = {}
        below: Marks = at
        group, mark = item, start_of(at)
        if isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], dict):
            group, limits, below = item[0], item[1], at[1][1]
        if not isinstance(group, str) or group not in _OF_GROUPS:
            what = quote(group) if isinstance(group, str) else describe(group)
            known = ", ".join(map(quote, _OF_GROUPS))
            text = f"{fields.subject} has the group {what}, and the groups of Roo Code are {known}"
            fields.problems.append(DocumentProblem(row.INVALID_VALUE, mark, text))
            continue
        yield ToolRule("allow", group, mark)
        files = limits.get(_FILES)
        if not files:
            continue
        place = start_of(below[1][_FILES][1])
        if group == "edit":
            yield ToolRule("deny", group, place, f"files that do not match {files}")
        else:
            text = f"{quote(_FILES)} limits only the group `edit`, so it has no effect for {quote(group)}"
            fields.problems.append(
                DocumentProblem(row.EFFECTLESS_PERMISSION, place, text, f"remove {quote(_FILES)}")
            )
