r"""Exact paths of files in a project, as plans and claims write them.

A path is relative to the root of the project. Separators, `.` and double slashes are normalized. Names are compared
as the most tolerant file system does: case-insensitive, with accents in one Unicode form. Two paths overlap if they are
equal or one is a folder above the other. This can report a false conflict but never misses a real one. Callers with
access to the disk resolve links first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.runtime.paths import MAX_CHARACTERS, MAX_NAMES, fold

Key = tuple[str, ...]
"""The names of a path as they are compared."""
_DRIVE_OR_SCHEME: Final = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]*:")


class ProjectPath(NamedTuple):
    """A path below the root of a project."""

    names: tuple[str, ...]
    """The names as they are written."""
    key: Key

    def __str__(self) -> str:
        return "/".join(self.names)


class BadPath(NamedTuple):
    """The reason why a text is not the path of a file in the project."""

    problem: str
    """The end of a sentence about the path, such as `leaves the project`."""


def read_file_path(text: str) -> ProjectPath | BadPath:
    r"""The path of one file below the root.

    >>> str(read_file_path("src//./app\\main.py")), read_file_path("src/../../etc")
    ('src/app/main.py', BadPath(problem='leaves the project'))
    >>> read_file_path("src/*.py").problem, read_file_path("src/").problem
    ('is a glob', 'is a folder')
    """
    path = text.replace("\\", "/")
    if not path.strip():
        return BadPath("is empty")
    if path != path.strip() or not path.isprintable() or len(path) > MAX_CHARACTERS:
        return BadPath("cannot be compared")
    if path.startswith("!"):
        return BadPath("is negated")
    # On any system: a plan is written on one machine and followed on another.
    if path.startswith(("/", "~")) or _DRIVE_OR_SCHEME.match(path):
        return BadPath("is outside the project")
    names: list[str] = []
    for name in path.split("/"):
        if name == "..":
            if not names:
                return BadPath("leaves the project")
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    if not names:
        return BadPath("is the whole project")
    if path.endswith(("/", "/.", "/..")):
        return BadPath("is a folder")
    if "*" in path or "?" in path:
        return BadPath("is a glob")
    # Folding can turn a character into a separator or an empty string, so the folded names are checked again.
    key = tuple(map(fold, names))
    if len(names) > MAX_NAMES or any(not name or "/" in name or "\\" in name for name in key):
        return BadPath("cannot be compared")
    return ProjectPath(tuple(names), key)


def do_keys_overlap(one: Key, other: Key) -> bool:
    """Whether two paths are equal or one is a folder above the other.

    >>> do_keys_overlap(("src",), ("src", "a.py")), do_keys_overlap(("src",), ("src2",))
    (True, False)
    """
    common = min(len(one), len(other))
    return one[:common] == other[:common]


def find_first_overlap(one: Iterable[Key], other: Iterable[Key]) -> tuple[Key, Key] | None:
    """The first path of each of two lists that overlap; None if the lists are disjoint."""
    others = tuple(other)
    return next(((mine, each) for mine in one for each in others if do_keys_overlap(mine, each)), None)
