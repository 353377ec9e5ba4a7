"""Laws of ownership: two scopes that hold one file of a small world always overlap."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from orgkernel.decisions.ownership.claims import ClaimIndex, FileClaim
from orgkernel.decisions.ownership.overlap import do_owned_paths_overlap, read_owned_path
from orgkernel.decisions.ownership.paths import BadPath, do_keys_overlap, read_file_path
from orgkernel.runtime.paths import is_inside

NAMES = ("a", "b", "ab", "a.py")
WORLD = tuple("/".join(names) for count in (1, 2, 3) for names in product(NAMES, repeat=count))
"""Every path of up to three names: each may be a file or a folder."""
GLOBS = (*NAMES, "*", "**", "*.py", "a*", "?", "[ab]", "A")
PATTERNS = st.lists(st.sampled_from(GLOBS), min_size=1, max_size=3).map("/".join)
DISGUISES = st.sampled_from(("{}", "./{}", "{}/", "x/../{}"))


def held_by(scope: str) -> set[str]:
    """The files that could be in a scope: as git reads it, as file scopes do, or below it."""
    plain = scope.lower().removeprefix("x/../").removeprefix("./")
    as_git = GitIgnoreSpec.from_lines([plain])
    anchored = GitIgnoreSpec.from_lines([f"/{plain}"])
    bare = plain.rstrip("/")
    is_path = set("*?[").isdisjoint(plain)  # a path starts at the root
    return {
        path
        for path in WORLD
        if (as_git.match_file(path) and not is_path)
        or anchored.match_file(path)
        or is_inside(path, bare)
        or path == bare
        or path.startswith(f"{bare}/")
    }


@settings(max_examples=300, deadline=None)
@given(PATTERNS, PATTERNS, DISGUISES, DISGUISES)
def test_scopes_that_hold_one_file_overlap(one: str, other: str, mine: str, theirs: str) -> None:
    """No conflict is missed, in either order, however the scopes are spelled."""
    first, second = mine.format(one), theirs.format(other)
    meet = not held_by(first).isdisjoint(held_by(second))
    assert do_owned_paths_overlap(first, second) == do_owned_paths_overlap(second, first)
    assert do_owned_paths_overlap(first, second) or not meet


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(WORLD), st.sampled_from(WORLD))
def test_exact_paths_overlap_exactly_if_one_contains_the_other(one: str, other: str) -> None:
    """Among exact paths there is no false conflict either."""
    contains = f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")
    assert do_owned_paths_overlap(one, other) is contains
    first, second = read_file_path(one), read_file_path(other)
    assert not isinstance(first, BadPath)
    assert not isinstance(second, BadPath)
    assert do_keys_overlap(first.key, second.key) is contains


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=12), PATTERNS)
def test_what_cannot_be_read_overlaps_with_everything(text: str, other: str) -> None:
    """Any text has an answer, and none leaves the project."""
    read = read_owned_path(text)
    if isinstance(read, BadPath):
        assert do_owned_paths_overlap(text, other)
        assert read.problem
    else:
        assert ".." not in read.text.split("/")
        assert do_owned_paths_overlap(text, read.text)


CLAIMED = st.lists(
    st.lists(
        st.one_of(PATTERNS, st.sampled_from(["$X/a", "a b/{c,d}", "../a", "a/[id]/b", "ab/**/a.py"])),
        max_size=3,
    ),
    max_size=6,
)


@settings(max_examples=200, deadline=None)
@given(
    CLAIMED, st.lists(st.tuples(PATTERNS, DISGUISES).map(lambda each: each[1].format(each[0])), max_size=3)
)
def test_an_index_of_claims_finds_what_a_look_at_all_of_them_finds(
    claimed: list[list[str]], asked: list[str]
) -> None:
    """Every claimed path that overlaps, in order, and no other."""
    claims = [
        FileClaim(
            org_id="shop", token=token, holder="agent:a", paths=tuple(paths), claimed_at=0, expires_at=1
        )
        for token, paths in enumerate(claimed, 1)
    ]
    found = ClaimIndex(claims).find_conflicts(asked)
    assert [(each.path, each.claim.token, each.claimed) for each in found] == [
        (path, claim.token, text)
        for path in asked
        for claim in claims
        for text in claim.paths
        if do_owned_paths_overlap(path, text)
    ]
