"""Recognize destructive operations in a shell command without running it."""

from __future__ import annotations

from orgkernel.decisions.shell_commands.marks import PRIVATE, ShellWord
from orgkernel.decisions.shell_commands.ownership import Ground, Ownership
from orgkernel.decisions.shell_commands.programs import PROGRAMS
from orgkernel.decisions.shell_commands.reader import MOST_CHARACTERS, Reader
from orgkernel.decisions.shell_commands.verdict import CommandCheck, CommandOutcome


def check_command(command: str, ground: Ground | None = None) -> CommandCheck:
    """What a command would destroy, as far as that can be seen.

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


def find_touched(command: str, ground: Ground | None = None) -> list[tuple[str, Ownership]]:
    """The paths that a command changes, as far as that can be seen, and whose they are. Parts may not be known.

    >>> find_touched("cd src && echo x > a.py && cat b.py", Ground(own=("src/*.py",)))
    [('src/a.py', 'own')]
    """
    return list(dict.fromkeys(_read(command, ground).touched))


def _read(command: str, ground: Ground | None) -> Reader:
    reader = Reader(PROGRAMS, ground or Ground())
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
