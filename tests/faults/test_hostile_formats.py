"""Hostile trees in the formats of others: each is read in time, and what is wrong with it is said."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from orgkernel.loading.files import MAX_BYTES
from orgkernel.loading.formats import FORMATS
from orgkernel.snapshots.build import build_snapshot
from orgkernel.snapshots.roots import resolve_paths
from orgkernel.snapshots.snapshot import Snapshot
from tests.support.bent_trees import tree_in
from tests.support.claude_trees import AGENTS, agent
from tests.support.depth import DEPTH
from tests.support.patience import within
from tests.support.trees import write_tree

CROWD = 20_000 if DEPTH > 1 else 500


def snapshot_of(folder: Path, name: str) -> Snapshot:
    """The tree, read in a format."""
    return build_snapshot(resolve_paths([str(folder)], str(folder.parent), read_as=name).roots)


def codes(snapshot: Snapshot) -> list[tuple[str, str]]:
    """File and code of what was found while reading."""
    return [
        (os.path.basename(each.place.file), each.code)
        for each in snapshot.diagnostics
        if each.code < "ORG100"
    ]


def first_file(folder: Path, name: str) -> Path:
    """A file that the format reads."""
    return Path(next(each.located.path for each in snapshot_of(folder, name).tree.files if each.located.root.areas and not each.read.skipped))  # fmt: skip


@pytest.mark.deep
def test_a_crowd_of_files(tmp_path: Path) -> None:
    """One after the other, in a time that grows with their number only, also where all refer to one another."""
    folder = tmp_path / "shop"
    for number in range(CROWD):
        text = agent(
            f"a{number}", f"Does {number} of {number * 7}. Use for {number * 13}.", f"Agent(a{number + 1}), Read",
            f"Ask @agent-a{number + 1}, read `docs/{number}.md`, use the Edit tool.",
        )  # fmt: skip
        path = folder / AGENTS / f"{number % 50}" / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with within(CROWD / 50):
        snapshot = snapshot_of(folder, "claude-code")
    assert len(snapshot.organizations["shop"].records.posts) == CROWD
    assert sum(each.code == "ORG765" for each in snapshot.diagnostics) == min(CROWD, 2_000)


@pytest.mark.parametrize("name", FORMATS)
def test_what_cannot_be_read(name: str, tmp_path: Path) -> None:
    """Files that are too large, no text, folders, pipes and links: a finding each, and the rest is read."""
    pristine = tree_in(name, tmp_path / "pristine")
    expected = codes(snapshot_of(pristine, name))
    for number, (code, spoil) in enumerate(
        [
            ("ORG003", _grow),
            ("ORG002", lambda path: path.write_bytes(b"\xff\xfe\x00")),
            ("ORG001", _pipe),
            ("ORG023", lambda path: path.symlink_to("/etc/hostname")),
        ]
    ):
        folder = tmp_path / str(number) / "pristine"
        shutil.copytree(pristine, folder)
        path = first_file(folder, name)
        path.unlink()
        spoil(path)
        with within(10):
            snapshot = snapshot_of(folder, name)
            found = codes(snapshot)
        # A file by which the format is recognized may be passed over when it no longer looks like one.
        is_read = any(each.located.path == str(path) for each in snapshot.tree.files)
        assert (path.name, code) in found or not is_read, (code, found)
        assert is_read or name not in ("claude-code", "crewai")
        assert len(found) <= len(expected) + 2


@pytest.mark.parametrize("name", FORMATS)
def test_links_in_circles_and_odd_names(name: str, tmp_path: Path) -> None:
    """Each file is read once, and names are shown without their line breaks."""
    folder = tree_in(name, tmp_path / "shop")
    before = snapshot_of(folder, name)
    path = first_file(folder, name)
    (path.parent / "again").symlink_to(folder)
    (path.parent / "itself").symlink_to(path.parent / "itself")
    (folder / "up").symlink_to(folder)
    odd = path.with_name("odd\nname\x1b[31m" + "".join(path.suffixes))
    odd.write_bytes(b"\xff")
    snapshot = snapshot_of(folder, name)
    assert len(snapshot.tree.files) <= len(before.tree.files) + 1
    for found in snapshot.diagnostics:
        assert not any(each in f"{found.place}{found.message}{found.help}" for each in "\n\x1b")


def _grow(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def test_a_file_as_large_as_it_may_be(tmp_path: Path) -> None:
    """Sixteen MiB of references are refused or read in seconds."""
    folder = tmp_path / "shop"
    write_tree(folder, {f"{AGENTS}/a.md": agent("a", "Use it.", body="x")})
    for text in ("- a\n", "read `a/b.md` the x-y agent\n"):
        content = f"---\nname: b\ndescription: Use it for b.\ntools: Read\n---\n{text}".encode()
        (folder / AGENTS / "b.md").write_bytes(
            content + text.encode() * ((MAX_BYTES - len(content)) // len(text))
        )
        with within(20):
            snapshot = snapshot_of(folder, "claude-code")
        assert ("b.md", "ORG003") in codes(snapshot), codes(snapshot)
