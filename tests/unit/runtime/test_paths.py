"""Paths and globs: no spelling of a path leads into a grant or out of a restriction."""

from __future__ import annotations

import posixpath
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from orgkernel.runtime.paths import (
    fold,
    is_glob_inside,
    is_inside,
    may_globs_meet,
    may_touch,
    read_path,
)
from tests.support.patience import within

ROOT = "/repo"
# Spellings that some host opens as a file in `/etc`, as that folder, or as one that contains it.
INTO_ETC = [
    "/etc/passwd", "//etc/passwd", "///etc/passwd", "/./etc/passwd", "/etc/./passwd", "/etc//passwd", "/etc/passwd/",
    "/etc/passwd/.", "/etc/../etc/passwd", "/usr/../etc/passwd", "/../etc/passwd", "/../../etc/passwd", "/etc",
    "/etc/", "/etc/.", "/", "//", "/.", "../etc/passwd", "./../etc/passwd", "a/../../etc/passwd", "../repo/../etc/passwd",
    "..", "../", "/repo/../etc/passwd", "/repo/..", "/ETC/passwd", "/Etc/Passwd", "/etc./passwd", "/etc /passwd",
    "/etc.../passwd", "/etc::$INDEX_ALLOCATION/passwd", "/ｅｔｃ/passwd", "/eｔc/passwd", "／etc／passwd", "/‥/etc/passwd",
    "/etc\u200b/passwd", "/e\u00adtc/passwd", "/etc\x00/passwd", "/etc/passwd\x00.md", "x\x00/../etc", "/etc\n/passwd",
    "/etc/passwd\n", " /etc/passwd", "/etc/passwd ", "\t/etc/passwd", "\\etc\\passwd", "/etc\\passwd", "..\\etc\\passwd",
    "/repo\\..\\..\\etc", "C:/etc/passwd", "C:\\etc\\passwd", "file:///etc/passwd", "file:/etc/passwd", "~/../etc/passwd",
    "~root/../etc", "$HOME/../etc/passwd", "${ROOT}/etc/passwd", "/$(echo etc)/passwd", "%SYSTEMROOT%/etc",
    "src/$EMPTY/../../etc/passwd", "src/`echo ..`/../etc/passwd", "src/{a,../../etc/passwd}", "a$UP/etc",
    "%2e%2e/etc/passwd", "/%65tc/passwd", "..%2fetc", "/e?c/passwd", "/et*/passwd", "/*/passwd", "/**", "/[e]tc/passwd",
    "*/../../etc", "", "." * 3, "/...", "/\ud800etc", "/etc/" + "a/" * 3000,
]  # fmt: skip


@pytest.mark.parametrize("path", INTO_ETC)
def test_a_restriction_covers_every_spelling(path: str) -> None:
    """Also those that cannot be compared, and the folders that contain what is restricted."""
    assert may_touch(path, "/etc/**", ROOT)
    assert may_touch(path, "../etc/**", ROOT)


@pytest.mark.parametrize("path", INTO_ETC)
def test_no_spelling_leads_into_a_grant(path: str) -> None:
    """A grant below the root of the workspace gives nothing outside it."""
    assert not is_inside(path, "/repo/**", ROOT)
    assert not is_inside(path, "**", ROOT)
    assert not is_inside(path, "src/**", None)


@pytest.mark.parametrize("path", ["src/a.py", "/repo/src/a.py", "/repo//src/./a.py", "src/b/../a.py", "../repo/src/a.py", "src/ü.py", "src/[id].tsx", "src/a b.py", "src/a:b"])  # fmt: skip
def test_absolute_and_relative_forms_are_equal(path: str) -> None:
    """Against a stated root every form of a path in the scope is in it, and out of what lies elsewhere."""
    for glob in ("src/**", "/repo/src/**", "./src//**", "src/*", "/repo/x/../src/**"):
        assert is_inside(path, glob, ROOT)
        assert may_touch(path, glob, ROOT)
    assert not may_touch(path, "/etc/**", ROOT)
    assert not is_inside(path, "/etc/**", ROOT)


@pytest.mark.parametrize(
    ("path", "glob", "inside", "touching"),
    [
        ("src/a.py", "src/**", True, True), ("/srv/a.py", "/srv/**", True, True), ("docs/a", "src/**", False, False),
        ("/srv/a.py", "src/**", False, True), ("src/a.py", "/srv/**", False, True), ("../src/a", "src/**", False, True),
        ("src\\a", "src/**", False, True),
    ],
)  # fmt: skip
def test_without_a_root_only_like_forms_are_compared(path: str, glob: str, inside: bool, touching: bool) -> None:  # fmt: skip
    """A relative path could start anywhere."""
    assert (is_inside(path, glob), may_touch(path, glob)) == (inside, touching)


@pytest.mark.parametrize(
    ("path", "glob", "inside", "touching"),
    [
        ("a/b.py", "a/*", True, True), ("a/b/c.py", "a/*", False, True), ("a/b/c.py", "a/**", True, True),
        ("a/b/c.py", "a/**/c.py", True, True), ("a/c.py", "a/**/c.py", True, True), ("a/c.md", "a/**/*.py", False, False),
        ("a", "a/**", False, True), ("a", "a", True, True), ("a/b", "a", False, True), ("a/", "a", True, True),
        ("b", "a", False, False), ("a1", "a?", True, True), ("a12", "a?", False, True), ("a1", "a[0-9]", True, True),
        ("ab", "a[!b]", False, True), ("a+b", "a+b", True, True), ("aab", "a+b", False, False), ("A", "a", False, True),
        ("b/.env", "**/.env", True, True), ("b/main.py", "**/.env", False, False), (".", "**/.env", False, True),
        ("a/x.py", "a/**.py", False, True), ("b/x.py", "a/**.py", False, False), ("a/x", "a/{x,y}", False, True),
        ("a/x", "a/*/../x", True, True), ("a/x", "a/**/../x", False, True), ("x", "", False, True), ("x", "~/x", False, True),
        ("\u00e9", "e\u0301", False, True), ("stra\u00dfe", "STRASSE", False, True), ("\u00df", "?", True, True),
        ("\u212a", "k", False, True), ("\u0131", "I", False, True), ("a.", "a.*", True, True), ("a/b*", "a/**", False, True),
        ("a/*", "**/.env", False, True), ("c/*", "a/b", False, False), ("a/b", "a/*/c/**", False, True),
        ("a/b/c", "a/?/c/**", False, True), ("a/B", "a/[a-c]/x", False, True), ("a/b/d", "a/*/c/**", False, False),
        ("a/b/c", "a/*/**/c/d", False, False), ("a/b", "c/*/d", False, False), ("a/b/*", "a/*/x/y", False, True),
    ],
)  # fmt: skip
def test_what_a_glob_says(path: str, glob: str, inside: bool, touching: bool) -> None:
    """A star stays in one name, two go through folders, and another spelling on some file system closes only."""
    assert (is_inside(path, glob, ROOT), may_touch(path, glob, ROOT)) == (inside, touching)


@pytest.mark.parametrize(
    ("path", "inside", "touching"),
    [
        ("C:/repo/src/a.py", True, True), ("c:\\repo\\src\\a.py", True, True), ("src\\a.py", True, True),
        ("src/../src/a.py", True, True), ("\\repo\\src\\a.py", True, True), ("C:/Repo/SRC/a.py", False, True),
        ("docs\\a.py", False, False), ("D:/repo/src/a.py", False, False), ("C:src/a.py", False, True),
        ("\\\\localhost\\C$\\repo\\src\\a.py", False, True), ("\\\\?\\C:\\repo\\src\\a.py", False, True),
        ("src/a.py::$DATA", False, True), ("SRC~1/a.py", False, True), ("src./a.py", False, True), ("docs\\..\\src\\a.py", True, True),
    ],
)  # fmt: skip
def test_a_root_with_a_drive_is_windows(path: str, inside: bool, touching: bool) -> None:
    """Backslashes separate, drives have one case, and every second name closes only."""
    for glob in ("src/**", "C:\\repo\\src\\**", "c:/repo/src/**"):
        assert is_inside(path, glob, "C:/repo") is inside
        assert may_touch(path, glob, "C:/repo") is touching


NAMES = st.sampled_from(
    ["a", "b", "ab", "B", ".", "..", "", "a.", "*", "[a]", "é", "e\u0301", "repo", "~", "a b"]
)
SPELLINGS = st.builds(lambda start, names: start + "/".join(names), st.sampled_from(["", "/", "//", "/repo/", "./"]), st.lists(NAMES, max_size=6))  # fmt: skip
PARTS = st.sampled_from(["a", "b", "*", "**", "?b", "[ab]", "..", ".", "", "A", "é", "{a}", "a**"])
GLOBS = st.builds(lambda start, names: start + "/".join(names), st.sampled_from(["", "/", "/repo/"]), st.lists(PARTS, max_size=5))  # fmt: skip
ROOTS = st.sampled_from([None, "/repo", "/repo/", "/", "C:/repo"])
ANYTHING = st.one_of(SPELLINGS, st.text(max_size=30))


@given(ANYTHING, ROOTS)
def test_reading_is_idempotent(path: str, root: str | None) -> None:
    """What was read is read as itself."""
    read = read_path(path, root)
    if read is not None:
        assert read_path(str(read), root) == read
        again = tuple(map(fold, read.names))
        assert tuple(map(fold, again)) == again


@given(SPELLINGS, GLOBS)
def test_spellings_of_one_file_get_one_answer(path: str, glob: str) -> None:
    """However a path is written, only the file it resolves to counts."""
    resolved = "/" + posixpath.normpath(posixpath.join(ROOT, path)).lstrip("/")
    assume(path and path.strip() == path and not path.startswith("~") and "..." not in path)
    for spelling in (path, path + "/", "/repo/" + path if not path.startswith("/") else path):
        assert is_inside(spelling, glob, ROOT) == is_inside(resolved, glob, ROOT)
        assert may_touch(spelling, glob, ROOT) == may_touch(resolved, glob, ROOT)


@given(ANYTHING, st.one_of(GLOBS, st.text(max_size=10)), ROOTS)
def test_what_is_surely_inside_may_touch(path: str, glob: str, root: str | None) -> None:
    """And what cannot be compared opens nothing and closes everything."""
    if is_inside(path, glob, root):
        assert may_touch(path, glob, root)
    if read_path(path, root) is None or read_path(glob, root) is None:
        assert not is_inside(path, glob, root)
        assert may_touch(path, glob, root)


@given(SPELLINGS, GLOBS, st.sampled_from([str.upper, str.lower, str.title, lambda text: unicodedata.normalize("NFD", text), lambda text: unicodedata.normalize("NFC", text)]))  # fmt: skip
def test_no_file_system_opens_a_restriction(path: str, glob: str, respell: object) -> None:
    """Another case or another form of an accent leads out of no restriction that the path itself is in."""
    assert callable(respell)
    if is_inside(path, glob, ROOT):
        assert may_touch(respell(path), glob, ROOT)


def test_a_hostile_path_takes_no_time() -> None:
    """Neither many stars nor many names."""
    path = "/".join(["a" * 8] * 250) + "/b"
    with within(2):
        for glob in ("**/a*" * 40, "/".join(["**", "*a*a*a*a*"] * 60), "*a" * 200):
            is_inside(path, glob, ROOT)
            may_touch(path, glob, ROOT)


@given(SPELLINGS, GLOBS, GLOBS, ROOTS)
def test_a_glob_in_another_holds_nothing_else(
    path: str, given_glob: str, held: str, root: str | None
) -> None:
    """And two globs that cannot meet hold no path together."""
    if is_glob_inside(given_glob, held, root) and is_inside(path, given_glob, root):
        assert is_inside(path, held, root)
    if is_inside(path, given_glob, root) and may_touch(path, held, root):
        assert may_globs_meet(given_glob, held, root) or path in ("", ".")
