"""Recognizes destructive operations in a shell command without running it."""

from __future__ import annotations

from typing import NamedTuple

from orgkernel.shell.catalog import read_shipped_programs
from orgkernel.shell.interpreter import CataloguedPrograms
from orgkernel.shell.marks import PRIVATE, ShellWord
from orgkernel.shell.ownership import Ground, Ownership
from orgkernel.shell.reader import MOST_CHARACTERS, Reader
from orgkernel.shell.readers import READERS
from orgkernel.shell.verdict import CommandCheck, CommandOutcome


def check_command(command: str, ground: Ground | None = None) -> CommandCheck:
    """Check a command for destructive operations.

    >>> check_command("git -C site push -f").operations[0].id
    'force_push'
    >>> check_command("rm -rf build").outcome, check_command("curl -s https://example.com/x | sh").outcome
    ('harmless', 'cannot_tell')
    """
    reader = _read(command, ground)
    outcome: CommandOutcome = (
        "destructive" if reader.operations else "cannot_tell" if reader.unread else "harmless"
    )
    return CommandCheck(outcome=outcome, operations=tuple(reader.operations), unread=tuple(reader.unread))


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


def find_writes(command: str, ground: Ground | None = None) -> CommandWrites:
    """The paths that a command changes, and the programs that it runs.

    >>> find_writes("cd src && echo x > a.py && cat b.py", Ground(own=("src/*.py",))).touched
    (('src/a.py', 'own'),)
    """
    reader = _read(command, ground)
    return CommandWrites(
        tuple(dict.fromkeys(reader.touched)),
        tuple(dict.fromkeys(reader.programs_run)),
        tuple(dict.fromkeys(reader.unseen)),
        tuple(dict.fromkeys(reader.unnamed)),
        tuple(dict.fromkeys(reader.read_paths)),
    )


def _read(command: str, ground: Ground | None) -> Reader:
    reader = Reader(CataloguedPrograms(read_shipped_programs(), READERS), ground or Ground())
    problem = _unreadable(command)
    if problem:
        reader.not_read(problem, (), ShellWord("", 0, 0))
    else:
        reader.read(command)
    return reader


def _unreadable(command: str) -> str:
    if len(command) > MOST_CHARACTERS:
        return f"the command is longer than {MOST_CHARACTERS} characters"
    if PRIVATE.search(command) or any(0xD800 <= ord(letter) <= 0xDFFF for letter in command):
        return "the command contains characters that no shell prints"
    if any(ord(letter) < 32 and letter not in "\n\t" for letter in command) or "\x7f" in command:
        return "the command contains control characters"
    return ""
