"""Commands that go around the hooks, or change what decides: `git commit --no-verify`, `orgkernel ownership install-hooks`.

The reader of shell commands finds the programs. A command that builds its words while it runs is reported by the reader.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from orgkernel.project.hooks.command_options import GIT_VALUE_OPTIONS, has_operator_option
from orgkernel.runtime.lazy_patterns import lazy_pattern

_HOOKED: Final = ("commit", "push", "merge", "am", "rebase", "cherry-pick", "revert", "pull")
_COMMIT_VALUES: Final = "mFcCtuS"
"""Letters of options of `git commit` that take the rest of the word as a value."""
_WITHOUT_HOOKS: Final = (
    "commit-tree",
    "update-ref",
    "fast-import",
    "symbolic-ref",
    "send-pack",
    "receive-pack",
)
_SETTINGS: Final = lazy_pattern(r"(?i)core\.hookspath|alias\.|include(if)?\.")
_VARIABLES: Final = lazy_pattern(
    r"\b(HUSKY|HUSKY_SKIP_HOOKS|HUSKY_SKIP_INSTALL|SKIP|PRE_COMMIT_ALLOW_NO_CONFIG|LEFTHOOK|GIT_CONFIG(_\w+)?|GIT_DIR|GIT_EXEC_PATH|GIT_TEMPLATE_DIR|HOME|XDG_CONFIG_HOME)="
)
_OPERATING: Final = (
    "key", "grant", "restriction", "request", "store", "host", "agent", "crew", "org", "upgrade", "ownership install-hooks", "ownership verify-push",
    "audit accept", "audit prune", "audit rotate-key", "lock break", "claim transfer", "gateway accept", "skill proposals", "salute drop",
)  # fmt: skip
"""Commands of orgkernel with which a worker would act as an operator."""
_OPERATING_OPTIONS: Final = ("check --fix", "check --write-baseline")
"""The same for options of commands that otherwise read."""
_READING: Final = ("list", "show", "info", "verify")
_HELP: Final = ("--help", "-h")
_MANAGERS: Final = ("pre-commit", "husky", "lefthook")
_REMOVING: Final = ("uninstall", "install", "autoupdate", "migrate-config", "init", "set", "add")


def find_bypasses(command: str, programs: Iterable[Sequence[str]]) -> Iterator[str]:
    """What a command does around the hooks, as the beginning of a sentence. `programs` are the words of each program that it runs."""
    if "git" in command and (match := _VARIABLES.search(command)):
        yield f"the variable `{match[1]}` turns hooks of git off or changes its settings"
    for words in programs:
        name, rest = os.path.basename(words[0]), [*words[1:]]
        if name == "git":
            yield from _find_in_git(rest)
        elif name.startswith("git-"):  # a part of git, in its folder of programs
            yield from _find_in_git([name.removeprefix("git-"), *rest])
        elif name == "orgkernel":
            is_reading = _is_help(rest) or (rest[1:2] or [""])[0] in _READING
            if not is_reading and (operating := _find_operating(rest)):
                yield f"`orgkernel {operating}` is a command of an operator"
            elif has_operator_option(rest, ("ownership audit --record",)):
                yield "`orgkernel ownership audit --record` is recorded by the sender of the work"
        elif name in _MANAGERS and rest[:1] and rest[0] in _REMOVING:
            yield f"`{name} {rest[0]}` changes which hooks run"


def _is_help(rest: Sequence[str]) -> bool:
    """Whether a command only prints its help. Behind an option the word can be its value, as in `--reason --help`."""
    group, action, third = (*rest[:3], "", "", "")[:3]
    return group in _HELP or action in _HELP or (third in _HELP and not action.startswith("-"))


def _find_operating(rest: Sequence[str]) -> str:
    group = " ".join([each for each in rest if not each.startswith("-")][:2])
    is_operating = any(group == each or group.startswith(f"{each} ") for each in _OPERATING)
    return group if is_operating or has_operator_option(rest, _OPERATING_OPTIONS) else ""


def _find_in_git(words: list[str]) -> Iterator[str]:
    number = 0
    while number < len(words) and words[number].startswith("-"):
        option, value = words[number], words[number + 1] if number + 1 < len(words) else ""
        if option in ("-c", "--config-env") or option.startswith(("-c", "--config-env=")):
            text = value if option in ("-c", "--config-env") else option
            if _SETTINGS.search(text):
                yield f"`git {option}` changes which hooks run"
        number += 2 if option in GIT_VALUE_OPTIONS else 1
    if number >= len(words):
        return
    verb, rest = words[number], words[number + 1 :]
    if verb in _HOOKED and any(_does_skip(verb, each) for each in _before_operands(rest)):
        yield f"`git {verb} --no-verify` leaves the hooks out"
    elif verb in _WITHOUT_HOOKS:
        yield f"`git {verb}` runs no hooks"
    elif verb == "config" and any(_SETTINGS.search(each) for each in rest) and _does_write_setting(rest):
        yield "`git config` changes which hooks run"


def _before_operands(words: Sequence[str]) -> Sequence[str]:
    """The words before `--`, behind which no option follows."""
    return words[: words.index("--")] if "--" in words else words


def _does_skip(verb: str, word: str) -> bool:
    # Git takes every beginning of an option that no other option has.
    if len(word) > len("--no-v") - 1 and "--no-verify".startswith(word):
        return True
    if verb != "commit" or word.startswith("--") or not word.startswith("-"):
        return False
    for letter in word[1:]:
        if letter == "n":
            return True
        if letter in _COMMIT_VALUES:
            return False
    return False


def _does_write_setting(words: Sequence[str]) -> bool:
    operands = [each for each in words if not each.startswith("-")]
    reads = any(each in ("--get", "--get-all", "--list", "-l", "get", "list") for each in words)
    return not reads and (
        len(operands) > 1 or any(each.startswith(("--unset", "--add", "--replace")) for each in words)
    )
