"""The paths and shell commands that a request states.

Paths are in its resource and in the arguments that the tool declares as `path_arguments`. Commands are in its
`command_arguments`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from orgkernel.decisions.access.arguments import StatedInput
from orgkernel.runtime.commands import SimpleCommand, list_stated_commands, may_begin_with
from orgkernel.runtime.paths import is_inside, may_touch, read_path

if TYPE_CHECKING:
    from orgkernel.shell.catalog import CommandPrograms


class StatedPaths(NamedTuple):
    """The paths of one request. The least permitted path decides."""

    texts: tuple[str | None, ...]
    """Each path; None for one that cannot be read."""
    root: str | None
    """The folder that relative paths start at, if the organization declares it."""
    is_named: bool
    """Whether the resource names a path. Then the path is part of the question, not of the circumstances."""

    def are_inside(self, globs: Iterable[str]) -> bool:
        """Whether every path is certainly in one of some globs."""
        globs = tuple(globs)
        return all(
            path is not None and any(is_inside(path, glob, self.root) for glob in globs)
            for path in self.texts
        )

    def may_touch(self, glob: str) -> bool:
        """Whether one of the paths could match a glob, or contain files that do."""
        return any(path is None or may_touch(path, glob, self.root) for path in self.texts)

    @property
    def readable(self) -> StatedPaths:
        """Only the paths that can be read."""
        texts = (path for path in self.texts if path is not None and read_path(path, self.root) is not None)
        return self._replace(texts=tuple(texts))


class StatedCommands(NamedTuple):
    """The shell commands of one request. The least permitted command decides."""

    read: tuple[tuple[SimpleCommand, ...] | None, ...]
    """The programs of each command; None for one that could run others."""
    unread: tuple[str, ...] = ()
    """What cannot be read in them."""
    known: tuple[tuple[SimpleCommand, ...], ...] = ()
    """The programs that certainly run in those that could run others."""

    def may_begin(self, beginning: str) -> bool:
        """Whether one of the commands, or a command inside it, could begin with some words."""
        return any(may_begin_with(commands, beginning) for commands in self.read)

    @property
    def readable(self) -> StatedCommands:
        """Only the programs that certainly run."""
        return StatedCommands(tuple(commands for commands in self.read if commands is not None) + self.known)


class StatedParts(NamedTuple):
    """The paths, the commands and the input of one request; None if it states none."""

    paths: StatedPaths | None
    commands: StatedCommands | None
    input: StatedInput | None = None


ELSEWHERE: Final = StatedPaths((), None, False)
"""Paths outside of every part."""
NOTHING_RUN: Final = StatedCommands(())
"""Commands outside of every part."""


def read_stated_commands(
    arguments: tuple[str, ...],
    tool_input: Mapping[str, Any] | None,
    lists: str | None = None,
    programs: CommandPrograms | None = None,
) -> StatedCommands | None:
    """The commands in the input, read with the command catalog. If no declared argument is present, the command is unknown."""
    if tool_input is None or not arguments:
        return None
    texts = list_stated_commands(arguments, tool_input, lists)
    # Most requests state no command, and the catalog takes long to import.
    from orgkernel.shell.running import CommandRun, read_run

    runs = [CommandRun(None) if text is None else read_run(text, programs) for text in texts]
    return StatedCommands(
        tuple(run.commands for run in runs),
        tuple(run.unread for run in runs if run.unread),
        tuple(run.known for run in runs if run.commands is None),
    )


def read_stated_paths(
    named_path: str | None, arguments: tuple[str, ...], tool_input: Mapping[str, Any] | None, root: str | None
) -> StatedPaths | None:
    """The paths in the resource and in the input; None if there are none.

    If no declared argument is present in the input, the path is unknown.
    """
    texts: list[str | None] = [] if named_path is None else [named_path]
    if arguments and tool_input is not None:
        input_texts = [
            text for name in arguments if name in tool_input for text in _iterate_texts(tool_input[name])
        ]
        texts += input_texts or [None]
    return StatedPaths(tuple(dict.fromkeys(texts)), root, named_path is not None) if texts else None


def _iterate_texts(value: Any) -> Iterable[str | None]:
    if isinstance(value, list | tuple):
        return [each if isinstance(each, str) else None for each in value] or [None]
    return [value if isinstance(value, str) else None]
