"""Recognizes permission rules and modes of Claude Code that look like protection and never match.

The rules are applied here all the same: what orgkernel denies, it denies. The findings say that the host does not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.loading.formats.claude_code.host_table import read_host_table
from orgkernel.loading.formats.front_matter import find_effectless_fields
from orgkernel.loading.marks import Marks, start_of
from orgkernel.loading.parsed import DocumentProblem

_RULE = re.compile(r"([A-Za-z]+)\((.*)\)\Z", re.DOTALL)
_OF_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|.*\\[A-Za-z0-9_]")


def find_effectless(rules: Mapping[str, Any], marks: Marks) -> Iterator[DocumentProblem]:
    """What has no effect in the host under `permissions` of a settings file."""
    table = read_host_table()
    for key in rules:
        if key not in table["permission_keys"]:
            text = f"the key {quote(key)} under `permissions` is unknown to Claude Code, so it has no effect"
            help = did_you_mean(key, table["permission_keys"]) or "remove it"
            yield DocumentProblem(row.EFFECTLESS_PERMISSION, marks[1][key][0], text, help)
    if isinstance(rules.get("defaultMode"), str):
        yield from find_unknown_mode(
            "defaultMode", rules["defaultMode"], start_of(marks[1]["defaultMode"][1])
        )
    for effect in ("deny", "ask", "allow"):
        listed = rules.get(effect)
        for word, mark in (
            zip(listed, marks[1][effect][1][1], strict=True) if isinstance(listed, tuple) else ()
        ):
            if isinstance(word, str) and (problem := _find_problem(effect, word.strip())):
                text = f"the rule {quote(word.strip())} under `{effect}` never applies in Claude Code: {problem[0]}"
                yield DocumentProblem(row.EFFECTLESS_PERMISSION, start_of(mark), text, problem[1])


def find_unknown_mode(field: str, mode: str, mark: int) -> Iterator[DocumentProblem]:
    """A permission mode that the host does not know."""
    modes = read_host_table()["modes"]
    if mode.strip() not in modes:
        text = (
            f"the mode {quote(mode.strip())} of {quote(field)} is unknown to Claude Code, so it has no effect"
        )
        help = did_you_mean(mode.strip(), modes) or f"write one of {', '.join(map(quote, modes))}"
        yield DocumentProblem(row.EFFECTLESS_PERMISSION, mark, text, help)


def list_effectless_fields() -> tuple[str, ...]:
    """The fields of agents that look like limits and that the host ignores."""
    return tuple(read_host_table()["effectless_fields"])


def find_effectless_in_agent(
    value: Mapping[str, Any], marks: Mapping[str, tuple[int, Marks]]
) -> Iterator[DocumentProblem]:
    """The fields of an agent that look like limits and that the host ignores, and its unreliable hooks."""
    if "hooks" in value:
        yield from find_unreliable_hooks(value["hooks"], marks["hooks"][1])
    yield from find_effectless_fields(value, marks, read_host_table()["effectless_fields"], "Claude Code")


def find_unreliable_hooks(hooks: Any, marks: Marks) -> Iterator[DocumentProblem]:
    """The hooks whose command names its program by a relative path, which counts from the folder where the session currently works.

    A hook that cannot be started blocks nothing.
    """
    if not isinstance(hooks, dict):
        return
    for event, matchers in hooks.items():
        for matcher, at in _list_items(matchers, marks[1][event][1]):
            for hook, place in _list_items(matcher.get("hooks"), at[1].get("hooks", (0, 0))[1]):
                command = hook.get("command")
                if isinstance(command, str) and (path := _find_relative_path(command)):
                    text = f"the hook runs {quote(path)}, and a relative path counts from the folder where the session currently works"
                    help = f'write `"$CLAUDE_PROJECT_DIR"/{path.removeprefix("./")}`; a hook that is not found blocks nothing'
                    yield DocumentProblem(
                        row.EFFECTLESS_PERMISSION, start_of(place[1]["command"][1]), text, help
                    )


def _list_items(listed: Any, marks: Marks) -> Iterator[tuple[dict[str, Any], Marks]]:
    if isinstance(listed, tuple):
        yield from (
            (item, mark) for item, mark in zip(listed, marks[1], strict=True) if isinstance(item, dict)
        )


def _find_relative_path(command: str) -> str:
    """The relative path of the script that a command runs: its first word, or the first operand of an interpreter."""
    words = command.split()
    if words and os.path.basename(words[0]) in _INTERPRETERS:
        words = [each for each in words[1:] if not each.startswith("-")]
    path = words[0].strip("\"'") if words else ""
    return path if "/" in path and path[:1] not in "/~$%" and "://" not in path and "=" not in path else ""


_INTERPRETERS = frozenset(
    {"bash", "sh", "zsh", "node", "python", "python3", "bun", "deno", "ruby", "npx", "uv", "uvx"}
)


def _find_problem(effect: str, word: str) -> tuple[str, str] | None:
    if effect == "allow" and word.startswith("mcp__") and word.split("__", 2)[1].strip("*") == "":
        return "it names no server", "name the server, such as `mcp__github`"
    match = _RULE.match(word)
    if match is None or effect == "allow":
        return None
    tool, path = match[1], match[2]
    for instead, tools in read_host_table()["path_rules"].items():
        if tool in tools:
            return f"paths are compared only in rules for `{instead}`", f"write {quote(f'{instead}({path})')}"
        if tool == instead and _OF_WINDOWS.match(path):
            plain = path.replace("\\", "/")
            drive = re.match(r"([A-Za-z]):/+(.*)", plain)
            better = f"//{drive[1].lower()}/{drive[2]}" if drive else plain
            return "paths have forward slashes, even on Windows", f"write {quote(f'{tool}({better})')}"
    return None
