"""Reads the programs that a command runs from the command catalog, for rules about commands.

`orgkernel.runtime.commands` compares a command with a rule by its text. What it cannot read by its text alone (shells, code,
commands that are built while they run) is read here as a shell runs it. Whatever stays unread counts for every rule.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from orgkernel.runtime.commands import UNKNOWN_WORD, SimpleCommand, read_words
from orgkernel.shell.catalog import CommandPrograms, read_shipped_programs
from orgkernel.shell.check import read_command
from orgkernel.shell.marks import is_known, shown
from orgkernel.shell.verdict import UnreadPart

_MAX_LENGTH = 60


class CommandRun(NamedTuple):
    """The programs that a command runs."""

    commands: tuple[SimpleCommand, ...] | None
    """The programs with their words; None if the command could run others."""
    unread: str = ""
    """What cannot be read, as a sentence about a word, with the place of the entry in the catalog that says so."""
    known: tuple[SimpleCommand, ...] = ()
    """The programs that it certainly runs, if it could run others."""


@lru_cache(maxsize=512)
def read_run(command: str, programs: CommandPrograms | None = None) -> CommandRun:
    """The programs that a command runs. `programs` are by default those of the shipped catalog.

    >>> [each.words for each in read_run("bash -lc 'ls -la'").commands]
    [('bash', '-lc'), ('ls', '-la')]
    >>> read_run("bash -lc ./deploy").unread
    '`./deploy` cannot be read: cannot determine what this script does'
    """
    # Most commands are plain words, which need no parser.
    commands = read_words(command)
    if commands is not None:
        return CommandRun(commands)
    reader = read_command(command, None, programs)
    run = tuple(dict.fromkeys(reader.programs_run))
    commands = tuple(SimpleCommand(_fold(words), frozenset()) for words in run)
    known = tuple(_keep_known(each) for each in commands)
    if reader.unread:
        return CommandRun(None, _describe(command, reader.unread[0]), known)
    by_program = {tuple(shown(word[:200]) for word in words[:20]) for words in run}
    for each in reader.operations:
        # Code and redirections do more than the programs that they name.
        if each.words not in by_program or _is_code(each.words[0], programs or read_shipped_programs()):
            return CommandRun(None, f"what `{_cut(each.words)}` runs cannot be read", known)
    return CommandRun(commands)


def _is_code(program: str, programs: CommandPrograms) -> bool:
    facts = programs.find(program.rpartition("/")[2])
    return facts is None or facts.get("reader") in ("python", "inline_code")


def _fold(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words as a rule compares them. A text of several words is data, or a command that is listed by itself."""
    folded = (word.casefold() if is_known(word) else UNKNOWN_WORD for word in words)
    return tuple(word for word in folded if len(word.split()) < 2)


def _keep_known(command: SimpleCommand) -> SimpleCommand:
    return SimpleCommand(tuple(word for word in command.words if word != UNKNOWN_WORD), frozenset())


def _describe(command: str, part: UnreadPart) -> str:
    lines = command.split("\n")
    at = part.at
    text = ""
    if at.line == at.end_line and at.line <= len(lines):
        text = lines[at.line - 1][at.column - 1 : at.end_column - 1].strip()
    word = _cut((text,)) or _cut(part.words) or _cut((command,))
    place = f" ({part.entry})" if part.entry else ""
    return f"`{word}` cannot be read: {part.message}{place}"


def _cut(words: tuple[str, ...]) -> str:
    from orgkernel.runtime.secret_shapes import mask_secrets

    text = mask_secrets(" ".join(words)).replace("`", "'")
    text = "".join(each if each.isprintable() else " " for each in text).strip()
    return text if len(text) <= _MAX_LENGTH else f"{text[:_MAX_LENGTH]}…"
