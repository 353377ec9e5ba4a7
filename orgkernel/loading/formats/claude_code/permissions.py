"""Reads the permission rules of `settings.json`: `deny` and `ask` become policies about tools, for every agent.

`allow` does not grant tools. It only means that the user is not asked. A rule about some files (`Read(./.env)`)
becomes a policy with their paths, a rule about some commands (`Bash(rm:*)`) a policy with their prefixes, and a rule
about a host (`WebFetch(domain:x.example)`) a policy with a test of the URL. A rule about another part of a tool
(`Agent(model:x)`) becomes a policy about the whole tool, because access decisions must not allow more than the rule.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Literal

from msgspec.structs import replace

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import AccessPolicies, Permissions
from orgkernel.loading.documents import build_diagnostic, read_broken
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import read_as, replace_document
from orgkernel.loading.formats.claude_code.effectless import find_effectless, find_unreliable_hooks
from orgkernel.loading.formats.claude_code.parts import get_whole_tool, parse_tool_part
from orgkernel.loading.formats.front_matter import find_misspelled
from orgkernel.loading.formats.mappings import read_mapping
from orgkernel.loading.formats.names import MCP, get_server_tool_id_of
from orgkernel.loading.formats.tool_policies import KIND, ToolPolicy, build_access_policies
from orgkernel.loading.json_reader import parse_json
from orgkernel.loading.marks import Marks, start_of
from orgkernel.loading.parsed import DocumentProblem, describe
from orgkernel.loading.sources import FileResult, SourceDocument

FIELD, _HOOKS = "permissions", "hooks"
EFFECTS: tuple[Literal["deny", "ask"], ...] = ("deny", "ask")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}\Z")
_STARTERS = ("Agent", "Task")


def read_permissions(source: SourceText, root: Root) -> FileResult:
    """The rules of one settings file. Empty for a file without rules."""
    mapping = read_mapping(source, parse_json)
    if mapping.problems:
        return read_broken(source, KIND, list(mapping.problems))
    problems = list(find_misspelled(mapping.value, mapping.marks, (FIELD, _HOOKS), "Claude Code"))
    if _HOOKS in mapping.value:
        problems += find_unreliable_hooks(mapping.value[_HOOKS], mapping.marks[_HOOKS][1])
    if FIELD not in mapping.value:
        diagnostics = tuple(build_diagnostic(source, each) for each in problems)
        return FileResult((), (), diagnostics, skipped=not diagnostics)
    rules, marks = mapping.value[FIELD], mapping.marks[FIELD][1]
    if not isinstance(rules, dict):
        text = f"`{FIELD}` is {describe(rules)}, not a mapping"
        return read_broken(source, KIND, [DocumentProblem(row.WRONG_TYPE, start_of(marks), text)])
    of = "local" if os.path.basename(source.path) == "settings.local.json" else "settings"
    problems += find_effectless(rules, marks)
    policies: list[ToolPolicy] = []
    raw: dict[str, Any] = {}
    for effect in EFFECTS:
        raw[effect] = []
        for word, mark in _read_rules(effect, rules, marks, problems):
            # The number of a rule is its place in the list, so ids stay the same if another rule becomes readable.
            tools = tuple(iterate_rule_tools(word))
            raw[effect].append(word)
            if not tools:
                text = f"the rule {quote(word)} under `{effect}` does not name a tool"
                problems.append(
                    DocumentProblem(row.INVALID_VALUE, mark, text, "write `TOOL` or `TOOL(ARGUMENT)`")
                )
                continue
            policy_id = f"{of}_{effect}_{len(raw[effect])}"
            part = parse_tool_part(word)
            permissions = (
                Permissions(tools=tools)
                if part is None
                else Permissions(
                    tools=part.tools, paths=part.paths, commands=part.commands, input=dict(part.input)
                )
            )
            policies.append(ToolPolicy(policy_id, effect, f"{effect} {word}", permissions, mark))
    if not policies and not problems:
        return FileResult(skipped=True)
    record, below = build_access_policies(policies)
    full = (mapping.start, {"policies": (start_of(marks), (start_of(marks), below)), **marks[1]})
    document = read_as(source, root, KIND, record, full, raw)
    return FileResult((document,), (), tuple(build_diagnostic(source, each) for each in problems))


def restrict_to_known_tools(document: SourceDocument, known: Collection[str]) -> SourceDocument:
    """The policies of a settings file, limited to known tools. Rules without a known tool are omitted."""
    record = document.record
    assert isinstance(record, AccessPolicies)
    policies = {}
    for policy_id, policy in record.policies.items():
        named = policy.named_tools or ()
        tools = named if named == ("*",) else tuple(dict.fromkeys(_find_known(named, known)))
        if tools:
            policies[policy_id] = replace(policy, permissions=replace(policy.permissions, tools=tools))
    return replace_document(document, replace(record, policies=policies), document.marks)


def _find_known(named: Iterable[str], known: Collection[str]) -> Iterator[str]:
    for name in named:
        if name.endswith("*"):
            yield from (each for each in known if each.startswith(name[:-1]))
        elif name in known:
            yield name


def _read_rules(
    effect: str, rules: dict[str, Any], marks: Marks, problems: list[DocumentProblem]
) -> Iterator[tuple[str, int]]:
    listed = rules.get(effect, ())
    if not isinstance(listed, tuple):
        text = f"`{effect}` is {describe(listed)}, not a list"
        problems.append(DocumentProblem(row.WRONG_TYPE, start_of(marks[1][effect][1]), text))
        return
    for item, mark in zip(listed, marks[1][effect][1][1] if effect in rules else (), strict=True):
        if isinstance(item, str):
            yield get_whole_tool(item.strip()), start_of(mark)
        else:
            text = f"`{effect}` lists {describe(item)}, not a string"
            problems.append(DocumentProblem(row.WRONG_TYPE, start_of(mark), text, "write a rule"))


def iterate_rule_tools(word: str) -> Iterator[str]:
    """The tools that a rule applies to, and prefixes that end with a star.

    >>> list(iterate_rule_tools("Bash(rm:*)")), list(iterate_rule_tools("Task")), list(iterate_rule_tools("*"))
    (['Bash'], ['Agent', 'Task'], ['*'])
    >>> list(iterate_rule_tools("mcp__web")), list(iterate_rule_tools("mcp__web__*")), list(iterate_rule_tools("mcp__web__open"))
    (['mcp__web', 'mcp__web__*'], ['mcp__web', 'mcp__web__*'], ['mcp__web', 'mcp__web__open'])
    >>> list(iterate_rule_tools("mcp__*"))
    ['mcp__*']
    """
    name = word.partition("(")[0].strip()
    if name == "*":
        yield name
    elif name in _STARTERS:
        yield from _STARTERS
    elif name == f"{MCP}*":
        yield name
    elif name.startswith(MCP):
        server = str(get_server_tool_id_of(name))
        plain = name.removesuffix("*").removesuffix("__")
        if _NAME.match(server) and _NAME.match(plain):
            # An agent that has the whole server has this tool too, so the rule applies to both names.
            yield server
            yield f"{server}__*" if plain == server else name
    elif _NAME.match(name):
        yield name
