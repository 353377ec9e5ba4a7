"""Rules about a part of a tool that can be said exactly: the files of some paths, as `Read(./.env)` and `Edit(docs/**)` name them,
and the commands that begin with some words, as `Bash(git push:*)` names them.

A rule is relative to the folder in which Claude Code runs, which may be any folder of the project, or, with a `/` in
front, to the folder of the settings, which may mean the project or its `.claude`. Where more than one place may be
meant, all of them are.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from orgkernel.runtime.lazy_patterns import lazy_pattern

EDITING: Final = ("Edit", "MultiEdit", "Write", "NotebookEdit")
"""The tools that one rule about editing is about."""
READING: Final = ("Read", "NotebookRead", "Grep", "Glob", "LS")
"""The tools that a rule about `Read` is about, besides those that edit: who may not read a file does not write it."""
_TOOLS: Final = {"Read": (*READING, *EDITING), **dict.fromkeys(EDITING, EDITING)}
FILE_TOOLS: Final = frozenset(_TOOLS)
"""The tools whose rules name files."""
_RULE: Final = lazy_pattern(r"([A-Za-z]+)\((.*)\)\Z", re.DOTALL)
# Names of plain characters and stars. A `!`, `#`, bracket, brace, backslash or space means something to one program only.
_PATTERN: Final = lazy_pattern(r"(\./|/)?((?:[A-Za-z0-9_.@+=,*?-]+/)*[A-Za-z0-9_.@+=,*?-]+)/?\Z")
_ANYWHERE: Final = "**"
_SETTINGS: Final = ".claude"
COMMAND_TOOL: Final = "Bash"
"""The tool whose rules name commands. Those of PowerShell are read by other rules."""
# Words that a shell takes as they are, and what may come after them. A star elsewhere stands for a part of a word.
_BEGINNING: Final = lazy_pattern(r"([A-Za-z0-9_./:@%+,=~-]+(?: [A-Za-z0-9_./:@%+,=~-]+)*?)(?::\*| \*)?\Z")
_MOST_CHARACTERS: Final = 200


class ToolPart(NamedTuple):
    """A part of tools of Claude Code: that of some paths, or of some commands."""

    tools: tuple[str, ...]
    paths: tuple[str, ...] = ()
    """Globs, relative to the project."""
    commands: tuple[str, ...] = ()
    """Beginnings."""


def parse_tool_part(word: str) -> ToolPart | None:
    """The part that a rule is about; None where it is about a whole tool, or about a part that cannot be said exactly.

    >>> part_of("Edit(/docs/*.md)").paths, part_of("Read(./.env)").paths, part_of("Read(secrets/)").paths
    (('docs/*.md', '.claude/docs/*.md'), ('**/.env',), ('**/secrets',))
    >>> part_of("Bash(git push:*)").commands, part_of("Bash(npm test)").commands
    (('git push',), ('npm test',))
    >>> part_of("Read"), part_of("Read(~/.ssh/**)"), part_of("Read(//etc/**)"), part_of("Bash(ls*)")
    (None, None, None, None)
    """
    match = _RULE.match(word)
    if match is not None and match[1] == COMMAND_TOOL:
        beginning = _BEGINNING.match(match[2])
        if beginning is None or len(beginning[1]) > _MOST_CHARACTERS:
            return None
        return ToolPart((COMMAND_TOOL,), commands=(beginning[1],))
    tools = _TOOLS.get(match[1]) if match is not None else None
    paths = _parse_paths(match[2]) if match is not None and tools is not None else ()
    return ToolPart(tools, paths) if tools and paths else None


def _parse_paths(pattern: str) -> tuple[str, ...]:
    """The globs of the files that a pattern is about; none where not all of it is understood."""
    match = _PATTERN.match(pattern)
    if match is None:
        return ()
    names = match[2].split("/")
    if any(not _is_plain(name) for name in names) or not any(name.strip("*?") for name in names):
        return ()
    path = "/".join(names)
    if names[0] == _ANYWHERE:
        return (path,)
    return (path, f"{_SETTINGS}/{path}") if match[1] == "/" else (f"{_ANYWHERE}/{path}",)


def _is_plain(name: str) -> bool:
    """Whether a name is one of a folder or file, or a glob of such that means the same to everybody."""
    return bool(name.strip(".")) and (name == _ANYWHERE or _ANYWHERE not in name)
