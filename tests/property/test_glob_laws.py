"""Laws of simple globs: no shared file is missed, and few globs without one conflict."""

from __future__ import annotations

import re
from fnmatch import translate
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel.decisions.ownership.glob_intersection import (
    do_globs_intersect,
    do_names_intersect,
    read_simple_glob,
)
from orgkernel.decisions.ownership.overlap import do_owned_paths_overlap
from orgkernel.runtime.paths import may_globs_meet

WORDS = tuple("".join(letters) for length in range(7) for letters in product("ab", repeat=length))
NAMES = st.text("ab*", min_size=1, max_size=4)
FOLDERS = ("src", "docs", "a.py", "b.md", "test_a.py")
WORLD = tuple("/".join(names) for depth in (1, 2, 3, 4) for names in product(FOLDERS, repeat=depth))
"""Every path of up to four names: each may be a file or a folder."""
PARTS = (*FOLDERS, "*", "**", "*.py", "*.md", "test_*", "?.py", "a*", "[ab].py")
GLOBS = st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map("/".join)


def hold(glob: str, *, deep: bool = True) -> frozenset[str]:
    """The files of the world that a glob matches at some depth, and all below them if it is deep."""
    names = glob.split("/")
    if len(names) == 1 and not {"*", "?", "["}.isdisjoint(glob):
        names = ["**", *names]
    pattern = ""
    for number, name in enumerate(names):
        is_last = number == len(names) - 1
        if name == "**":
            pattern += "[^/]+(?:/[^/]+)*" if is_last else "(?:[^/]+/)*"
        else:
            inner = re.fullmatch(r"\(\?s:(.*)\)\\[Zz]", translate(name))
            assert inner is not None
            pattern += inner[1].replace(".*", "[^/]*") + ("" if is_last else "/")
    compiled = re.compile(f"{pattern}(?:/.*)?" if deep else pattern)
    return frozenset(path for path in WORLD if compiled.fullmatch(path))


@settings(max_examples=400, deadline=None)
@given(NAMES, NAMES)
def test_names_intersect_exactly_if_a_word_matches_both(one: str, other: str) -> None:
    """A shortest common word is at most as long as the letters of both names."""
    first, second = (re.compile(name.replace("*", ".*")) for name in (one, other))
    common = any(first.fullmatch(word) and second.fullmatch(word) for word in WORDS)
    assert do_names_intersect(one, other) is common
    assert do_names_intersect(other, one) is common


@settings(max_examples=400, deadline=None)
@given(GLOBS, GLOBS)
def test_globs_that_hold_one_file_overlap(one: str, other: str) -> None:
    """No shared file is missed, in either order."""
    overlap = do_owned_paths_overlap(one, other)
    assert overlap is do_owned_paths_overlap(other, one)
    assert overlap or hold(one).isdisjoint(hold(other))


@settings(max_examples=300, deadline=None)
@given(GLOBS, GLOBS)
def test_a_glob_that_is_not_deep_holds_what_it_matches(one: str, other: str) -> None:
    """No shared file is missed, and what is not deep shares no more than what is."""
    first, second = read_simple_glob(one), read_simple_glob(other)
    assert first is not None
    assert second is not None
    shares = do_globs_intersect(first, second, one_is_deep=False)
    assert shares is do_globs_intersect(second, first, other_is_deep=False)
    assert shares or hold(one, deep=False).isdisjoint(hold(other))
    assert do_globs_intersect(first, second) or not shares


def test_few_globs_without_a_shared_file_conflict() -> None:
    """At most a fifth of those that conflict by their fixed beginnings, among all globs of two names."""
    globs = [
        "/".join(parts)
        for parts in product(PARTS, repeat=2)
        if not {"*", "?", "["}.isdisjoint("".join(parts))
    ]
    held = {glob: hold(glob) for glob in globs}
    disjoint = [pair for pair in combinations(globs, 2) if held[pair[0]].isdisjoint(held[pair[1]])]
    by_beginning = [pair for pair in disjoint if may_globs_meet(*pair)]
    conflicts = [pair for pair in disjoint if do_owned_paths_overlap(*pair)]
    assert len(by_beginning) > len(disjoint) / 2
    assert len(conflicts) <= len(by_beginning) / 5


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/é*", "src/e*"),
        ("src/{a,b}*.py", "src/c.py"),
        ("src/a**", "src/b"),
        ("src/$X/*", "docs/*"),
        ("src/ß.py", "src/s?.py"),
    ],
)
def test_what_is_not_simple_still_conflicts(one: str, other: str) -> None:
    """Other letters, alternatives and variables are compared by their fixed beginnings."""
    assert do_owned_paths_overlap(one, other)
    assert do_owned_paths_overlap(other, one)


def test_a_long_glob_is_not_compared_for_long() -> None:
    """Names and characters beyond a bound conflict."""
    assert do_owned_paths_overlap("/".join(["a*b*"] * 200), "/".join(["a*b*"] * 200))
    assert do_owned_paths_overlap(f"src/{'a*' * 400}b", f"src/{'a*' * 400}c")
