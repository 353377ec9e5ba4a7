"""Reads an agent of OpenCode: a Markdown file with front matter, or an entry of the configuration with the same fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import ToolCatalog
from orgkernel.loading.documents import read_broken, read_broken_role
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import add_words, read_as
from orgkernel.loading.formats.coding_agents import (
    EFFECTS,
    EVERY,
    KIND,
    AgentFile,
    ToolEffect,
    ToolNames,
    ToolRule,
    build_role,
)
from orgkernel.loading.formats.front_matter import (
    OPENCODE,
    FrontMatter,
    find_misspelled,
    find_other_types,
    read_front_matter,
)
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, convert_to_id
from orgkernel.loading.formats.opencode.layout import get_agent_name, is_mode
from orgkernel.loading.formats.suppressions import read_suppressions
from orgkernel.loading.marks import Marks, start_of
from orgkernel.loading.parsed import DocumentProblem, describe
from orgkernel.loading.sources import FileResult

DISABLED, ENABLED, OWN_RULES = "disabled_agents", "enabled", "own_rules"
"""Keys of words: the names of disabled agents, whether an agent states that it is enabled, and the number of its own rules."""
TOOLS, PERMISSION, MODE, DISABLE, STARTER = "tools", "permission", "mode", "disable", "task"
_MODES = ("primary", "subagent", "all")
EDIT = "edit"
"""The permission for every tool that changes files."""
_EDITING = ("edit", "write", "patch", "multiedit", "apply_patch")
NAMES = ToolNames(
    server_prefix="",
    groups={},
    starter=STARTER,
    command_tool="bash",
    rule_names=dict.fromkeys(_EDITING, EDIT),
)
_FIELDS = (
    "name", "version", "description", "model", "variant", "prompt", "temperature", "top_p", "color", "steps", "maxSteps", "hidden",
    "options", "request", "system", DISABLE, "disabled", MODE, TOOLS, PERMISSION, "permissions",
)  # fmt: skip
# Permissions that are about circumstances, and not about a tool.
_CIRCUMSTANCES = frozenset({"external_directory", "doom_loop"})


def read_agent(source: SourceText, root: Root) -> FileResult:
    """The role of a Markdown file. Empty for a file without an agent, and for a disabled agent."""
    front = read_front_matter(source, (), ending=OPENCODE)
    if front is None:
        return FileResult(skipped=True)
    if not front.value:
        return read_broken(source, KIND, front.problems)
    written = front.value.get("name")
    if isinstance(written, str) and written.strip():
        name, name_marks = written.strip(), front.marks["name"]
    else:
        name, name_marks = get_agent_name(source.path), (front.start, front.start)
    texts = ("description", "model", MODE, "prompt")
    front.problems.extend(find_other_types(front.value, front.marks, texts, OPENCODE.host))
    if is_disabled(front.value):
        # The name is kept in an empty catalog, because an agent that is disabled here can be defined elsewhere.
        empty = ToolCatalog(tools={})
        marks = (front.start, {DISABLED: name_marks})
        return FileResult((read_as(source, root, "tool_catalog", empty, marks, {DISABLED: [name]}),))
    is_primary = is_mode(source.path)
    return read_entry(source, root, front, name, name_marks, is_primary=is_primary)


def is_disabled(value: Mapping[str, Any]) -> bool:
    """Whether an agent is disabled."""
    return _is_true(value.get(DISABLE)) or _is_true(value.get("disabled"))


def read_entry(
    source: SourceText,
    root: Root,
    front: FrontMatter,
    name: str,
    name_marks: tuple[int, Marks],
    *,
    is_primary: bool = False,
) -> FileResult:
    """The role of one agent with its fields. `is_primary` is for a mode, which is an agent that no other one starts."""
    value, marks, problems = front.value, dict(front.marks), list(front.problems)
    for key in ("description", "model", MODE):
        if not isinstance(value.get(key, ""), str):
            text = f"the field {quote(key)} is {describe(value[key])}, not a string"
            problems.append(DocumentProblem(row.WRONG_TYPE, start_of(marks[key][1]), text))
    if not convert_to_id(name) or len(convert_to_id(name)) > MAX_NAME_LENGTH:
        text = f"the name has more than {MAX_NAME_LENGTH} characters"
        problems.append(DocumentProblem(row.MALFORMED_ID, start_of(name_marks[1]), text, "rename the file"))
    mode = "primary" if is_primary else value.get(MODE, "all")
    if isinstance(mode, str) and mode not in _MODES:
        text = f"the field `{MODE}` is {quote(mode)}, not {', '.join(map(quote, _MODES))}"
        problems.append(DocumentProblem(row.UNKNOWN_VALUE, start_of(marks[MODE][1]), text))
    rules = [*read_rules(value, marks, problems)]
    suppressions = tuple(read_suppressions(value, marks, problems))
    if any(each.is_error for each in problems):
        return read_broken_role(source, convert_to_id(name)[:MAX_NAME_LENGTH], problems)
    problems += find_misspelled(value, marks, _FIELDS, "OpenCode")
    prompt = value.get("prompt")
    in_file = isinstance(prompt, str) and prompt.startswith("{file:")
    # In the configuration, the prompt is a field. `{file:…}` is a reference, and not the instructions themselves.
    body, body_mark = front.body, front.body_mark
    if not body.strip() and isinstance(prompt, str) and not in_file:
        body, body_mark = prompt, start_of(marks["prompt"][1])
    agent = AgentFile(
        name=name,
        name_marks=name_marks,
        description=value.get("description", "").strip(),
        rules=[*rules, *list_implied_rules(mode, rules, front.start)],
        has_every_tool=True,
        is_started=mode != "primary",
        model=value.get("model", "").strip(),
        model_mark=start_of(marks["model"][1]) if "model" in marks else 0,
        body=body,
        body_mark=body_mark,
        suppressions=suppressions,
    )
    read = build_role(source, root, agent, (front.start, marks), problems)
    words = {OWN_RULES: [str(len(rules))], **({MODE: [mode]} if MODE in value or is_primary else {})}
    if DISABLE in value or "disabled" in value:
        words[ENABLED] = ["true"]
    role, *orders = read.documents
    return replace(read, documents=(add_words(role, words), *orders))


def list_implied_rules(mode: str, rules: Sequence[ToolRule], mark: int) -> list[ToolRule]:
    """The rule that OpenCode adds: a subagent starts other agents only if its permissions mention it."""
    is_mentioned = any(each.tool == STARTER for each in rules)
    return [ToolRule("deny", STARTER, mark)] if mode == "subagent" and not is_mentioned else []


def read_rules(
    value: Mapping[str, Any], marks: Mapping[str, tuple[int, Marks]], problems: list[DocumentProblem]
) -> Iterator[ToolRule]:
    """The rules of `tools` and `permission`. The latter win. An effect that cannot be read denies."""
    tools = value.get(TOOLS)
    if isinstance(tools, Mapping):
        for tool, written in tools.items():
            mark = start_of(marks[TOOLS][1][1][tool][1])
            if not _is_true(written) and written not in (False, "false"):
                text = f"{quote(tool)} is {_show(written)}, not `true` or `false`, so the tool is denied"
                problems.append(DocumentProblem(row.UNKNOWN_VALUE, mark, text))
            named = EDIT if tool in _EDITING else tool
            yield ToolRule("allow" if _is_true(written) else "deny", named, mark)
    elif tools is not None:
        text = f"`{TOOLS}` is {describe(tools)}, not a mapping"
        help = "write `TOOL: true` or `TOOL: false` for each tool"
        problems.append(DocumentProblem(row.WRONG_TYPE, start_of(marks[TOOLS][1]), text, help))
    for key in (PERMISSION, "permissions"):
        if key in value:
            yield from _read_permission(value[key], marks[key][1], problems)


def _read_permission(written: Any, marks: Marks, problems: list[DocumentProblem]) -> Iterator[ToolRule]:
    if isinstance(written, tuple):
        yield from _read_rule_list(written, marks, problems)
    elif isinstance(written, Mapping):
        for tool, effects in written.items():
            at = marks[1][tool][1]
            if tool in _CIRCUMSTANCES:
                continue
            if tool in _EDITING and tool != EDIT:
                text = f"OpenCode has no permission {quote(tool)}, so it has no effect"
                help = f"write `{EDIT}`, which applies to every tool that changes files"
                problems.append(DocumentProblem(row.EFFECTLESS_PERMISSION, marks[1][tool][0], text, help))
                continue
            if isinstance(effects, Mapping):
                for part, effect in effects.items():
                    mark = start_of(at[1][part][1])
                    yield ToolRule(_read_effect(effect, mark, problems), tool, mark, part)
            else:
                yield ToolRule(_read_effect(effects, start_of(at), problems), tool, start_of(at))
    else:
        yield ToolRule(_read_effect(written, start_of(marks), problems), EVERY, start_of(marks))


def _read_rule_list(written: Any, marks: Marks, problems: list[DocumentProblem]) -> Iterator[ToolRule]:
    """The rules of the newer form: a list of `{action, resource, effect}`."""
    for item, at in zip(written, marks[1], strict=True):
        action = item.get("action", EVERY) if isinstance(item, Mapping) else None
        resource = item.get("resource", EVERY) if isinstance(item, Mapping) else None
        if not isinstance(action, str) or not isinstance(resource, str):
            text = f"a rule of `{PERMISSION}` does not name an action, so every tool is denied"
            problems.append(
                DocumentProblem(row.WRONG_TYPE, start_of(at), text, "write `action`, `resource` and `effect`")
            )
            yield ToolRule("deny", EVERY, start_of(at))
        elif action not in _CIRCUMSTANCES:
            yield ToolRule(
                _read_effect(item.get("effect"), start_of(at), problems), action, start_of(at), resource
            )


def _read_effect(written: Any, mark: int, problems: list[DocumentProblem]) -> ToolEffect:
    for effect in EFFECTS:
        if written == effect:
            return effect
    names = ", ".join(map(quote, EFFECTS))
    text = f"the permission is {_show(written)}, not {names}, so it denies"
    problems.append(DocumentProblem(row.UNKNOWN_VALUE, mark, text))
    return "deny"


def _show(written: Any) -> str:
    return quote(written) if isinstance(written, str) else describe(written)


def _is_true(written: Any) -> bool:
    return written in (True, "true")
