"""Recognizes destructive operations in a shell command without running it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.shell.catalog import CommandPrograms, read_shipped_programs
from orgkernel.shell.interpreter import CatalogedPrograms
from orgkernel.shell.marks import PRIVATE, ShellWord
from orgkernel.shell.ownership import Ground, Ownership
from orgkernel.shell.reader import MAX_CHARACTERS, Reader
from orgkernel.shell.readers import READERS
from orgkernel.shell.verdict import (
    CommandCheck,
    CommandOutcome,
    DestructiveOperation,
    ProgramReading,
    UnreadPart,
)

_HERE_DOCUMENT: Final = lazy_pattern(r"<<(-?)[ \t]*[\\'\"]?([\w.+-]+)")
_QUOTED_SUBSCRIPT: Final = lazy_pattern(r"'[^'\n]*[A-Za-z_]\w*\[[^'\]]*(?:\$\(|`)")


def check_command(
    command: str, ground: Ground | None = None, programs: CommandPrograms | None = None
) -> CommandCheck:
    """Check a command for destructive operations. `programs` are by default those of the shipped catalog.

    >>> check_command("git -C site push -f").operations[0].id
    'force_push'
    >>> check_command("rm -rf build").outcome, check_command("curl -s https://example.com/x | sh").outcome
    ('harmless', 'cannot_tell')
    """
    return _build_check(read_command(command, ground, programs))


def _build_check(reader: Reader) -> CommandCheck:
    return CommandCheck(
        outcome=_judge(reader), operations=tuple(reader.operations), unread=tuple(reader.unread)
    )


class CommandExplanation(msgspec.Struct, frozen=True, kw_only=True):
    """How a command is read: each program with its entry in the command catalog, and what its words are taken for."""

    outcome: CommandOutcome
    programs: tuple[ProgramReading, ...]
    operations: tuple[DestructiveOperation, ...] = ()
    unread: tuple[UnreadPart, ...] = ()


def explain_command(
    command: str, ground: Ground | None = None, programs: CommandPrograms | None = None
) -> CommandExplanation:
    """Explain how a command is read.

    >>> explain_command("git push --force").programs[0].entry
    'git push'
    """
    reader = read_command(command, ground, programs)
    return CommandExplanation(
        outcome=_judge(reader),
        programs=tuple(dict.fromkeys(reader.readings)),
        operations=tuple(reader.operations),
        unread=tuple(reader.unread),
    )


def _judge(reader: Reader) -> CommandOutcome:
    return "destructive" if reader.operations else "cannot_tell" if reader.unread else "harmless"


class CommandWrites(NamedTuple):
    """The changes that a command makes on this machine, as far as they can be determined."""

    touched: tuple[tuple[str, Ownership], ...]
    """Paths with their ownership. Parts of a path can be unknown."""
    programs: tuple[tuple[str, ...], ...]
    """The words of each program that the command runs."""
    unseen: tuple[str, ...] = ()
    """The programs that change files which their words do not name."""
    unnamed: tuple[str, ...] = ()
    """The files that the programs change, although their words do not name them."""
    read: tuple[str, ...] = ()
    """Paths that the programs read."""
    opened: tuple[str, ...] = ()
    """Paths whose content the command may print, copy or send: what its words name, unless the catalog says otherwise."""
    opened_trees: tuple[str, ...] = ()
    """Folders of which it may do that with all files."""


def find_writes(
    command: str, ground: Ground | None = None, programs: CommandPrograms | None = None
) -> CommandWrites:
    """The paths that a command changes, and the programs that it runs.

    >>> find_writes("cd src && echo x > a.py && cat b.py", Ground(own=("src/*.py",))).touched
    (('src/a.py', 'own'),)
    """
    return _build_writes(read_command(command, ground, programs))


def check_writes(
    command: str, ground: Ground | None = None, programs: CommandPrograms | None = None
) -> tuple[CommandWrites, CommandCheck]:
    """What `find_writes` and `check_command` return, from one reading."""
    reader = read_command(command, ground, programs)
    return _build_writes(reader), _build_check(reader)


def _build_writes(reader: Reader) -> CommandWrites:
    return CommandWrites(
        tuple(dict.fromkeys(reader.touched)),
        tuple(dict.fromkeys(reader.programs_run)),
        tuple(dict.fromkeys(reader.unseen)),
        tuple(dict.fromkeys(reader.unnamed)),
        tuple(dict.fromkeys(reader.read_paths)),
        tuple(dict.fromkeys(reader.opened)),
        tuple(dict.fromkeys(reader.opened_trees)),
    )


def read_command(command: str, ground: Ground | None, programs: CommandPrograms | None) -> Reader:
    """Read a command as a shell would run it, without running it."""
    table = CatalogedPrograms(programs or read_shipped_programs(), READERS)
    reader = Reader(table, ground or Ground())
    problem = _unreadable(command)
    if problem:
        reader.not_read(problem, (), ShellWord("", 0, 0))
    else:
        reader.read(command)
        for doubt in _list_doubts(command):
            reader.not_read(doubt, (), ShellWord("", 0, 0))
    return reader


def _list_doubts(command: str) -> Iterator[str]:
    """What the grammar reads otherwise than a shell does."""
    lines = command.split("\n") if "<<" in command else []
    delimiters = {(each[1], each[2]) for each in _HERE_DOCUMENT.finditer(command)} if lines else set()
    for number, line in enumerate(lines):
        is_joined = number > 0 and lines[number - 1].endswith("\\")
        if any(
            (line.lstrip("\t") if dash else line) != delimiter or is_joined
            for dash, delimiter in delimiters
            if line.strip() == delimiter
        ):
            yield "cannot determine where a here-document ends"
            break
    if _QUOTED_SUBSCRIPT.search(command):
        yield "cannot determine what the shell computes in a quoted subscript"


def _unreadable(command: str) -> str:
    if len(command) > MAX_CHARACTERS:
        return f"the command is longer than {MAX_CHARACTERS} characters"
    if PRIVATE.search(command) or any(0xD800 <= ord(letter) <= 0xDFFF for letter in command):
        return "the command contains characters that no shell prints"
    if any(ord(letter) < 32 and letter not in "\n\t" for letter in command) or "\x7f" in command:
        return "the command contains control characters"
    return ""
