"""Commands with which an agent would act as an operator: of orgkernel, `git config`, and programs that replace or remove orgkernel.

The words and programs are data (`ontology/hosts/claude_code.yaml`), which an activation compiles. A role may use those for which it has a
tool, such as `Bash(orgkernel grant issue:*)`.
"""

from __future__ import annotations

import os

from orgkernel.project.hooks.command_options import GIT_VALUE_OPTIONS, has_operator_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Final

_OWN: Final = "orgkernel"
_HELP: Final = frozenset({"--help", "-h"})
_MODULE_WORDS: Final = frozenset({"import", "from", "__import__", "import_module", "run_module", "-m"})
_CONFIG_VALUES: Final = frozenset({"-f", "--file", "--blob", "--type", "--default", "--url", "--value"})
_CONFIG_READING: Final = frozenset(
    {"--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--get-colorbool", "--list", "-l"}
)
_CONFIG_NEUTRAL: Final = frozenset(
    {"--global", "--system", "--local", "--worktree", "--bool", "--int", "--path", "--null", "-z", "--name-only", "--show-names",
     "--show-origin", "--show-scope", "--includes", "--no-includes", "--bool-or-int", "--expiry-date", "--no-type", "--all", "--regexp", "--fixed-value"}
)  # fmt: skip
_CONFIG_READERS: Final = frozenset({"get", "list"})
_CONFIG_WRITERS: Final = frozenset({"set", "unset", "rename-section", "remove-section", "edit"})


def find_operator_command(
    words: Sequence[str],
    data: dict[str, Any],
    rights: Iterable[Sequence[str]] = (),
    *,
    is_first_only: bool = False,
) -> str:
    """The command of an operator in the words of a command, or an empty string.

    `data` is the activation, and `rights` are beginnings of commands that the role has as tools. With `is_first_only`, only the first word is
    a program.
    """
    for number, word in enumerate(words[:1] if is_first_only else words):
        program = os.path.basename(word)
        rest = words[number + 1 :]
        if program == _OWN:
            if number == 0 and any(list(rest[: len(each) - 1]) == list(each[1:]) for each in rights):
                continue
            if command := _find_own_command(rest, data, is_first=number == 0):
                return command
        elif program == "git" and _does_write_config(rest):
            return "git config"
        elif (
            not is_first_only
            and program.rstrip("0123456789.") in data.get("package_programs", ())
            and _names_package(rest, data)
        ):
            return f"{program} with `{_OWN}`"
    if is_first_only:
        return ""
    if not _MODULE_WORDS.isdisjoint(words):
        modules = data.get("operator_modules", ())
        for word in words:
            if any(word.strip("\"',;") == each or word.startswith(f"{each}.") for each in modules):
                return f"import {word}"
    return ""


def is_harmless(words: Sequence[str], data: dict[str, Any]) -> bool:
    """Whether a command of orgkernel changes nothing of an operator's."""
    return not _find_own_command(words, data, is_first=True)


def _find_own_command(rest: Sequence[str], data: dict[str, Any], *, is_first: bool) -> str:
    known: dict[str, list[str]] = data.get("own_commands", {})
    harmless = data.get("harmless_commands", ())
    group, action, third = (*rest[:3], "", "", "")[:3]
    if not group or group in _HELP or group == "--version":
        return ""
    if group not in known:
        # In another place than the first, the word can be a folder or an argument, such as in `pytest tests/orgkernel src`.
        return (
            f"{_OWN} {group}"
            if is_first or not known or (group.startswith("-") and _names_own(rest, known))
            else ""
        )
    if has_operator_option(rest, data.get("operator_options", ())):
        return " ".join((_OWN, *rest[:2]))
    below = known[group]
    if action in _HELP or (action in below and (third in _HELP or f"{group} {action}" in harmless)):
        return ""
    if group in harmless or (not action and below):
        return ""
    if " ".join((group, action, third)) in harmless:
        return ""
    return f"{_OWN} {group} {action}".rstrip() if action in below else f"{_OWN} {group}"


def _names_own(rest: Sequence[str], known: Iterable[str]) -> bool:
    return any(each in known for each in rest)


def _does_write_config(rest: Sequence[str]) -> bool:
    """Whether `git` with these words is `git config` that writes."""
    words = list(rest)
    while words and words[0].startswith("-"):
        del words[: 2 if words[0] in GIT_VALUE_OPTIONS else 1]  # `--git-dir=.git` is one word
    if not words or words[0] != "config":
        return False
    operands: list[str] = []
    reads = False
    rest = words[1:]
    at = 0
    while at < len(rest):
        word = rest[at]
        if word in _CONFIG_READING:
            reads = True
        elif word in _CONFIG_VALUES:
            at += 1
        elif word.startswith("-") and word not in _CONFIG_NEUTRAL:
            return True
        elif not word.startswith("-"):
            operands.append(word)
        at += 1
    if any("$" in each for each in operands):
        return True
    if operands and operands[0] in _CONFIG_WRITERS:
        return True
    return not reads and len(operands) > 1 and operands[0] not in _CONFIG_READERS


def _names_package(rest: Sequence[str], data: dict[str, Any]) -> bool:
    """Whether a program for packages changes that of orgkernel."""
    if set(data.get("package_words", ())).isdisjoint(rest):
        return False
    return any(
        part.removeprefix("@").startswith(_OWN)
        for word in rest
        for part in word.lower().replace("+", "/").split("/")
    )
