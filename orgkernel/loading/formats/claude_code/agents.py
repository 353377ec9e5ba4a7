"""Reads a subagent: a Markdown file whose front matter becomes a role, and whose text becomes the role's standing
orders.

`whole` resolves the words of the front matter, because it has all declared tools. The original values are kept next
to the record, at the routes at which they are written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import (
    Capabilities,
    ChainOfCommand,
    Doctrine,
    Requirements,
    RoleProfile,
    StandingOrder,
)
from orgkernel.loading.documents import build_diagnostic, read_broken
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import add_tools, read_as
from orgkernel.loading.formats.claude_code.beginnings import begins_like_agent, can_be_agent
from orgkernel.loading.formats.claude_code.effectless import (
    find_effectless_in_agent,
    find_unknown_mode,
    list_effectless_fields,
)
from orgkernel.loading.formats.claude_code.parts import get_whole_tool
from orgkernel.loading.formats.equipment import select_plain_tools
from orgkernel.loading.formats.front_matter import (
    CLAUDE_CODE,
    FrontMatter,
    find_misspelled,
    find_other_types,
    is_text,
    read_front_matter,
)
from orgkernel.loading.formats.host_fields import pack_host_fields
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, convert_to_id
from orgkernel.loading.formats.servers import TARGETS, list_targets
from orgkernel.loading.formats.suppressions import SUPPRESSIONS, read_suppressions
from orgkernel.loading.formats.words import read_words
from orgkernel.loading.marks import Marks, pack_mark, start_of
from orgkernel.loading.parsed import DocumentProblem, describe
from orgkernel.loading.sources import FileResult

KIND = "role_profile"
_FIRST = pack_mark(1, 1)
_FIELDS = (
    "name", "description", "tools", "disallowedTools", "model", "permissionMode", "maxTurns", "skills", "mcpServers",
    "hooks", "memory", "background", "effort", "initialPrompt", "isolation", "color",
)  # fmt: skip
# Fields that no decision depends on, or that only this host enforces.
_OF_THE_HOST = (
    "permissionMode", "skills", "mcpServers", "hooks", "memory", "background", "effort", "initialPrompt", "isolation", "color",
)  # fmt: skip
_TOOL_LISTS = ("tools", "disallowedTools")
_LISTS = (*_TOOL_LISTS, "skills")
_SAME_MODEL = ("inherit", "")
_INTERVAL = Doctrine().salute_interval_turns
_MAX_TURNS = 9_999
_HEAD = 64 * 1024


def read_agent(source: SourceText, root: Root, *, is_certain: bool = True) -> FileResult:
    """The role and the orders of an agent. Empty for another Markdown file in the folder of agents.

    If it is not certain that the file is an agent, it must begin like one.
    """
    if not is_certain and not _is_agent(source):
        return FileResult(skipped=True)
    front = read_front_matter(source, _LISTS, _FIELDS, CLAUDE_CODE)
    if front is None:
        return FileResult(skipped=True)
    if not front.value:
        return read_broken(source, KIND, front.problems)
    return _read_role(source, root, front)


def _is_agent(source: SourceText) -> bool:
    return can_be_agent(os.path.basename(source.path)) and begins_like_agent(source.text.encode()[:_HEAD])


def _read_role(source: SourceText, root: Root, front: FrontMatter) -> FileResult:
    """Build the role and the standing orders from the front matter and text of a subagent."""
    value, marks, problems = front.value, front.marks, front.problems
    problems += _find_name_problems(front)
    if any(each.is_error for each in problems):
        return read_broken(source, KIND, problems)
    name = value["name"].strip()
    role_id = convert_to_id(name)
    if len(role_id) > MAX_NAME_LENGTH:
        text = f"the name has more than {MAX_NAME_LENGTH} characters"
        return read_broken(
            source, KIND, [*problems, DocumentProblem(row.MALFORMED_ID, start_of(marks["name"][1]), text)]
        )
    others = {key: each for key, each in value.items() if key not in list_effectless_fields()}
    problems += find_misspelled(others, marks, _FIELDS, "Claude Code")
    problems += find_effectless_in_agent(value, marks)
    raw: dict[str, list[str]] = pack_host_fields(value, _OF_THE_HOST)
    for key in _LISTS:
        if key in value:
            words = list(read_words(key, value[key], marks[key][1], problems, has_spaces=key in _TOOL_LISTS))
            raw[key] = [get_whole_tool(word) for word, _ in words]
            marks[key] = (marks[key][0], (start_of(marks[key][1]), [mark for _, mark in words]))
    if isinstance(value.get("permissionMode"), str):
        raw["permissionMode"] = [value["permissionMode"]]
        mode_mark = start_of(marks["permissionMode"][1])
        problems += find_unknown_mode("permissionMode", value["permissionMode"], mode_mark)
    if servers := _collect_own_servers(value.get("mcpServers")):
        raw |= {"mcpServers": list(servers), TARGETS: list_targets(servers)}
    tools, at = select_plain_tools(raw.get("tools", ()), marks["tools"][1][1] if "tools" in raw else ())
    denied = tuple(raw.get("disallowedTools", ()))
    model = value.get("model", "")
    has_model = "model" in value and is_text(model, start_of(marks["model"][1]), CLAUDE_CODE.host)
    turns = _read_turns(value, marks, problems)
    record = RoleProfile(
        role_id=role_id,
        role_name=name,
        description=value["description"].strip(),
        chain_of_command=ChainOfCommand(reports_to="user"),
        capabilities=Capabilities(tools_primary=tools),
        requirements=Requirements(preferred_model=model if has_model and model not in _SAME_MODEL else None),
        doctrine=Doctrine()
        if turns is None
        else Doctrine(max_turns_without_progress=turns, salute_interval_turns=min(_INTERVAL, turns)),
        does_not_have=denied,
        suppressions=tuple(read_suppressions(value, marks, problems)),
    )
    named = marks["name"]
    below = {**marks, "role_id": named, "role_name": named}
    if denied:
        below["does_not_have"] = marks["disallowedTools"]
    if SUPPRESSIONS in marks:
        below["suppressions"] = marks[SUPPRESSIONS]
    if "model" in marks:
        below["requirements"] = (marks["model"][0], (marks["model"][0], {"preferred_model": marks["model"]}))
    if turns is not None:
        inner = {"max_turns_without_progress": marks["maxTurns"]}
        below["doctrine"] = (marks["maxTurns"][0], (marks["maxTurns"][0], inner))
    role_marks = add_tools((front.start, below), at)
    documents = [read_as(source, root, KIND, record, role_marks, raw)]
    if front.body.strip():
        order = StandingOrder(audience="role", target=role_id, body=front.body)
        order_marks = (front.start, {"body": (front.body_mark, front.body_mark)})
        documents.append(read_as(source, root, "standing_order", order, order_marks))
    return FileResult(tuple(documents), (), tuple(build_diagnostic(source, each) for each in problems))


def _find_name_problems(front: FrontMatter) -> Iterator[DocumentProblem]:
    """What keeps Claude Code, or orgkernel, from loading the agent: its name and its description."""
    value, marks = front.value, front.marks
    for key in ("name", "description"):
        if not isinstance(value.get(key, ""), str):
            text = f"the field {quote(key)} is {describe(value[key])}, not a string"
            yield DocumentProblem(row.WRONG_TYPE, start_of(marks[key][1]), text)
        elif not value.get(key, "").strip():
            mark = marks[key][0] if key in marks else front.start
            text = f"the agent has no {quote(key)}"
            yield DocumentProblem(row.MISSING_FIELD, mark, text, f"add `{key}:` to the front matter")
    name = value.get("name")
    if name:
        yield from find_other_types(value, marks, ("name",), CLAUDE_CODE.host)
    if isinstance(name, str) and ":" in name:
        text = f"the name {quote(name.strip())} has a colon, so Claude Code does not load the agent"
        yield DocumentProblem(row.MALFORMED_ID, start_of(marks["name"][1]), text)


def _read_turns(
    value: dict[str, Any], marks: dict[str, tuple[int, Marks]], problems: list[DocumentProblem]
) -> int | None:
    written = value.get("maxTurns")
    if written is None:
        return None
    if (
        isinstance(written, str)
        and written.isascii()
        and written.isdigit()
        and 0 < int(written[:6]) <= _MAX_TURNS
    ):
        return int(written[:6])
    value_text = quote(written) if isinstance(written, str) else describe(written)
    text = f"`maxTurns` is {value_text}, not a number from 1 to {_MAX_TURNS:,}"
    problems.append(DocumentProblem(row.OUT_OF_RANGE, start_of(marks["maxTurns"][1]), text))
    return None


def _collect_own_servers(value: Any) -> dict[str, Any]:
    """The MCP servers that an agent declares for itself. A name alone refers to a server that is declared elsewhere."""
    mappings = (
        [value] if isinstance(value, dict) else [each for each in value or () if isinstance(each, dict)]
    )
    return {name: server for each in mappings for name, server in each.items()}
