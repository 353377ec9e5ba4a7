"""Watching the documents: which changes count, and what happens when watching or reading itself fails."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from watchfiles import Change

from manifest_api import reloading
from manifest_api.answering import Answers
from manifest_api.reloading import Reloader, build_change_filter, identify, list_linked_paths
from orgkernel.graph.records import OrgRecords
from orgkernel.kernel.kernel import Kernel
from tests.api.asking import BAD_LINE, GOOD_LINE, ORG, ORG_FILE, ROLE, ROLE_FILE, client_of
from tests.support.patience import PATIENCE
from tests.support.trees import change_line, write_tree


@pytest.mark.parametrize(
    ("path", "relevant"),
    [
        ("/a/org.yaml", True), ("/a/roles/co.yml", True), ("/a/roles/co.json", True), ("/a/roles", True), ("/a/..data", True),
        ("/a/..2026_11_20/org.yaml", True), ("/a/.git/index", False), ("/a/.git/x.yaml", False), ("/a/.co.yaml.swp", False),
        ("/a/co.yaml~", False), ("/a/README.md", False), ("/a/node_modules/x.json", False), ("/a/__pycache__/x.pyc", False),
    ],
)  # fmt: skip
def test_which_changes_count(path: str, relevant: bool) -> None:
    """Documents, folders and the links folders are swapped by count; what editors and tools leave does not."""
    assert build_change_filter(["/a"])(Change.modified, path) is relevant


def test_markdown_counts_in_folders_of_others() -> None:
    """Agents of another format are Markdown files."""
    is_relevant = build_change_filter(["/a/agents", "/b"], ["/a/agents"])
    assert is_relevant(Change.modified, "/a/agents/deep/one.md")
    assert not is_relevant(Change.modified, "/b/one.md")


def test_where_the_watched_folder_lies_does_not_count() -> None:
    """Documents installed below a hidden folder are watched like any others."""
    assert build_change_filter(["/home/me/.venv/node_modules/a"])(
        Change.modified, "/home/me/.venv/node_modules/a/org.yaml"
    )


def test_folder_with_a_dot_counts(tmp_path: Path) -> None:
    """A folder counts whatever its name, also when it has gone and cannot be looked at."""
    folder = tmp_path / "v1.2"
    folder.mkdir()
    is_relevant = build_change_filter([str(tmp_path)])
    assert is_relevant(Change.added, str(folder))
    folder.rmdir()
    assert is_relevant(Change.deleted, str(folder))


def test_links_out_of_the_watched_folders_are_followed(tmp_path: Path) -> None:
    """Files that links lead to outside are compared themselves, with the folders they lie in; others are not."""
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder in (inside, outside / "roles"):
        folder.mkdir(parents=True)
    (outside / "org.yaml").write_text("a", encoding="utf-8")
    (outside / "roles" / "co.yaml").write_text("a", encoding="utf-8")
    (inside / "plain.yaml").write_text("a", encoding="utf-8")
    (inside / "org.yaml").symlink_to(outside / "org.yaml")
    (inside / "alias.yaml").symlink_to(inside / "plain.yaml")
    (inside / "roles").symlink_to(outside / "roles")
    files = [str(inside / name) for name in ("plain.yaml", "org.yaml", "alias.yaml", "roles/co.yaml")]
    linked = list_linked_paths(files, [str(inside)])
    wanted = [outside, outside / "org.yaml", outside / "roles", outside / "roles" / "co.yaml"]
    assert linked == tuple(map(str, wanted))
    before = identify([], linked)
    (outside / "roles" / "co.yaml").write_text("ab", encoding="utf-8")
    changed = {path for path, identity in identify([], linked).items() if identity != before[path]}
    assert changed == {str(outside / "roles" / "co.yaml")}


def test_failure_to_read_is_not_hidden(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """When reading fails by a fault of ours, answers go on, none claims to be fresh, and the next success ends that."""
    client = client_of(Kernel.open(folder))
    url = f"/v1/orgs/{ORG}/roles/{ROLE}"
    fresh = client.get(url)

    def fail(_: Kernel) -> None:
        raise MemoryError("too little of it")

    with monkeypatch.context() as broken:
        broken.setattr(Kernel, "reload", fail)
        asyncio.run(client.app.state.reloader.reload())
    assert "the reload failed" in caplog.text
    stale = client.get(url)
    assert (stale.content, stale.headers["orgkernel-stale"]) == (fresh.content, "true")
    said = client.get("/readyz").json()
    assert (said["status"], said["reading"]) == ("degraded", "failed")
    asyncio.run(client.app.state.reloader.reload())
    assert "orgkernel-stale" not in client.get(url).headers
    assert client.get("/readyz").json()["status"] == "ready"


def test_watching_goes_on_after_a_crash(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """When watching crashes it is logged, and begun again by comparing files; a change in between is not missed."""
    kernel = Kernel.open(folder)
    answers = Answers(kernel)
    reloader = Reloader(answers)
    begun: list[Any] = []

    async def crash_once(*_: str, **options: Any) -> AsyncIterator[set[Any]]:
        begun.append(options["force_polling"])
        if len(begun) == 1:
            raise OSError("no space left for watches")
        yield set()
        reloader.stop()

    monkeypatch.setattr(reloading, "awatch", crash_once)
    monkeypatch.setattr(reloading, "_RETRY_SECONDS", 0)
    change_line(folder / ORG_FILE, GOOD_LINE, BAD_LINE)
    asyncio.run(reloader.watch())
    assert begun == [None, True]
    assert "the documents cannot be watched" in caplog.text
    assert kernel.organization(ORG).stale
    assert not answers.reading_failed


def test_every_change_and_every_failure_is_followed_by_a_reload(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first look, a change, a failure before it, and what an editor leaves beside a file: each is read and answered."""
    kernel = Kernel.open(folder)
    answers = Answers(kernel)
    reloader = Reloader(answers)
    reloads: list[bool] = []
    original = Kernel.reload
    path = str(folder / ROLE_FILE)

    def listen(held: Kernel) -> Any:
        report = original(held)
        reloads.append(report.changed)
        return report

    async def changes(*_: str, **__: Any) -> AsyncIterator[set[Any]]:
        yield set()
        change_line(folder / ORG_FILE, GOOD_LINE, BAD_LINE)
        yield {(Change.modified, path)}
        assert kernel.organization(ORG).stale
        change_line(folder / ORG_FILE, BAD_LINE, GOOD_LINE)
        answers.reading_problem = "failed"
        yield {(Change.modified, path)}
        assert not kernel.organization(ORG).stale
        yield {(Change.added, path), (Change.deleted, f"{path}.new")}
        reloader.stop()

    monkeypatch.setattr(Kernel, "reload", listen)
    monkeypatch.setattr(reloading, "awatch", changes)
    asyncio.run(reloader.watch())
    assert reloads == [False, True, True, False]


def test_log_has_a_line_for_each_organization(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The log distinguishes stale, updated and unchanged organizations, and is empty if nothing changed."""
    caplog.set_level(logging.INFO, "orgkernel.server")
    reloader = Reloader(Answers(Kernel.open(folder)))

    def said() -> list[str]:
        caplog.clear()
        asyncio.run(reloader.reload())
        return [
            record.getMessage().split(" is now ")[0]
            for record in caplog.records
            if record.name == "orgkernel.server"
        ]

    assert said() == []
    change_line(folder / ORG_FILE, GOOD_LINE, BAD_LINE)
    (line,) = said()
    assert line.startswith(f"kept: organization `{ORG}` answers from its last good version: ")
    change_line(folder / ORG_FILE, BAD_LINE, GOOD_LINE)
    assert said() == [f"updated: organization `{ORG}`"]
    change_line(folder / ROLE_FILE, "role_name: Codegen Specialist", "role_name: Code Writer")
    assert said() == [f"updated: organization `{ORG}`"]


def test_answer_is_from_one_version(folder: Path) -> None:
    """A reload between two steps of an answer does not mix versions."""
    kernel = Kernel.open(folder)
    answers = Answers(kernel)
    asked = threading.Event()

    def ask(kernel: Kernel) -> Any:
        manifest = kernel.manifest(ORG, ROLE)
        if not asked.is_set():
            asked.set()
            change_line(folder / ROLE_FILE, "role_name: Codegen Specialist", "role_name: Code Writer")
            kernel.reload()
        return manifest

    answer = asyncio.run(answers.find(ask, ORG))
    assert b'"role_name":"Code Writer"' in answer.body
    assert answer.snapshot == kernel.organization(ORG).snapshot.digest


def test_what_appears_later_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of servers beside agents, and a folder of skills, that were not there when the watch began."""
    agent = "---\nname: a\ndescription: Use it.\ntools: mcp__web__open\n---\n"
    skill = "---\nname: look\ndescription: Use it to look.\n---\nLook.\n"
    write_tree(tmp_path, {".claude/agents/a.md": agent})
    monkeypatch.setattr(reloading, "_COMPARE_MS", 50)
    kernel = Kernel.open(tmp_path)

    def records() -> OrgRecords:
        return kernel.organization("active").snapshot.records

    async def appear() -> None:
        reloader = Reloader(Answers(kernel))
        watching = asyncio.create_task(reloader.watch())
        write_tree(tmp_path, {".mcp.json": '{"mcpServers": {"web": {}}}'})
        await until(lambda: "mcp__web" in records().tools)
        write_tree(tmp_path, {".claude/skills/look/SKILL.md": skill})
        await until(lambda: "look" in records().cognitive_skills)
        change_line(tmp_path / ".claude/skills/look/SKILL.md", "name: look", "name: see")
        await until(lambda: "see" in records().cognitive_skills)
        (tmp_path / ".mcp.json").unlink()
        await until(lambda: "mcp__web" not in records().tools)
        reloader.stop()
        await watching

    asyncio.run(asyncio.wait_for(appear(), PATIENCE))


def test_edit_between_two_watches_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit before the watch of a new folder begins is read, although no event reports it."""
    agents = tmp_path / ".claude/agents"
    write_tree(agents, {"a.md": "---\nname: a\ndescription: Use it.\n---\n"})
    skill = ".claude/skills/look/SKILL.md"
    begin, begun = reloading.awatch, 0

    def edit_before(*folders: Any, **options: Any) -> AsyncIterator[Any]:
        nonlocal begun
        begun += 1
        if begun == 2:
            change_line(tmp_path / skill, "name: look", "name: see")
        return begin(*folders, **options)

    monkeypatch.setattr(reloading, "awatch", edit_before)
    monkeypatch.setattr(reloading, "_COMPARE_MS", 50)
    kernel = Kernel.open(tmp_path)

    def skills() -> set[str]:
        return set(kernel.organization("active").snapshot.records.cognitive_skills)

    async def appear() -> None:
        reloader = Reloader(Answers(kernel))
        watching = asyncio.create_task(reloader.watch())
        await until(lambda: begun == 1)
        write_tree(tmp_path, {skill: "---\nname: look\ndescription: Use it to look.\n---\nLook.\n"})
        await until(lambda: skills() == {"see"})
        reloader.stop()
        await watching

    asyncio.run(asyncio.wait_for(appear(), PATIENCE))


async def until(holds: Callable[[], bool]) -> None:
    """Wait for something that another task does."""
    while not holds():
        await asyncio.sleep(0.02)
