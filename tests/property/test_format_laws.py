"""Laws of every format of others: no text stops reading, completing, checking or packing, and findings have places."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orgkernel.loading.files import LocatedFile, decode, locate_files, read_located
from orgkernel.loading.formats import FORMATS, complete, find_layout
from orgkernel.loading.sources import LoadedFile, build_tree
from orgkernel.loading.tree import read_tree
from orgkernel.snapshots.build import _build_snapshot
from orgkernel.snapshots.packing import decode_snapshot, pack_snapshot, restore_snapshot
from orgkernel.snapshots.roots import resolve_paths
from orgkernel.snapshots.snapshot import NOTHING_FOUND, Snapshot
from tests.support.bent_trees import tree_in

DEEP = 3_000
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
PIECES = [
    *"{}[],:-?&*!|>%@`#'\"\\ \n\t\r~<=.()/$\0\x85\u2028\ufeff\ud800é",
    *("---\n", "\r\n", ": ", "- ", "&a ", "*a", "<<: ", "!!str ", "null", "true", "0x1f", "1e400", "-1", "99999999999999999999"),
    *("/* ", "*/", "//", "\\u0000", "\\ud800", "{{", "}}", "${X}", "../../x.md", "`docs/a.md`", "](a.md)", "@agent-x", "```\n"),
    *("\nname: ", "\ndescription: ", "\ntools: ", "\nskills: ", "\nagents: ", "\nmodel: ", "\nmcpServers: ", "Bash(git:*)", "Agent(a, b)"),
    *('"name": ', '"tools": ', '"role": ', '"skills": [', '"agents": [', "mcp__a__b", "orgkernel-suppressions: "),
]  # fmt: skip
HUGE = [
    "[" * DEEP,
    '{"a":' * DEEP,
    "- " * DEEP,
    "a" * 70_000,
    "\n" * 5_000,
    "9" * 400,
    "*" * DEEP,
    "`a/b.md` read " * DEEP,
]


class LoadedFiles(NamedTuple):
    """A tree on disk, and what its files yielded as they are."""

    located: tuple[LocatedFile, ...]
    texts: tuple[bytes, ...]
    reads: tuple[LoadedFile, ...]
    own: tuple[int, ...]
    """Positions of the files in the format."""


class Change(NamedTuple):
    """What is done to a text: between two places, given in thousandths, this is put, so often."""

    begin: int
    length: int
    put: str
    times: int


CHANGES = st.lists(
    st.builds(
        Change,
        st.integers(0, 1000),
        st.sampled_from([0, 0, 0, 1, 5, 40, 1000]),
        st.sampled_from([*PIECES, *HUGE]) | st.text(max_size=5),
        st.sampled_from([1, 1, 1, 2, 40]),
    ),
    min_size=1,
    max_size=6,
)


@cache
def tree_of_format(name: str) -> LoadedFiles:
    folder = tree_in(name, Path(mkdtemp()) / "shop")
    request = resolve_paths([str(folder)], str(folder.parent), read_as=name)
    located = tuple(locate_files(request.roots))
    read = read_tree(request.roots, located=located)
    texts = tuple(Path(each.path).read_bytes() for each in located)
    own = tuple(number for number, each in enumerate(located) if each.root.areas)
    return LoadedFiles(located, texts, tuple(read.files), own)


def changed(content: bytes, changes: list[Change]) -> bytes:
    """A text after changes; one that repeats a part of itself writes its keys twice."""
    text = content.decode()
    for begin, length, put, times in changes:
        at = begin * len(text) // 1000
        text = text[:at] + put * (times if len(put) < 100 else 1) + text[at + length :]
        text = text[:200_000]
    return text.encode("utf-8", "surrogatepass")


def snapshot_with(tree: LoadedFiles, number: int, content: bytes) -> Snapshot:
    """All of a tree, with another content in one of its files."""
    located = tree.located[number]
    source = decode(located.path, located.name, content)
    read = FORMATS[located.root.format].read(source, located.root)
    files = list(tree.reads)
    files[number] = LoadedFile(located, source.digest, True, False, read)
    for file in files:
        for document in file.read.documents:
            document.unpack_again()
    return _build_snapshot(build_tree(files, complete(files)), {}, None, NOTHING_FOUND)


def check_laws(tree: LoadedFiles, number: int, content: bytes) -> None:
    snapshot = snapshot_with(tree, number, content)
    lines = {
        located.name: len(re.findall(rb"\r\n?|\n", text)) + 1
        for located, text in zip(tree.located, tree.texts, strict=True)
    }
    lines[tree.located[number].name] = len(re.findall(rb"\r\n?|\n", content)) + 1
    for found in snapshot.diagnostics:
        assert found.place.line >= 1
        assert found.place.column >= 1
        assert found.place.line <= lines.get(found.place.file, 1), found
        assert not CONTROL.search(found.message + found.help), found
    files = [each.located for each in snapshot.tree.files]
    again = restore_snapshot(decode_snapshot(pack_snapshot(snapshot)), files)
    assert again.diagnostics == snapshot.diagnostics
    assert [each.record for each in again.tree.documents] == [each.record for each in snapshot.tree.documents]


@pytest.mark.parametrize("name", FORMATS)
def test_the_tree_is_recognized(name: str) -> None:
    """The law means something only where files are read."""
    tree = tree_of_format(name)
    assert tree.own
    assert any(tree.reads[number].read.documents for number in tree.own)
    assert all(not read_located(tree.located[number]).problem for number in tree.own)
    layout = find_layout(tree.located[tree.own[0]].root.path, name)
    assert layout is not None
    assert layout[0].name == name


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=20)
@given(which=st.integers(0, 99), changes=CHANGES)
@example(which=0, changes=[Change(1000, 0, "", 1)])
@example(which=0, changes=[Change(0, 1000, "", 1)])
def test_no_text_near_a_valid_one_stops_anything(name: str, which: int, changes: list[Change]) -> None:
    """Each file of the tree, bent in a few places."""
    tree = tree_of_format(name)
    number = tree.own[which % len(tree.own)]
    check_laws(tree, number, changed(tree.texts[number], changes))


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=10)
@given(which=st.integers(0, 99), content=st.binary(max_size=200) | st.lists(st.sampled_from(PIECES), max_size=40).map("".join).map(lambda text: text.encode("utf-8", "surrogatepass")))  # fmt: skip
def test_no_bytes_stop_anything(name: str, which: int, content: bytes) -> None:
    """In the place of any file of the tree."""
    tree = tree_of_format(name)
    check_laws(tree, tree.own[which % len(tree.own)], content)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("put", HUGE, ids=lambda put: put[:8].strip() or "lines")
def test_deep_and_huge_values_stop_nothing(name: str, put: str) -> None:
    """In the middle of some files."""
    tree = tree_of_format(name)
    for number in tree.own[:: max(1, len(tree.own) // 4)]:
        check_laws(tree, number, changed(tree.texts[number], [Change(500, 0, put, 1)]))
