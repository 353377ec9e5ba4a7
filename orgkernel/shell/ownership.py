"""Determines the ownership of a path: the task's own, or foreign.

By default, everything below the current directory of a command is own, except for the directory itself and `.git`. If
globs are given, only paths in one of them are own. A path that cannot be located is never own.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final, Literal

import msgspec

from orgkernel.runtime.paths import is_inside
from orgkernel.shell.marks import (
    GLOB,
    HOME,
    MADE,
    MANY,
    ONE,
    PLAIN,
    ROOT,
    TEMPORARY,
    UNKNOWN,
)

Ownership = Literal["own", "foreign", "temporary", "variable", "unclear"]
"""`temporary`: in a directory for temporary files, with an unknown creator. `variable`: the path begins with unknown
text. `unclear`: the path seems to be own, but part of it is unknown."""
_TEMPORARY: Final = ("/tmp", "/var/tmp", "/dev/shm", "/private/tmp")
_WILD: Final = {ord(GLOB): "*", ord(ONE): "?", ord(PLAIN): "*"}
_SINKS: Final = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/")
# A name that only a wildcard of a glob matches.
_ANY_NAME: Final = dict.fromkeys(map(ord, (GLOB, ONE, PLAIN, UNKNOWN, MANY)), "0any0name0")


class Ground(msgspec.Struct, frozen=True):
    """The files that belong to the task."""

    root: str | None = None
    """The absolute path of the directory in which the command runs, if it is known."""
    own: tuple[str, ...] | None = None
    """Globs of files that the task may delete and overwrite. Relative globs start at the root."""


def is_sink(path: str) -> bool:
    """Whether writing to it destroys nothing."""
    return path.startswith(_SINKS)


def join(folder: str, path: str) -> str:
    """A path relative to the root, where `folder` is the current directory."""
    if path[:1] in ("/", HOME, TEMPORARY, ROOT, UNKNOWN, MANY) or not folder:
        return path
    return f"{folder}/{path}"


def classify_owner(path: str, ground: Ground, *, is_elsewhere: bool = False) -> Ownership:
    """The ownership of a path. `is_elsewhere` means another machine or a container, where nothing is own."""
    first = path[:1]
    if first == TEMPORARY:
        return "own" if ".." not in path.split("/") else "foreign"
    if first in (UNKNOWN, MANY, MADE):
        return "variable"
    if first == PLAIN and is_elsewhere:
        return "foreign"
    # Without this, `c:x` would look like a relative path.
    if path[1:2] == ":" and first.isascii() and first.isalpha():
        return "foreign"  # a drive of Windows
    if first == ROOT:
        path = "." + path[1:]
    names, start = _walk(path)
    if start == "" and not is_elsewhere and names[:1] != ["..:"]:
        relative: list[str] | None = names
    else:
        relative = None if is_elsewhere else _below_root(start, names, ground.root)
    if ground.own is not None and not is_elsewhere:
        if _is_stated(start, names, ground):
            return "own" if not _has_unknown(names) else "unclear"
        if relative is not None and _has_unknown(names):
            return "unclear"
    elif relative is not None:
        return _inside(relative)
    if start == "/":
        text = "/" + "/".join(names)
        for folder in _TEMPORARY:
            rest = text.removeprefix(folder + "/")
            # A wildcard directly in the folder reaches the files of every other program.
            if rest != text and rest[:1] not in (GLOB, ONE, UNKNOWN, MANY, "."):
                return "temporary"
    return "foreign"


def _inside(names: list[str]) -> Ownership:
    # The directory itself holds the work of all tasks, and `.git` its history.
    if not names or ".git" in names:
        return "foreign"
    if any(UNKNOWN in name or MANY in name for name in names):
        return "variable" if names[0][0] in (UNKNOWN, MANY) else "unclear"
    # `*` alone takes everything in the directory, which is the directory itself but for its name.
    if all(not name.strip(GLOB + ".") for name in names):
        return "foreign"
    first = names[0]
    # `.*` and `.g?t` expand to `.git` too.
    if first.startswith((".", ONE)) and (GLOB in first or ONE in first) and _may_be(".git", first):
        return "foreign"
    return "own"


def _may_be(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern.translate(_WILD))


def _has_unknown(names: list[str]) -> bool:
    return any(UNKNOWN in name or MANY in name for name in names)


def _walk(path: str) -> tuple[list[str], str]:
    """The names of a path without `.` and `..`, and its start: `/`, a home directory, or nothing. A leading `..`
    leaves the root.
    """
    start = "/" if path[:1] == "/" else HOME if path[:1] == HOME else ""
    names: list[str] = []
    for name in path.lstrip(HOME).split("/"):
        if name == "..":
            if names and names[-1] != "..:":
                # An unknown name can contain slashes or be empty, so `..` behind it can lead anywhere.
                if UNKNOWN in names[-1] or MANY in names[-1]:
                    names = ["..:"]
                else:
                    names.pop()
            elif not start:
                names.append("..:")
        elif name not in ("", "."):
            names.append(name)
    return names, start


def _below_root(start: str, names: list[str], root: str | None) -> list[str] | None:
    if start != "/" or root is None or not root.startswith("/"):
        return None
    above = [name for name in root.split("/") if name]
    return names[len(above) :] if names[: len(above)] == above else None


def _is_stated(start: str, names: list[str], ground: Ground) -> bool:
    """Whether a path is certainly in an owned glob, or is a folder that a glob names. A `*` in the path stands for
    every name.
    """
    if start == HOME or "..:" in names or not names:
        return False
    path = ("/" if start else "") + "/".join(names).translate(_ANY_NAME)
    for glob in ground.own or ():
        folder = glob.removesuffix("/**").rstrip("/")
        if folder and any(is_inside(path, each, ground.root) for each in (glob, folder, f"{folder}/**")):
            return True
    return False
