"""Writing exports and keeping them in step: nothing of others is touched, nothing is half done, and each difference has a line on each side."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from orgkernel.errors import UsageError
from orgkernel.exchange.confined_folder import ConfinedFolder
from orgkernel.exchange.formats import EXPORTS
from orgkernel.exchange.marks import Mark
from orgkernel.exchange.writing import ForeignFile, check_export, write_export
from orgkernel.graph.questions import OrgView
from tests.exchange.organizations import guarded_documents, view_of
from tests.support.in_process import run_here as run
from tests.support.trees import change_line, copy_template

MARK = Mark("guarded", "claude-code")
EXPORTER = EXPORTS["claude-code"]
WORKER, BOSS, SETTINGS = ".claude/agents/worker.md", ".claude/agents/boss.md", ".claude/settings.json"


@pytest.fixture(scope="module")
def view(tmp_path_factory) -> OrgView:
    return view_of(tmp_path_factory.mktemp("guarded"), guarded_documents())


def write(view: OrgView, folder: Path, *, force: bool = False):
    return write_export(EXPORTER.export(view), EXPORTER, str(folder), MARK, force=force)


def check(view: OrgView, folder: Path):
    return check_export(EXPORTER.export(view), EXPORTER, str(folder), MARK)


def contents(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()}  # fmt: skip


def test_writing_twice_changes_nothing(view: OrgView, tmp_path: Path) -> None:
    """The second time, every file is already as exported."""
    first = write(view, tmp_path)
    assert set(first.written) == set(contents(tmp_path)) == {WORKER, BOSS, SETTINGS}
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")}
    assert write(view, tmp_path).written == ()
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.md")} == before
    assert check(view, tmp_path).drifted == ()


def test_files_of_others_are_never_replaced(view: OrgView, tmp_path: Path) -> None:
    """Nothing is written at all, until the user says so; what the export does not name stays also then."""
    theirs = {BOSS: "mine\n", ".claude/agents/own.md": "my own\n"}
    for path, text in theirs.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    with pytest.raises(ForeignFile, match="boss"):
        write(view, tmp_path)
    assert contents(tmp_path) == theirs
    assert check(view, tmp_path).foreign == (".claude/agents/own.md",)
    write(view, tmp_path, force=True)
    assert contents(tmp_path)[".claude/agents/own.md"] == "my own\n"
    assert check(view, tmp_path).drifted == ()


def test_files_of_another_organization_or_format_are_of_others(view: OrgView, tmp_path: Path) -> None:
    """Their mark says so, and they are not replaced."""
    write(view, tmp_path)
    for mark in (Mark("other", "claude-code"), Mark("guarded", "copilot")):
        changed = EXPORTER.export(view)
        files = {path: f"{text} " for path, text in changed.files.items()}
        with pytest.raises(ForeignFile):
            write_export(type(changed)(files, (), ()), EXPORTER, str(tmp_path), mark, force=False)


def test_a_role_that_is_gone_takes_its_file_along(view: OrgView, tmp_path: Path) -> None:
    """With our mark; a quoted mark further down is ignored."""
    write(view, tmp_path)
    gone, quoting = tmp_path / ".claude/agents/gone.md", tmp_path / ".claude/agents/quoting.md"
    gone.write_text((tmp_path / WORKER).read_text())
    mark = (tmp_path / WORKER).read_text().split("\n")[1]
    quoting.write_text(f"---\nname: quoting\ndescription: x\n---\n\n{mark}\n")
    found = check(view, tmp_path)
    assert [(each.path, each.kind) for each in found.drifted] == [(".claude/agents/gone.md", "surplus")]
    assert write(view, tmp_path).removed == (".claude/agents/gone.md",)
    assert not gone.exists()
    assert quoting.exists()


def test_the_folder_of_a_skill_that_is_gone_goes_too(tmp_path: Path) -> None:
    """An export is not written into a folder with other files."""
    run("export", "--to", "skills", "--org", "starship", "-o", "out", cwd=tmp_path)
    kept = (tmp_path / "out/skills/threat-assessment/SKILL.md").read_text()
    for name in ("gone", "used"):
        (tmp_path / f"out/skills/{name}").mkdir()
        (tmp_path / f"out/skills/{name}/SKILL.md").write_text(kept)
    (tmp_path / "out/skills/used/notes.md").write_text("mine")
    done = run("export", "--to", "skills", "--org", "starship", "-o", "out", cwd=tmp_path)
    assert "out/skills/gone/SKILL.md (removed)" in done.stdout
    assert not (tmp_path / "out/skills/gone").exists()
    assert [path.name for path in (tmp_path / "out/skills/used").iterdir()] == ["notes.md"]


def test_a_full_disk_changes_nothing(view: OrgView, tmp_path: Path, monkeypatch) -> None:
    """The last of the new contents does not fit: every file is as before, and nothing lies beside it."""
    write(view, tmp_path)
    for path in (BOSS, WORKER):
        (tmp_path / path).write_text((tmp_path / path).read_text() + "\nolder\n")
    before = contents(tmp_path)
    real, calls = ConfinedFolder.write, []

    def no_room(self, path: str, content: bytes) -> None:
        calls.append(path)
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(self, path, content)

    monkeypatch.setattr(ConfinedFolder, "write", no_room)
    with pytest.raises(UsageError, match="no space left"):
        write(view, tmp_path)
    assert contents(tmp_path) == before


def test_a_killed_run_leaves_old_or_new_files_and_the_next_one_mends(
    view: OrgView, tmp_path: Path, monkeypatch
) -> None:
    """If the export is killed at any replacement, a reader sees a whole file."""
    new = EXPORTER.export(view).files
    old = {path: f"{text}\nolder\n" for path, text in new.items()}
    real = ConfinedFolder.rename

    class Killed(BaseException):
        pass

    for last in range(len(new)):
        folder = tmp_path / str(last)
        write(view, folder)
        for path, text in old.items():
            (folder / path).write_text(text)
        calls: list[str] = []

        def rename(self, path: str, name: str, last=last, calls=calls) -> None:
            if len(calls) == last:
                raise Killed
            calls.append(path)
            real(self, path, name)

        with monkeypatch.context() as patch:
            patch.setattr(ConfinedFolder, "rename", rename)
            with pytest.raises(Killed):
                write(view, folder)
        assert all((folder / path).read_text() in (old[path], new[path]) for path in new)
        (folder / ".claude/agents/gone.md.orgkernel-new").write_text("left by a run before")
        write(view, folder)
        assert contents(folder) == dict(new)


def test_no_link_is_followed(view: OrgView, tmp_path: Path) -> None:
    """A link in the place of a folder or of a file could lead anywhere."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "one/.claude").mkdir(parents=True)
    (tmp_path / "one/.claude/agents").symlink_to(outside)
    with pytest.raises(UsageError):
        write(view, tmp_path / "one", force=True)
    (tmp_path / "two/.claude/agents").mkdir(parents=True)
    (outside / "secret").write_text("secret")
    (tmp_path / "two" / BOSS).symlink_to(outside / "secret")
    with pytest.raises(ForeignFile):
        write(view, tmp_path / "two", force=True)
    assert contents(outside) == {"secret": "secret"}


# -- in step ---------------------------------------------------------------------------------------------------------


def test_a_difference_has_a_line_on_each_side(tmp_path: Path) -> None:
    """Drift is shown with the line of the changed file and the line of YAML that differs."""
    copy_template(tmp_path / "org", "software_dev")
    export = (
        "export",
        "--to",
        "claude-code",
        "--org",
        "software_dev",
        "--path",
        "org",
        "-o",
        "out",
        "--accept-losses",
    )
    run(*export, cwd=tmp_path)
    agent = tmp_path / "out/.claude/agents/co.md"
    change_line(agent, "  - WebFetch", "  - Bash")
    done = run(*export, "--check", cwd=tmp_path)
    line = agent.read_text().split("\n").index("  - Bash") + 1
    yaml = (tmp_path / "org/roles/co.yaml").read_text().split("\n")
    said = next(number for number, text in enumerate(yaml, 1) if "document_query" in text)
    assert (done.returncode, done.stdout.splitlines()) == (
        1,
        [
            "changed: out/.claude/agents/co.md",
            f"  out/.claude/agents/co.md:{line}: `- Bash`",
            f"  org/roles/co.yaml:{said}: `- WebFetch`",
        ],
    )
    assert "1 file of 8 out of date" in done.stderr
    assert "  - Bash" in agent.read_text().split("\n")


def test_missing_and_surplus_files_are_told_and_others_noted(tmp_path: Path) -> None:
    """A removed role and a new role are differences; a file that was not exported is not."""
    copy_template(tmp_path / "org", "software_dev")
    export = (
        "export",
        "--to",
        "copilot",
        "--org",
        "software_dev",
        "--path",
        "org",
        "-o",
        "out",
        "--accept-losses",
    )
    run(*export, cwd=tmp_path)
    agents = tmp_path / "out/.github/agents"
    (agents / "mine.agent.md").write_text("---\nname: mine\n---\n")
    assert run(*export, "--check", cwd=tmp_path).returncode == 0
    (agents / "co.agent.md").rename(agents / "captain.agent.md")
    done = run(*export, "--check", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "missing: out/.github/agents/co.agent.md, for org/roles/co.yaml:6:10",
        "surplus: out/.github/agents/captain.agent.md: exported earlier, but no longer declared",
    ]
    assert "note: out/.github/agents/mine.agent.md was not exported from this organization" in done.stderr


def test_a_change_of_the_organization_is_found(tmp_path: Path) -> None:
    """A tool less in YAML is a line too many in the file."""
    copy_template(tmp_path / "org", "software_dev")
    export = (
        "export",
        "--to",
        "crewai",
        "--org",
        "software_dev",
        "--path",
        "org",
        "-o",
        "out",
        "--accept-losses",
    )
    run(*export, cwd=tmp_path)
    path = tmp_path / "org/roles/codegen_specialist.yaml"
    path.write_text(path.read_text().replace("    - text_editor\n", "", 1))
    done = run(*export, "--check", cwd=tmp_path)
    assert done.returncode == 1
    assert '`"custom:text_editor",`' in done.stdout
    assert "org/roles/codegen_specialist.yaml:" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--check",), "pass the folder with `-o DIR`"),
        (("--force",), "pass the folder with `-o DIR`"),
        (("--check", "--force", "-o", "out"), "`--force` has no effect"),
        (("--check", "-o", "file"), "cannot be opened"),
    ],
)
def test_bad_use_is_exit_2(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    """What cannot be run is told from what differs, which is exit 1."""
    (tmp_path / "file").write_text("")
    done = run("export", "--to", "claude-code", "--org", "blank", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr


def test_checking_writes_nothing(tmp_path: Path) -> None:
    """Not even the folder."""
    done = run("export", "--to", "claude-code", "--org", "blank", "-o", "out", "--check", cwd=tmp_path)
    assert (done.returncode, os.listdir(tmp_path)) == (1, [])
    assert done.stdout.startswith("missing: out/.claude/agents/co.md, for ")


def test_a_file_without_a_place_for_a_mark_belongs_to_its_neighbors(tmp_path: Path) -> None:
    """Cedar's entities are JSON: they are ours where the policies are."""
    export = ("export", "--to", "cedar", "--org", "blank", "-o", "out")
    run(*export, cwd=tmp_path)
    entities = tmp_path / "out/entities.json"
    entities.write_text("[]")
    assert run(*export, "--check", cwd=tmp_path).returncode == 1
    assert run(*export, cwd=tmp_path).returncode == 0
    assert json.loads(entities.read_text())
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone/entities.json").write_text("[]")
    assert run(*export[:-1], "alone", cwd=tmp_path).returncode == 2
