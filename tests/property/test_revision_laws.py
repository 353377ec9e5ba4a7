"""A revision that shares the documents of another load is indistinguishable from one whose files were all written and read.

`shared_equals_written`: for any edits of a repository and any way to name two sides, both ways read the same documents,
find the same about them at the same places, and refuse with the same words.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import product, zip_longest
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel.errors import UsageError
from orgkernel.kernel.registry_state import RegistryState
from orgkernel.kernel.settings import find_project
from orgkernel.loading.cache import Cache
from orgkernel.loading.files import MAX_BYTES
from orgkernel.project import versions
from orgkernel.project.git import revision
from orgkernel.project.git.tree import Repository, TreeEntry
from orgkernel.project.versions import read_versions
from orgkernel.snapshots.packing import pack_snapshot
from tests.cli.running import SHOP
from tests.support.git_repository import GitRepository
from tests.support.sampling import sample

ORG = SHOP["org.yaml"]
SECOND = (
    "_schema: orgkernel:organization\norg_id: second\nhierarchy: {dev: {subordinates: [ops]}, ops: {}}\n"
    "overrides: {dev: {doctrine: {salute_interval_turns: 9}}}\n"
)
SKILL = "---\nname: pricing\ndescription: Sets prices. Use for quotes.\n---\nAsk for the cost first.\n"
AGENT = "---\nname: reviewer\ndescription: Reviews. Use after code was written.\ntools: Read\n---\nLook at the diff.\n"
START = {
    **SHOP,
    "second/org.yaml": SECOND,
    "tools.yaml": "_schema: orgkernel:tool_catalog\ntools: {ticket: {type: remote_api}}\n",
    "skills/pricing/SKILL.md": SKILL,
    "skills/pricing/prices.yaml": "role_id: not_read\n",
    "standing_orders/roles/dev.md": "# Orders\n\nLook twice.\n",
    "roles/spare.json": '{"_schema": "orgkernel:role_profile", "role_id": "spare"}',
    "schema.json": '{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}',
    "note.yaml": "name: a workflow\non: push\n",
    "docs/guide.md": "Nothing to read.\n",
    "node_modules/a/org.yaml": ORG,
    ".hidden/org.yaml": ORG,
}
PLACES = ("", "shop", "teams/shop")
"""Where in the repository the documents are."""
FILES = (
    "org.yaml", "org.json", "active.json", "tools.yaml", "roles/co.yaml", "roles/dev.yaml", "roles/ops.yaml", "roles/spare.json",
    "roles/dev.json", "roles/deep/er/dev.yaml", "roles/several.yaml", "second/org.yaml", "second/roles/dev.yaml", "second/own.yaml",
    "note.yaml", "schema.json", "skills/pricing/SKILL.md", "skills/other/SKILL.md", "skills/pricing/prices.yaml",
    "standing_orders/all.md", "standing_orders/roles/dev.md", "bills/move.yaml", "docs/guide.md", ".claude/agents/reviewer.md",
    ".claude-plugin/marketplace.json", "CLAUDE.md", "../org.yaml", "../roles/dev.yaml", "../tools.yaml", "../skills/top/SKILL.md",
    "a\nb.yaml", "roles/d\udce9v.yaml", "roles", "node_modules/a/org.yaml", "zeta.yaml", "beta/unlike.yaml",
)  # fmt: skip
TEXTS = (
    *START.values(),
    AGENT,
    "_schema: orgkernel:role_profile\nrole_id: dev\ncapabilities: {tools_primary: [ticket], bst_domains: [codegen, nowhere]}\n",
    "_schema: orgkernel:role_profile\nrole_id: dev\nunread: true\nsuppressions: [{rule: ORG102, reason: mine}]\n",
    "_schema: orgkernel:role_profile\nrole_id: one\n---\n_schema: orgkernel:role_profile\nrole_id: two\n",
    "_schema: orgkernel:role_profile\nrole_id: [a\n",
    "_schema: orgkernel:organization\norg_id: broken\nhierarchy: [\n",
    "_schema: orgkernel:organization\norg_id: third\nhierarchy: {co: {}}\nsources: [{format: claude-code, path: .}]\n",
    "_schema: orgkernel:tool_catalog\ntools: {ticket: {type: computer_use}, lamp: {type: remote_api}}\n",
    '{"_schema": "orgkernel:role_profile", "role_id": "dev", "description": "As JSON."}',
    '{"_schema": "orgkernel:organization", "org_id": "second", "hierarchy": {"ops": {}}}',
    '{"plugins": [{"name": "a", "source": "./"}]}',
    "role_id: dev\n",
    "a: [1\n",
    "a: \udcff\n",
    "",
)  # fmt: skip
TARGETS = (
    "org.yaml",
    "roles",
    "second",
    "dev.yaml",
    "../tools.yaml",
    "..",
    "/etc",
    "docs/guide.md",
    "nothing",
    "roles/dev.yaml",
)

Edit = Callable[[Path], None]


def write(name: str, text: str) -> Edit:
    """Write a file, new or not."""

    def edit(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))

    return edit


def say(name: str, line: str) -> Edit:
    """Add a line to a file."""

    def edit(folder: Path) -> None:
        with (folder / name).open("a") as file:
            file.write(line)

    return edit


def delete(name: str) -> Edit:
    """Delete a file or a folder."""

    def edit(folder: Path) -> None:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    return edit


def move(name: str, other: str) -> Edit:
    """Move a file or a folder."""

    def edit(folder: Path) -> None:
        (folder / other).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).rename(folder / other)

    return edit


def link(name: str, target: str) -> Edit:
    """Put a link in the place of a file."""

    def edit(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(target)

    return edit


NAMES = st.sampled_from(FILES)
LINES = st.sampled_from(
    [
        "description: Says more.\n",
        "# a comment\n",
        "x_mine: 1\n",
        "suppressions: [{rule: ORG703, reason: a}]\n",
    ]
)
USUAL = st.one_of(
    st.builds(write, NAMES, st.sampled_from(TEXTS)),
    st.builds(say, NAMES, LINES),
    st.builds(delete, NAMES),
    st.builds(move, NAMES, NAMES),
)
EDITS = st.lists(USUAL | USUAL | USUAL | st.builds(link, NAMES, st.sampled_from(TARGETS)), max_size=4)
SIDES = st.sampled_from(
    [
        ("git:HEAD", None),
        ("git:HEAD", None),
        ("git:HEAD", "{place}"),
        ("git:HEAD~1", "git:HEAD"),
        ("git:HEAD~1", "{place}"),
        ("{place}", "git:HEAD"),
        ("git:HEAD:", "."),
        ("git:HEAD:{place}", "{place}"),
        ("git:HEAD:{place}/second", "{place}/second"),
        ("git:HEAD:{place}/roles", "git:HEAD~1:{place}/roles"),
        ("git:HEAD:{place}/roles/dev.yaml", "{place}/roles/dev.yaml"),
        ("git:HEAD:./", "./"),
    ]
)
PROJECTS = st.sampled_from(
    [
        None,
        None,
        'paths = ["{place}"]',
        'paths = ["{place}/second", "{place}/roles"]',
        '[severities]\nORG703 = "error"\nORG102 = "off"',
    ]
)


def apply(edits: list[Edit], folder: Path) -> None:
    """Make those edits that fit."""
    for edit in edits:
        try:
            edit(folder)
        except OSError:
            continue
        except ValueError:
            continue


def describe(state: RegistryState, top: str) -> list[Any]:
    """All that a load found out, without the place of the tree."""

    def shorten(path: str) -> str:
        return os.path.normpath(
            path.partition(f"/1/2/3/4/5/{os.path.basename(top)}")[2] or path.removeprefix(top)
        )

    latest = state.latest
    tree = latest.tree
    return [
        pack_snapshot(latest),
        [(each.name, shorten(each.path), each.kind, each.packed, each.digest, each.shared, each.context, each.format, shorten(each.home)) for each in tree.documents],
        [(each.name, shorten(each.path), each.kind, each.declared_ids, each.shared) for each in tree.broken],
        [(each.located.name, shorten(each.located.path), each.located.number, each.located.leaves, each.has_orgkernel_siblings) for each in tree.files],
        {name: shorten(path) for name, path in tree.paths.items()},
        # A load from the cache has those about sources only where they are reported.
        [each for each in tree.diagnostics if each.code != "ORG031"],
        tree.skipped,
        latest.diagnostics,
        {
            org_id: [
                list(each.columns),
                each.diagnostics,
                each.records.files,
                each.records.unread,
                each.records.without_profile,
                [
                    (post.document.name, post.profile, post.shared_profile, post.superior, each.records.elsewhere.get(role_id))
                    for role_id, post in each.records.posts.items()
                ],
            ]
            for org_id, each in latest.organizations.items()
        },
        list(state.served),
        state.refused,
    ]  # fmt: skip


class Switch:
    """Whether revisions are read without being written, and how many were."""

    def __init__(self) -> None:
        self.is_on = True
        self.covered = 0

    def load(self, *arguments: Any) -> Any:
        """As `load_revision`."""
        if not self.is_on:
            raise revision.NotCovered
        snapshot = revision.load_revision(*arguments)
        self.covered += 1
        return snapshot


@pytest.fixture(scope="module")
def switch() -> Switch:
    """Switches the reading of revisions without writing them."""
    made = Switch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(versions, "load_revision", made.load)
        for name in [name for name in os.environ if name.startswith("GIT_")]:
            patch.delenv(name)
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        yield made


def read_both(old: str, new: str | None, folder: Path, top: Path, cache: Cache | None) -> list[Any]:
    """Both sides as data, or why they cannot be read."""
    try:
        both = read_versions(old, new, find_project(str(folder)), str(folder), None, cache)
    except UsageError as error:
        return [type(error), error.message, error.help]
    both.save()
    return [part for side in (both.old, both.new) for part in (side.name, *describe(side.state, str(top)))]


def list_differences(shared: list[Any], written: list[Any]) -> list[tuple[Any, Any]]:
    """The parts in which two readings differ."""
    return [pair for pair in zip_longest(shared, written) if pair[0] != pair[1]]


def check_law(
    folder: Path,
    place: str,
    sides: tuple[str, str | None],
    steps: list[list[Edit]],
    switch: Switch,
    project: str | None = None,
    here: str = "",
) -> int:
    """Compare both ways of reading; the number of revisions that were read without being written."""
    shutil.rmtree(folder, ignore_errors=True)
    repository = GitRepository(folder / "house")
    top = repository.folder
    base = top / place
    repository.write({os.path.normpath(os.path.join(place, name)): text for name, text in START.items()})
    if project is not None:
        (top / "orgkernel.toml").write_text(project.format(place=place or ".") + "\n")
    repository.commit()
    for edits in steps[:-1]:
        apply(edits, base)
        repository.git("add", "--all", "--force")
        repository.git("commit", "--quiet", "--allow-empty", "-m", "x")
    apply(steps[-1], base)
    old, new = (None if side is None else side.format(place=place or ".") for side in sides)
    cwd = top / here if (top / here).is_dir() else top
    cache = Cache(str(folder / "cache"))
    switch.is_on = False
    written = read_both(old, new, cwd, top, None)
    switch.is_on, switch.covered = True, 0
    for each in (None, cache, cache):
        assert list_differences(read_both(old, new, cwd, top, each), written) == []
    return switch.covered


STEPS = st.tuples(EDITS, EDITS, EDITS).map(list)


@settings(max_examples=15)
@given(
    place=st.sampled_from(PLACES),
    sides=SIDES,
    steps=STEPS,
    project=PROJECTS,
    here=st.sampled_from(["", "", "shop", "teams/shop/roles"]),
)
def test_shared_equals_written(
    place: str,
    sides: tuple[str, str | None],
    steps: list[list[Edit]],
    project: str | None,
    here: str,
    switch: Switch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Whatever was edited, a revision yields the same with and without the documents of another load."""
    check_law(tmp_path_factory.getbasetemp() / "edited", place, sides, steps, switch, project, here)


NEW_ROLE = "_schema: orgkernel:role_profile\nrole_id: fresh\n"
COVERED: dict[str, list[Edit]] = {
    "nothing": [],
    "edited": [say("roles/dev.yaml", "x_mine: 1\n")],
    "added": [write("roles/fresh.yaml", NEW_ROLE)],
    "deleted": [delete("roles/dev.yaml")],
    "renamed": [move("roles/dev.yaml", "roles/developer.yaml")],
    "moved_to_another_folder": [move("roles/dev.yaml", "second/roles/dev.yaml")],
    "a_folder_moves": [move("roles", "people/roles")],
    "broken": [write("roles/dev.yaml", "_schema: orgkernel:role_profile\nrole_id: [a\n")],
    "as_json": [delete("roles/dev.yaml"), write("roles/dev.json", '{"_schema": "orgkernel:role_profile", "role_id": "dev"}')],
    "a_skill": [write("skills/pricing/SKILL.md", SKILL + "More.\n"), delete("standing_orders/roles/dev.md")],
    "an_organization_comes": [write("third/org.yaml", SECOND.replace("second", "third"))],
    "an_organization_goes": [delete("second")],
    "a_note_among_documents": [write("beta/unlike.yaml", "a: [1\n"), write("beta/role.yaml", NEW_ROLE)],
    "documents_leave_a_note": [delete("tools.yaml"), delete("org.yaml")],
    "a_link_to_a_file_that_is_no_document": [link("AGENTS.md", "docs/guide.md")],
    "a_link_that_is_not_looked_at": [link(".hidden/roles", "../roles"), link("node_modules/b", "../roles")],
    "agents_of_others_among_documents": [write(".claude/agents/reviewer.md", AGENT), write("CLAUDE.md", "Hello.\n")],
    "a_name_that_is_no_text": [write("roles/d\udce9v.yaml", NEW_ROLE), write("a\nb.yaml", NEW_ROLE)],
}  # fmt: skip


@pytest.mark.parametrize(("place", "change"), sample(product(PLACES, COVERED), lambda each: each[1]))
def test_usual_edits_need_no_written_tree(change: str, place: str, switch: Switch, tmp_path: Path) -> None:
    """After such an edit, and before it is undone, a revision is read without being written."""
    for steps in ([COVERED[change], [], []], [[], [], COVERED[change]]):
        assert check_law(tmp_path / "edited", place, ("git:HEAD", "{place}"), steps, switch) == 3


WRITTEN: dict[str, list[Edit]] = {
    "a_linked_folder": [link("third", "second")],
    "a_linked_document": [link("roles/xo.yaml", "dev.yaml")],
    "a_link_out_of_the_tree": [link("up", "../../..")],
    "sources": [write("org.yaml", ORG + "sources: [{format: claude-code, path: .}]\n")],
    "a_marketplace": [write(".claude-plugin/marketplace.json", '{"plugins": []}')],
    "only_agents_of_others": [*map(delete, START), write(".claude/agents/reviewer.md", AGENT)],
    "a_document_that_is_too_large": [write("roles/dev.yaml", "# " + "x" * MAX_BYTES)],
}


@pytest.mark.parametrize("change", WRITTEN)
def test_unusual_trees_are_written(change: str, switch: Switch, tmp_path: Path) -> None:
    """A revision that needs a closer look is written to a folder, and yields the same."""
    steps = [WRITTEN[change], [], []]
    assert check_law(tmp_path / "edited", "shop", ("git:HEAD", "{place}"), steps, switch) == 0


def test_only_changed_documents_are_read(
    switch: Switch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a revision that is known but for one file, git is asked for this file alone; both sides share the others."""
    repository = GitRepository(tmp_path / "house")
    repository.commit(START)
    cache = Cache(str(tmp_path / "cache"))
    folder, project = str(repository.folder), find_project(str(repository.folder))
    read_versions("git:HEAD", None, project, folder, None, cache).save()
    say("roles/dev.yaml", "x_mine: 1\n")(repository.folder)
    repository.commit()
    asked: list[str] = []
    original = revision.read_objects

    def read_objects(repository: Repository, entries: Sequence[TreeEntry]) -> Iterator[bytes]:
        asked.extend(entry.path for entry in entries)
        return original(repository, entries)

    monkeypatch.setattr(revision, "read_objects", read_objects)
    both = read_versions("git:HEAD~1", None, project, folder, None, cache)
    assert asked == ["roles/dev.yaml"]
    old, new = (
        {id(each): each.name for each in side.state.latest.tree.documents} for side in (both.old, both.new)
    )
    assert {old[each] for each in old.keys() - new.keys()} == {"roles/dev.yaml"}
