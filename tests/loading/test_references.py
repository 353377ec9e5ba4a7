"""What the texts of agents refer to: found when a file is read, and looked up at every load."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from orgkernel import Kernel
from orgkernel.loading.cache import Cache
from orgkernel.loading.files import does_reference_exist
from orgkernel.loading.formats import lookups
from orgkernel.loading.formats.references import MAX_REFERENCES, find_references, pack_references
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import resolve_paths
from tests.support.claude_trees import AGENTS, agent
from tests.support.kept_agents import kept_agents
from tests.support.trees import write_tree

WRITER = agent(
    "writer", "Writes pages. Use for pages.", body="Read `docs/style.md`, and run the `/ship` command."
)


def found(loader: Loader) -> list[str]:
    """The codes about what is not there."""
    return sorted(each.code for each in loader.load().diagnostics)


def loader_of(folder: Path, cache: Path) -> Loader:
    return Loader(resolve_paths([str(folder)], str(folder.parent)), {}, Cache(str(cache)))


@pytest.mark.parametrize("fresh", [False, True])
def test_a_file_that_comes_and_goes_changes_the_answer(tmp_path: Path, *, fresh: bool) -> None:
    """Nothing that is read changes, only what it refers to: neither this process nor the cache may answer as before."""
    project, cache = tmp_path / "shop", tmp_path / "cache"
    write_tree(project, {f"{AGENTS}/writer.md": WRITER, ".claude/commands/release.md": "Release.\n"})
    long_ago = time.time() - 1000
    for path in (project / AGENTS / "writer.md",):
        os.utime(path, (long_ago, long_ago))
    loader = loader_of(project, cache)
    digests = set()
    for files, said in (
        ({}, ["ORG765", "ORG766"]),
        ({"docs/style.md": "x"}, ["ORG766"]),
        ({".claude/commands/deep/ship.md": "x"}, []),
        ({"docs/style.md": None}, ["ORG765"]),
        ({"docs/style.md": "x"}, []),
    ):
        for name, text in files.items():
            if text is None:
                (project / name).unlink()
            else:
                write_tree(project, {name: text})
        if fresh:
            loader = loader_of(project, cache)
        for _ in range(2):
            assert found(loader) == said
            loader.save()
        digests.add(loader.load().digest)
    assert len(digests) == 4


def test_nothing_outside_of_the_project_is_looked_at(tmp_path: Path) -> None:
    """What lies outside, or behind a link, counts as there."""
    write_tree(tmp_path, {"secret/key.md": "x", "shop/docs/style.md": "x"})
    shop = tmp_path / "shop"
    (shop / "away").symlink_to(tmp_path / "secret")
    (shop / "loop").symlink_to(shop / "loop")
    top = str(shop)
    assert does_reference_exist(top, "", "docs/style.md")
    assert does_reference_exist(top, "docs", "style.md")
    assert does_reference_exist(top, "docs", "../docs/./style.md")
    for name in (
        "away/key.md",
        "away/none.md",
        "../secret/none.md",
        "docs/../../none.md",
        "/none.md",
        "loop/none.md",
        "a\0b",
    ):
        assert does_reference_exist(top, "", name), name
    for name in ("docs/none.md", "docs/style.md/none.md", "none"):
        assert not does_reference_exist(top, "", name), name


def test_the_number_of_questions_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is beyond counts as there."""
    monkeypatch.setattr(lookups, "MAX_LOOKUPS", 3)
    body = "\n".join(f"Read `docs/page-{number}.md`." for number in range(9))
    kernel = Kernel.open(write_tree(tmp_path, {f"{AGENTS}/w.md": agent("w", "Writes. Use it.", body=body)}))
    assert [each.code for each in kernel.check()] == ["ORG765"] * 3
    assert len(pack_references("Read `a/b.md`.\n" * 9_000)["references"]) == MAX_REFERENCES


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Read `docs/a.md`.", [("path", "docs/a.md")]),
        ("Write `docs/a.md`. Then see `docs/b.md`.", [("path", "docs/b.md")]),
        ("- See [a](docs/a.md), ![b](b.html#part) and [c](https://x.org/a.md).", [("link", "docs/a.md"), ("link", "b.html")]),
        ("Read `docs/a.md` when it is there.", []),
        ("```md\nRead `docs/a.md`.\n```\n~~~\nuse `Bash`\n~~~\nRead `docs/b.md`.", [("path", "docs/b.md")]),
        ("```\nnever closed: read `docs/a.md`", []),
        ("Use `Bash` and the Grep tool, via the `mcp__a__b` tool.", [("tool", "Bash"), ("tool", "mcp__a__b")]),
        ("Do not use `Bash`. Don’t use the Grep tool.", []),
        ("`/ship` command; the slash command `/tidy`; `/health`", [("command", "ship"), ("command", "tidy")]),
        ("", []),
    ],
)  # fmt: skip
def test_what_counts_as_a_reference(text: str, expected: list[tuple[str, str]]) -> None:
    """By its kind and name; the offset is that of the name."""
    references = sorted(find_references(text), key=lambda each: each.offset)
    assert [(each.kind, each.name) for each in references] == expected
    assert all(text[each.offset :].startswith(each.name) for each in references)


def test_a_well_kept_tree_is_silent(tmp_path: Path) -> None:
    """Forty agents with code, tables, examples and lists: all that is said is that parts of a tool are not decided about."""
    folder = kept_agents(tmp_path / "shop")
    kernel = Kernel.open(folder)
    assert len(kernel.organization("active").snapshot.records.posts) == 40
    found = {(each.code, each.place.file.rpartition("/")[2]) for each in kernel.check()}
    assert found <= {("ORG755", "git-historian.md")}
    (folder / "docs" / "style.md").unlink()  # what they refer to was looked for
    assert [each.code for each in Kernel.open(folder).check()].count("ORG765") == 14


@pytest.mark.parametrize(
    "text",
    ["](" + "../" * 30_000, "`" + "a/" * 30_000, "`a/b.md` read " * 20_000, "the " + "a-" * 30_000, "`" * 60_000, "use the " * 9_000,
     "```\n" * 20_000, " " * 60_000 + "```", "<example>" * 8_000, "@agent-" + "a" * 60_000, "the a-b agent " * 9_000, "](a.md" * 9_000],
    ids=lambda text: text[:9].strip() or "spaces",
)  # fmt: skip
def test_no_text_takes_long(text: str) -> None:
    """The time grows with the length of a text only, and a text with very many references is not searched to its end."""
    begin = time.process_time()
    pack_references(f"{text} agent tool command `/ ](")
    assert time.process_time() - begin < 2
