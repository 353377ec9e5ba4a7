"""Decide whether two simple globs share a path: the product of two automata, first over names, then over characters.

A simple glob consists of ASCII names with `*`, `?` and `[…]`, and of `**` for any number of folders. A glob holds the paths
that it matches and everything below them, so the question is whether the two could hold one file. The answer errs only
towards a conflict: `?` and `[…]` match any text, because file systems that ignore letter case can change the number of
characters.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.runtime.paths import ANYWHERE, MAX_NAMES, fold

_SIMPLE_NAME: Final = lazy_pattern(r"[A-Za-z0-9_.@+=!^*?\[\]-]+")
_ANY_CHARACTER: Final = lazy_pattern(r"\[!?\]?[^\]]*\]|[?]")
_WILD: Final = frozenset("*?[")
_MAX_STATES: Final = 65_536
"""Maximum number of states of a product. Larger globs are compared by their fixed beginnings."""
_Names = tuple[str, ...]


@lru_cache(maxsize=16_384)
def read_simple_glob(text: str) -> _Names | None:
    """The names of a simple glob from the root of the project, in the form that is compared; None for another glob.

    A glob without a slash matches at any depth.

    >>> read_simple_glob("Src/*.py"), read_simple_glob("*.md"), read_simple_glob("src/{a,b}/*")
    (('src', '*.py'), ('**', '*.md'), None)
    """
    names = text.split("/")
    if len(names) > MAX_NAMES:
        return None
    simple: list[str] = [ANYWHERE] if len(names) == 1 and not _WILD.isdisjoint(text) else []
    for name in names:
        if name == ANYWHERE:
            simple.append(name)
        elif ANYWHERE in name or name in (".", "..") or not _SIMPLE_NAME.fullmatch(name):
            return None
        else:
            simple.append(fold(_ANY_CHARACTER.sub("*", name)) or "*")
    return tuple(simple)


def do_globs_intersect(
    one: _Names, other: _Names, *, one_is_deep: bool = True, other_is_deep: bool = True
) -> bool:
    """Whether two globs, as `read_simple_glob` returns them, could hold one file.

    A deep glob also holds everything below the paths that it matches.

    >>> def meet(one, other): return do_globs_intersect(read_simple_glob(one), read_simple_glob(other))
    >>> meet("src/*.py", "src/*.md"), meet("src/**/test_*.py", "src/a/b/test_*"), meet("src/*", "src/a/b.py")
    (False, True, True)
    """
    if (len(one) + 1) * (len(other) + 1) > _MAX_STATES:
        return True
    # Row by row from the end: whether what is left of both globs could hold one file. Where a deep one ends, it holds
    # everything below, so the other one only has to go on.
    below = [one_is_deep or _can_be_empty(other[at:]) for at in range(len(other) + 1)]
    for number in reversed(range(len(one))):
        name = one[number]
        row = [other_is_deep or _can_be_empty(one[number:])] * (len(other) + 1)
        for at in reversed(range(len(other))):
            theirs = other[at]
            if ANYWHERE in (name, theirs):
                row[at] = below[at] or row[at + 1]
            else:
                row[at] = below[at + 1] and do_names_intersect(name, theirs)
        below = row
    return below[0]


def _can_be_empty(names: _Names) -> bool:
    return all(name == ANYWHERE for name in names)


@lru_cache(maxsize=16_384)
def do_names_intersect(one: str, other: str) -> bool:
    """Whether two names, in which `*` stands for any text, could be equal.

    >>> do_names_intersect("a*", "*b"), do_names_intersect("a*", "b*"), do_names_intersect("*.py", "a.md")
    (True, False, False)
    """
    if (len(one) + 1) * (len(other) + 1) > _MAX_STATES:
        return True
    below = [not other[at:].strip("*") for at in range(len(other) + 1)]
    for number in reversed(range(len(one))):
        mine = one[number]
        row = [False] * len(other) + [not one[number:].strip("*")]
        for at in reversed(range(len(other))):
            if mine == "*" or other[at] == "*":
                row[at] = below[at] or row[at + 1]
            else:
                row[at] = mine == other[at] and below[at + 1]
        below = row
    return below[0]
