"""What a request states about the part of a tool that it is about: paths and shell commands.

Paths are in its resource, and in the arguments that the tool declares for paths. Commands are in those for commands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from orgkernel.runtime.commands import may_begin_with, read_words
from orgkernel.runtime.paths import is_inside, may_touch


class StatedPaths(NamedTuple):
    """The paths of one request. A call that states several is as good as the worst of them."""

    texts: tuple[str | None, ...]
    """Each path; None for one that was stated in a form nobody can read."""
    root: str | None
    """Where relative paths start, if the organization says so."""
    is_named: bool
    """Whether the resource names one: then the path is part of the question, else of the circumstances."""

    def are_inside(self, globs: Iterable[str]) -> bool:
        """Whether each of them surely lies in one of some globs."""
        globs = tuple(globs)
        return all(
            path is not None and any(is_inside(path, glob, self.root) for glob in globs)
            for path in self.texts
        )

    def may_touch(self, glob: str) -> bool:
        """Whether one of them may be in a glob, or contain it."""
        return any(path is None or may_touch(path, glob, self.root) for path in self.texts)


class StatedCommands(NamedTuple):
    """The shell commands of one request. A call that states several is as good as the worst of them."""

    read: tuple[tuple[str, ...] | None, ...]
    """The words of each command; None for one that nobody can read wholly."""

    def may_begin(self, beginning: str) -> bool:
        """Whether one of them, or a command in it, may begin with some words."""
        return any(may_begin_with(words, beginning) for words in self.read)


class StatedParts(NamedTuple):
    """The paths and the commands of one request; None where it states none."""

    paths: StatedPaths | None
    commands: StatedCommands | None


ELSEWHERE: Final = StatedPaths((), None, False)
"""Paths outside of every part."""
NOTHING_RUN: Final = StatedCommands(())
"""Commands outside of every part."""


def read_stated_commands(
    arguments: tuple[str, ...], given: Mapping[str, Any] | None
) -> StatedCommands | None:
    """The commands in the input. An input without any of the declared arguments leaves open what the tool runs."""
    if given is None or not arguments:
        return None
    texts = [text for name in arguments if name in given for text in _iterate_texts(given[name])] or [None]
    return StatedCommands(tuple(None if text is None else read_words(text) for text in dict.fromkeys(texts)))


def read_stated_paths(
    named: str | None, arguments: tuple[str, ...], given: Mapping[str, Any] | None, root: str | None
) -> StatedPaths | None:
    """The paths that a resource names and those in the input; None where there are none.

    An input without any of the declared arguments leaves open what the tool opens.
    """
    texts: list[str | None] = [] if named is None else [named]
    if arguments and given is not None:
        input_texts = [text for name in arguments if name in given for text in _iterate_texts(given[name])]
        texts += input_texts or [None]
    return StatedPaths(tuple(dict.fromkeys(texts)), root, named is not None) if texts else None


def _iterate_texts(value: Any) -> Iterable[str | None]:
    if isinstance(value, list | tuple):
        return [each if isinstance(each, str) else None for each in value] or [None]
    return [value if isinstance(value, str) else None]
