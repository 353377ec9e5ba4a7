"""Decide whether two paths or globs could match one file. The answer can be a false conflict, but never misses a real
one.

- Two paths overlap if they are equal or one is a folder above the other.
- A path and a glob overlap if the glob matches the path, a folder above it or something below it.
- Two globs overlap if they could match one file, or if one matches a folder above a file of the other.
- A glob without a slash matches at any depth, as git reads it.
- A glob with other wildcards than `*`, `?`, `[…]` and `**`, or with other letters than those of ASCII, overlaps unless its
  fixed beginning leads to another folder.
- A path that cannot be parsed overlaps with everything.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from orgkernel.decisions.ownership.glob_intersection import do_globs_intersect, read_simple_glob
from orgkernel.decisions.ownership.paths import BadPath, Key, do_keys_overlap, read_file_path
from orgkernel.runtime.paths import ANYWHERE, is_comparable_glob, may_globs_meet, may_touch

_WILD: Final = frozenset("*?[")


class OwnedPath(NamedTuple):
    """A path or a glob below the root of a project."""

    text: str
    """The normalized text: slashes, no `.` and no double slashes."""
    key: Key | None
    """The names of an exact path as they are compared; None for a glob."""
    literal: Key
    """The names as they are compared if no character is a wildcard, because `[id]` could be the name of a folder."""


@lru_cache(maxsize=4096)
def read_owned_path(text: str) -> OwnedPath | BadPath:
    r"""A path of a file or a folder, or a glob.

    >>> read_owned_path("src\\.//a.py").text, read_owned_path("src/").key, read_owned_path("src/*.py").key
    ('src/a.py', ('src',), None)
    >>> read_owned_path("../a").problem, read_owned_path("!a").problem
    ('leaves the project', 'is negated')
    """
    path = text.replace("\\", "/")
    # Every name is checked like a file name, with a harmless character in place of wildcards.
    plain = path.rstrip("/") if path.strip("/") else path
    read = read_file_path(plain.replace("*", "0").replace("?", "0"))
    if isinstance(read, BadPath):
        return read
    if ".." in plain.split("/") and not _WILD.isdisjoint(plain):
        # `**/..` could lead anywhere.
        return BadPath("cannot be compared")
    if _WILD.isdisjoint(plain):
        return OwnedPath(str(read), read.key, read.key)
    names = [name for name in plain.split("/") if name not in ("", ".")]
    return OwnedPath("/".join(names), None, read.key)


def explain_unreadable(text: str) -> str:
    """The reason why a path or a glob cannot be compared with others, as the end of a sentence; empty if it can.

    >>> explain_unreadable("src/*.py"), explain_unreadable("src/{a,b}*"), explain_unreadable("~/a")
    ('', 'uses wildcards that cannot be compared', 'is outside the project')
    """
    owned = read_owned_path(text)
    if isinstance(owned, BadPath):
        return owned.problem
    is_readable = owned.key is not None or is_comparable_glob(owned.text)
    return "" if is_readable else "uses wildcards that cannot be compared"


def do_owned_paths_overlap(one: str, other: str) -> bool:
    """Whether two paths or globs could match one file.

    >>> do_owned_paths_overlap("src/**", "SRC/a.py"), do_owned_paths_overlap("src/*.py", "src/a.md"), do_owned_paths_overlap("src/*.py", "src/*.md")
    (True, False, False)
    """
    return do_parsed_paths_overlap(read_owned_path(one), read_owned_path(other))


def do_parsed_paths_overlap(first: OwnedPath | BadPath, second: OwnedPath | BadPath) -> bool:
    """The same for two parsed paths."""
    if isinstance(first, BadPath) or isinstance(second, BadPath):
        return True
    # First with every character taken literally: `app/[id]` can be a glob and the name of a folder at once.
    if do_keys_overlap(first.literal, second.literal) and (
        first.key is None or second.key is None or do_keys_overlap(first.key, second.key)
    ):
        return True
    if first.key is not None and second.key is not None:
        return False
    one, other = read_simple_glob(first.text), read_simple_glob(second.text)
    if one is not None and other is not None:
        return do_globs_intersect(one, other)
    globs = [each for each in (first, second) if each.key is None]
    if any(map(_may_be_anywhere, globs)):
        return True
    if len(globs) > 1:
        return may_globs_meet(first.text, second.text)
    path = second if globs[0] is first else first
    # A path could be a folder, and `**` matches at any depth below it.
    depth = ANYWHERE in globs[0].text and may_globs_meet(path.text, globs[0].text)
    return depth or may_touch(path.text, globs[0].text)


def _may_be_anywhere(glob: OwnedPath) -> bool:
    return "/" not in glob.text
