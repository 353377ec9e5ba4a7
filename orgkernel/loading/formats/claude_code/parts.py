"""Rules about part of a tool that orgkernel can express exactly: files of some paths, such as `Read(./.env)` and
`Edit(docs/**)`, commands that begin with some words, such as `Bash(git push:*)`, and pages of one host, such as
`WebFetch(domain:example.com)`.

A rule is relative to the folder in which Claude Code runs, which can be any folder of the project. With a leading
`/`, it is relative to the folder of the settings, which can be the project or its `.claude`. If several places are
possible, the rule covers all of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from orgkernel.documents.records import ArgumentTest
from orgkernel.runtime.lazy_patterns import lazy_pattern

EDITING: Final = ("Edit", "MultiEdit", "Write", "NotebookEdit")
"""The tools that a rule about editing applies to."""
READING: Final = ("Read", "NotebookRead", "Grep", "Glob", "LS")
"""The tools that a rule about `Read` applies to, in addition to the editing tools: an agent that must not read a file
must not write it."""
_TOOLS: Final = {
    **dict.fromkeys(READING, (*READING, *EDITING)),
    **dict.fromkeys(EDITING, EDITING),
}
FILE_TOOLS: Final = frozenset(_TOOLS)
"""The tools whose rules name files."""
_RULE: Final = lazy_pattern(r"([A-Za-z]+)\((.*)\)\Z", re.DOTALL)
# Names of plain characters and stars. A `!`, `#`, bracket, brace, backslash or space means something to one program only.
_PATTERN: Final = lazy_pattern(r"(\./|//|/|~/)?((?:[A-Za-z0-9_.@+=,*?-]+/)*[A-Za-z0-9_.@+=,*?-]+)/?\Z")
_ANYWHERE: Final = "**"
_SETTINGS: Final = ".claude"
# Starts of patterns about the home folder and about absolute paths.
_OUTSIDE: Final = ("~/", "//")
FETCHING_TOOL: Final = "WebFetch"
"""The tool whose rules name hosts. A rule is about one host, without the hosts below it."""
_URL_ARGUMENT: Final = "url"
_DOMAIN: Final = lazy_pattern(r"domain:([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)\Z")
COMMAND_TOOL: Final = "Bash"
"""The tool whose rules name commands. Rules of PowerShell have another syntax."""
# Words that a shell does not change, and the wildcards after them. A star elsewhere stands for part of a word.
_BEGINNING: Final = lazy_pattern(r"([A-Za-z0-9_./:@%+,=~-]+(?: [A-Za-z0-9_./:@%+,=~-]+)*?)(?::\*| \*)?\Z")
_FIRST_WORDS: Final = lazy_pattern(
    r"([A-Za-z0-9_./:@%+,=~-]*[A-Za-z0-9_/](?: [A-Za-z0-9_./:@%+,=~-]*[A-Za-z0-9_/])*?)(?:\*|(?: \*| [|;&<>])(?: .*)?)\Z"
)
_MAX_CHARACTERS: Final = 200


class ToolPart(NamedTuple):
    """A part of tools of Claude Code: some paths, some commands, or some arguments."""

    tools: tuple[str, ...]
    paths: tuple[str, ...] = ()
    """Globs, relative to the project."""
    commands: tuple[str, ...] = ()
    """Command prefixes."""
    is_wider: bool = False
    """Whether the part contains more than the rule is about."""
    input: Mapping[str, ArgumentTest] = MappingProxyType({})
    """Tests of arguments."""


def get_whole_tool(word: str) -> str:
    """The word without a part that stands for all of the tool. Source: https://code.claude.com/docs/en/permissions.

    >>> get_whole_tool("Bash(*)"), get_whole_tool("Bash(ls:*)"), get_whole_tool("Read(*)")
    ('Bash', 'Bash(ls:*)', 'Read(*)')
    """
    return COMMAND_TOOL if word == f"{COMMAND_TOOL}(*)" else word


def parse_tool_part(word: str) -> ToolPart | None:
    """The part that a rule applies to. None for a whole tool, or for a part that cannot be expressed exactly.

    >>> parse_tool_part("Edit(/docs/*.md)").paths, parse_tool_part("Read(./.env)").paths, parse_tool_part("Read(secrets/)").paths
    (('docs/*.md', '.claude/docs/*.md'), ('**/.env',), ('**/secrets',))
    >>> parse_tool_part("Bash(git push:*)").commands, parse_tool_part("Bash(npm test)").commands
    (('git push',), ('npm test',))
    >>> parse_tool_part("Read(~/.ssh/**)").paths, parse_tool_part("Read(//etc/**)").paths, parse_tool_part("Bash(curl * | bash)").commands
    (('~/.ssh/**',), ('//etc/**',), ('curl',))
    >>> parse_tool_part("WebFetch(domain:example.com)").input["url"].host_in
    ('example.com',)
    >>> parse_tool_part("Read"), parse_tool_part("Read(~)"), parse_tool_part("Bash(* install)")
    (None, None, None)
    """
    match = _RULE.match(word)
    host = _DOMAIN.match(match[2]) if match is not None and match[1] == FETCHING_TOOL else None
    if host is not None:
        return ToolPart((FETCHING_TOOL,), input={_URL_ARGUMENT: ArgumentTest(host_in=(host[1],))})
    if match is not None and match[1] == COMMAND_TOOL:
        beginning = _BEGINNING.match(match[2])
        if len(match[2]) > _MAX_CHARACTERS:
            return None
        if beginning is not None:
            return ToolPart((COMMAND_TOOL,), commands=(beginning[1],))
        # What begins with the words before a wildcard or an operator is more than the rule, and less than the tool.
        first = _FIRST_WORDS.match(match[2])
        if first is None:
            return None
        # `rm*` is what begins with these letters, as a prefix is here.
        return ToolPart((COMMAND_TOOL,), commands=(first[1],), is_wider=match[2] != f"{first[1]}*")
    tools = _TOOLS.get(match[1]) if match is not None else None
    paths = _parse_paths(match[2]) if match is not None and tools is not None else ()
    return ToolPart(tools, paths) if tools and paths else None


def _parse_paths(pattern: str) -> tuple[str, ...]:
    """The globs for the files of a pattern. Empty if not all of it is understood."""
    match = _PATTERN.match(pattern)
    if match is None:
        return ()
    names = match[2].split("/")
    if any(not _is_plain(name) for name in names) or not any(name.strip("*?") for name in names):
        return ()
    path = "/".join(names)
    if match[1] in _OUTSIDE:
        return (f"{match[1]}{path}",)
    if names[0] == _ANYWHERE:
        return (path,)
    return (path, f"{_SETTINGS}/{path}") if match[1] == "/" else (f"{_ANYWHERE}/{path}",)


def _is_plain(name: str) -> bool:
    """Whether a name is the name of a file or folder, or a simple glob that every program interprets the same way."""
    return bool(name.strip(".")) and (name == _ANYWHERE or _ANYWHERE not in name)
