"""Reads one file of a profile: its description (`agent.yaml`, `agent.json`, `_context.md`), its prompt, or its tool
policy.

The name of a profile is the name of its folder, which is also the argument of `call_subordinate`.
"""

from __future__ import annotations

import os
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import ChainOfCommand, RoleProfile, StandingOrder, ToolCatalog
from orgkernel.loading.documents import build_diagnostic, read_broken
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.agent_zero.layout import CONTEXT, PROMPTS, get_profile_name
from orgkernel.loading.formats.building import read_as
from orgkernel.loading.formats.mappings import read_mapping
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, convert_to_id
from orgkernel.loading.formats.suppressions import SUPPRESSIONS, read_suppressions
from orgkernel.loading.json_reader import parse_json
from orgkernel.loading.marks import Marks, pack_mark, start_of
from orgkernel.loading.parsed import DocumentProblem, describe
from orgkernel.loading.sources import FileResult
from orgkernel.loading.yaml_reader import parse_yaml

KIND = "role_profile"
_FIRST = pack_mark(1, 1)
_TEXTS = ("title", "description", "context")
_CHOICES = {"mode": ("inherit", "custom"), "default": ("allow", "block"), "mcp_default": ("allow", "block")}


def read_file(source: SourceText, root: Root) -> FileResult:
    """Read one file of a profile."""
    name = os.path.basename(source.path)
    kind = "standing_order" if name in PROMPTS else "tool_catalog" if name == "config.json" else KIND
    if source.problem is not None:
        return read_broken(source, kind, [source.problem])
    role_id = convert_to_id(get_profile_name(source.path))
    if len(role_id) > MAX_NAME_LENGTH:
        text = f"the name of the profile has more than {MAX_NAME_LENGTH} characters"
        return read_broken(source, kind, [DocumentProblem(row.MALFORMED_ID, _FIRST, text)])
    if name in PROMPTS:
        return _read_prompt(source, root, role_id)
    if name == "config.json":
        return _read_policy(source, root, role_id)
    return _read_about(source, root, role_id)


def _read_prompt(source: SourceText, root: Root, role_id: str) -> FileResult:
    if not source.text.strip():
        return FileResult(skipped=True)
    order = StandingOrder(audience="role", target=role_id, body=source.text)
    marks = (_FIRST, {"body": (_FIRST, _FIRST), "target": (_FIRST, _FIRST)})
    return FileResult((read_as(source, root, "standing_order", order, marks),))


def _read_about(source: SourceText, root: Root, role_id: str) -> FileResult:
    name = get_profile_name(source.path)
    if source.path.endswith(CONTEXT):
        record = _build_role(role_id, name, source.text.strip())
        below: dict[str, tuple[int, Marks]] = dict.fromkeys(
            ("description", "role_id", "role_name"), (_FIRST, _FIRST)
        )
        return FileResult((read_as(source, root, KIND, record, (_FIRST, below)),))
    mapping = read_mapping(source, parse_json if source.path.endswith(".json") else _parse_yaml)
    if mapping.problems:
        return read_broken(source, KIND, list(mapping.problems))
    value, marks, problems = mapping.value, dict(mapping.marks), list[DocumentProblem]()
    for key in _TEXTS:
        if not isinstance(value.get(key, ""), str):
            text = f"the field {quote(key)} is {describe(value[key])}, not a string"
            problems.append(DocumentProblem(row.WRONG_TYPE, start_of(marks[key][1]), text))
    if problems:
        return read_broken(source, KIND, problems)
    title, description, context = (value.get(key, "").strip() for key in _TEXTS)
    # `description` states its purpose, and `context` when to choose it. Both are used to choose a profile.
    described = description if context in description else f"{description} {context}".strip()
    suppressions = tuple(read_suppressions(value, marks, problems))
    record = _build_role(role_id, title or name, described, suppressions)
    start = (mapping.start, mapping.start)
    below = {"role_name": marks.get("title", start), "role_id": start}
    if described:
        below["description"] = marks["description" if description else "context"]
    if SUPPRESSIONS in marks:
        below["suppressions"] = marks[SUPPRESSIONS]
    document = read_as(source, root, KIND, record, (mapping.start, {**marks, **below}))
    return FileResult((document,), (), tuple(build_diagnostic(source, each) for each in problems))


def _parse_yaml(text: str) -> Any:
    return parse_yaml(text, as_text=True, merges=True)


def _build_role(role_id: str, name: str, description: str, suppressions: Any = ()) -> RoleProfile:
    return RoleProfile(
        role_id=role_id,
        role_name=name,
        description=description,
        chain_of_command=ChainOfCommand(reports_to="user"),
        suppressions=suppressions,
    )


def _read_policy(source: SourceText, root: Root, role_id: str) -> FileResult:
    """The tool policy of a profile, as a document without tools. `whole` interprets its words."""
    mapping = read_mapping(source, parse_json)
    problems = list(mapping.problems)
    raw: dict[str, Any] = {"profile": role_id}
    for key, choices in _CHOICES.items():
        written = mapping.value.get(key)
        if written in choices:
            raw[key] = written
        elif written is not None:
            value_text = quote(written) if isinstance(written, str) else describe(written)
            text = f"{quote(key)} is {value_text}, not `{choices[0]}` or `{choices[1]}`"
            problems.append(DocumentProblem(row.UNKNOWN_VALUE, start_of(mapping.marks[key][1]), text))
            raw[key] = choices[-1]
    for key in ("allowed", "blocked"):
        listed = mapping.value.get(key, ())
        if isinstance(listed, tuple) and all(isinstance(each, str) for each in listed):
            raw[key] = list(listed)
        else:
            text = f"{quote(key)} is not a list of names"
            problems.append(DocumentProblem(row.WRONG_TYPE, start_of(mapping.marks[key][1]), text))
            raw |= {"mode": "custom", "default": "block", "mcp_default": "block", key: []}
    if mapping.problems:
        raw |= {"mode": "custom", "default": "block", "mcp_default": "block"}
    marks = (mapping.start, mapping.marks)
    document = read_as(source, root, "tool_catalog", ToolCatalog(), marks, raw)
    return FileResult((document,), (), tuple(build_diagnostic(source, each) for each in problems))
