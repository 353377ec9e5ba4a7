"""`orgkernel ownership audit` on real git repositories: who touched what, and whether it was theirs."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.contracts import as_text, changed
from tests.support.git_repository import GitRepository
from tests.support.in_process import run_here
from tests.support.trees import change_line, copy_template

A, B, C = (f"6f1c1d3a-8a52-4d0e-9a3b-5d1b1a1c000{number}" for number in (1, 2, 3))
EXIT = {"clean": 0, "violations": 1, "cannot_tell": 2}


class Project(GitRepository):
    """A repository with a first commit, and briefs beside it."""

    def __init__(self, folder: Path, files: Mapping[str, str | bytes | None]) -> None:
        super().__init__(folder / "project")
        self.beside = folder
        self.base = self.commit({"README.md": "read me\n", **files})

    def brief(self, id: str, owned: Sequence[str], **changes: Any) -> str:
        """A brief in a file; its path."""
        values = {"id": id, "spec.scope.files_owned": list(owned), "spec.scope.destructive": [], **changes}
        path = self.beside / f"{id[-1]}.yaml"
        path.write_text(as_text(changed("brief", values)), encoding="utf-8")
        return str(path)

    def audit(self, *arguments: str, base: str | None = None) -> dict[str, Any]:
        """The answer; its exit code fits."""
        done = run_here(
            "ownership", "audit", "--base", base or self.base, *arguments, "--format", "json", cwd=self.folder
        )
        assert done.returncode in (0, 1, 2), done.stderr
        if not done.stdout:
            return {"outcome": "cannot_tell", "error": done.stderr}
        answer: dict[str, Any] = json.loads(done.stdout)
        assert done.returncode == EXIT[answer["outcome"]]
        return answer


@pytest.fixture
def project(tmp_path: Path) -> Project:
    files = {"src/a/one.py": "one = 1\n" * 9, "src/b/two.py": "two = 2\n" * 9, "docs/guide.md": "guide\n"}
    return Project(tmp_path, files)


def said(answer: dict[str, Any]) -> list[tuple[str, str | None, str | None]]:
    return [(each["code"], each.get("path"), each.get("worker")) for each in answer["findings"]]


def test_an_audit_is_clean_if_each_worker_changed_only_its_own_files(project: Project) -> None:
    """If each worker changed only its own files, the audit is clean and lists each worker's commits and files."""
    briefs = ("--brief", project.brief(A, ["src/a/**"]), "--brief", project.brief(B, ["src/b"]))
    project.commit({"src/a/one.py": "1\n", "src/a/new.py": ""}, A)
    project.commit({"src/b/two.py": None, "src/b/deep/er.py": ""}, B)
    answer = project.audit(*briefs)
    assert answer["outcome"] == "clean", answer
    assert [(each["name"][-6:], each["commits"], each["files"]) for each in answer["workers"]] == [
        ("1.yaml", 1, ["src/a/new.py", "src/a/one.py"]),
        ("2.yaml", 1, ["src/b/deep/er.py", "src/b/two.py"]),
    ]


def test_files_of_others_and_unowned_files_have_different_codes(project: Project) -> None:
    """A file of another worker and an unowned file have different codes. With `--union`, only the unowned file
    is a violation.
    """
    one, other = project.brief(A, ["src/a/**"]), project.brief(B, ["src/b/**"])
    project.commit({"src/a/one.py": "1\n", "src/b/two.py": "2\n"}, A)
    project.commit({"src/b/more.py": "", "README.md": "changed\n"}, B)
    answer = project.audit("--brief", one, "--brief", other)
    assert sorted(said(answer)) == [
        ("FILE_OWNED_BY_OTHER", "src/b/two.py", one),
        ("WRITE_NOT_OWNED", "README.md", other),
    ]
    assert answer["unowned"] == ["README.md"]
    union = project.audit("--brief", one, "--brief", other, "--union")
    assert said(union) == [("WRITE_NOT_OWNED", "README.md", None)]


def test_one_brief_is_that_of_all_commits(project: Project) -> None:
    """No commit needs to say so."""
    brief = project.brief(A, ["src/a/**"])
    project.commit({"src/a/one.py": "1\n"})
    assert project.audit("--brief", brief)["outcome"] == "clean"
    project.commit({"src/b/two.py": "2\n"})
    assert said(project.audit("--brief", brief)) == [("WRITE_NOT_OWNED", "src/b/two.py", brief)]


@pytest.mark.parametrize("trailer", [None, C, f"{A}\nBrief: {B}"])
def test_a_commit_of_an_unknown_worker_is_not_passed(project: Project, trailer: str | None) -> None:
    """A commit that names no brief, two briefs, or a brief that was not given makes the outcome `cannot_tell`."""
    briefs = ("--brief", project.brief(A, ["src/a/**"]), "--brief", project.brief(B, ["src/b/**"]))
    commit = project.commit({"src/a/one.py": "1\n"}, trailer)
    answer = project.audit(*briefs)
    assert answer["outcome"] == "cannot_tell"
    assert [(each["code"], each["commits"]) for each in answer["findings"]] == [
        ("COMMIT_UNATTRIBUTED", [commit])
    ]
    assert project.audit(*briefs, "--union")["outcome"] == "clean"


def test_an_empty_commit_needs_no_worker(project: Project) -> None:
    """It changed no file, so it does not matter whose it is."""
    project.commit()
    assert project.audit("--brief", project.brief(A, ["src/a/**"]), "--brief", project.brief(B, ["b"]))[
        "outcome"
    ] == ("clean")


def test_both_sides_of_a_rename_count(project: Project) -> None:
    """A file is moved neither out of what is owned nor into it."""
    out = project.brief(A, ["src/a/**"])
    project.git("mv", "src/a/one.py", "src/c.py")
    project.commit()
    answer = project.audit("--brief", out)
    assert said(answer) == [("MOVE_NOT_OWNED", "src/c.py", out)]
    assert [(each["path"], each["change"], each["before"]) for each in answer["files"]] == [
        ("src/c.py", "renamed", "src/a/one.py")
    ]
    into = project.brief(B, ["src/c.py"])
    assert said(project.audit("--brief", into)) == [("WRITE_NOT_OWNED", "src/a/one.py", into)]
    assert project.audit("--brief", project.brief(C, ["src/c.py", "src/a/one.py"]))["outcome"] == "clean"


def test_what_is_copied_from_is_not_touched(project: Project) -> None:
    """Only the copy has to be owned."""
    brief = project.brief(A, ["src/a/**"])
    project.commit({"src/a/copy.py": "one = 1\n" * 9, "src/a/one.py": "one = 1\n" * 10})
    answer = project.audit("--brief", brief)
    assert answer["outcome"] == "clean"
    assert {each["change"] for each in answer["files"]} == {"copied", "modified"}


def test_deletions_modes_and_links(project: Project) -> None:
    """Each is a change of the file."""
    brief = project.brief(A, ["src/a/**"])
    two = project.folder / "src/b/two.py"
    two.chmod(two.stat().st_mode | stat.S_IXUSR)
    (project.folder / "docs/guide.md").unlink()
    (project.folder / "README.md").unlink()
    os.symlink("src", project.folder / "README.md")
    project.commit()
    answer = project.audit("--brief", brief)
    assert sorted((each["path"], each["change"]) for each in answer["files"]) == [
        ("README.md", "type_changed"),
        ("docs/guide.md", "deleted"),
        ("src/b/two.py", "mode_changed"),
    ]
    assert {each["code"] for each in answer["findings"]} == {"WRITE_NOT_OWNED"}
    assert len(answer["findings"]) == 3


def test_a_submodule_is_a_path(project: Project) -> None:
    """What changed inside of it is not seen here, and settings that hide submodules change nothing."""
    project.write({".gitmodules": '[submodule "lib"]\n\tpath = lib\n\turl = ./x\n\tignore = all\n'})
    project.git("update-index", "--add", "--cacheinfo", f"160000,{project.base},lib")
    project.git("add", ".gitmodules")
    project.git("commit", "-qm", "lib")
    project.git("config", "diff.ignoreSubmodules", "all")
    brief = project.brief(A, [".gitmodules", "lib/**"])
    assert said(project.audit("--brief", brief)) == [("WRITE_NOT_OWNED", "lib", brief)]
    assert project.audit("--brief", project.brief(B, [".gitmodules", "lib"]))["outcome"] == "clean"


def test_the_branch_of_a_worker(project: Project) -> None:
    """Its commits are those of the worker, once they are merged."""
    for branch, file in (("one", "src/a/one.py"), ("two", "src/b/two.py")):
        project.git("checkout", "-qb", branch, project.base)
        project.commit({file: "changed\n"})
    project.git("checkout", "-q", "main")
    project.git("merge", "-q", "--no-ff", "one", "-m", "one")
    workers = (
        f"--worker=one={project.brief(A, ['src/a/**'])}",
        f"--worker=two={project.brief(B, ['src/b/**'])}",
    )
    unmerged = project.audit(*workers)
    assert "has commits that are not in" in unmerged["error"]
    project.git("merge", "-q", "--no-ff", "two", "-m", "two")
    answer = project.audit(*workers)
    assert answer["outcome"] == "clean", answer
    assert [each["commits"] for each in answer["workers"]] == [1, 1]
    swapped = (
        f"--worker=two={project.brief(A, ['src/a/**'])}",
        f"--worker=one={project.brief(B, ['src/b/**'])}",
    )
    assert [code for code, *_ in said(project.audit(*swapped))] == ["FILE_OWNED_BY_OTHER"] * 2


def test_a_branch_that_builds_on_another_one(project: Project) -> None:
    """Commits of a branch that another branch builds on belong to the first branch. If two branches end at the
    same commit, it is not attributed.
    """
    project.git("checkout", "-qb", "one")
    project.commit({"src/a/one.py": "1\n"})
    project.git("checkout", "-qb", "two")
    workers = (
        f"--worker=one={project.brief(A, ['src/a/**'])}",
        f"--worker=two={project.brief(B, ['src/b/**'])}",
    )
    assert said(project.audit(*workers)) == [("COMMIT_UNATTRIBUTED", None, None)]
    project.commit({"src/b/two.py": "2\n"})
    answer = project.audit(*workers)
    assert answer["outcome"] == "clean", answer


def test_a_merge_is_responsible_for_content_of_neither_parent(project: Project) -> None:
    """The author of a merge is responsible for content that is in neither parent, and for changes that the merge drops."""
    project.git("checkout", "-qb", "one")
    project.commit({"src/a/one.py": "1\n", "src/a/more.py": "more\n"}, A)
    project.git("checkout", "-q", "main")
    project.commit({"src/b/two.py": "2\n"}, B)
    briefs = ("--brief", project.brief(A, ["src/a/**"]), "--brief", project.brief(B, ["src/b/**"]))
    project.git("merge", "-q", "--no-ff", "one", "-m", "clean")
    assert project.audit(*briefs)["outcome"] == "clean"
    project.write({"src/a/one.py": "one = 1\n" * 9, "docs/guide.md": "slipped in\n"})
    project.git("commit", "-q", "--all", "--amend", "-m", f"evil\n\nBrief: {B}")
    answer = project.audit(*briefs)
    assert [(code, path) for code, path, _ in said(answer)] == [("WRITE_NOT_OWNED", "docs/guide.md")]
    # The file of A is as before at the end, because B has taken the change back.
    assert answer["restored"] == ["src/a/one.py"]
    project.write({"src/a/more.py": "other\n"})
    project.git("commit", "-q", "--all", "--amend", "-m", f"evil\n\nBrief: {B}")
    assert ("FILE_OWNED_BY_OTHER", "src/a/more.py", briefs[3]) in said(project.audit(*briefs))


def test_changes_merged_from_the_base_are_not_charged(project: Project) -> None:
    """A worker that merges the main branch has not changed what others did there."""
    project.git("checkout", "-qb", "one")
    project.commit({"src/a/one.py": "1\n"})
    project.git("checkout", "-q", "main")
    project.commit({"src/b/two.py": "2\n", "README.md": "3\n"})
    project.git("checkout", "-q", "one")
    project.git("merge", "-q", "main", "-m", "main")
    answer = project.audit("--brief", project.brief(A, ["src/a/**"]), base="main")
    assert answer["outcome"] == "clean", answer
    assert [each["path"] for each in answer["files"]] == ["src/a/one.py"]


def test_what_is_as_before_was_not_changed(project: Project) -> None:
    """A file with its original content at the end is listed as restored, and is not a violation."""
    brief = project.brief(A, ["src/a/**"])
    project.commit({"README.md": "other\n"})
    project.commit({"README.md": "read me\n", "src/a/one.py": ""})
    answer = project.audit("--brief", brief)
    assert (answer["outcome"], answer["restored"]) == ("clean", ["README.md"])


HOSTILE = [
    "src/a/new\nline.py",
    'src/a/quo"te\t.py',
    "src/a/\udcff\udcfe.py",
    "src/a/$(touch boo).py",
    "src/a/:(top)x",
    "src/a/*?[!a].py",
    "src/a/ü.py",
    "src/a/-rf",
    "src/a/back\\slash",
    "src/a/ space ",
]


def test_hostile_names(project: Project) -> None:
    """They are names of files, and mean nothing else."""
    project.commit(dict.fromkeys(HOSTILE, "x\n"))
    inside = project.audit("--brief", project.brief(A, ["src/a/**"]))
    assert inside["outcome"] == "clean", inside["findings"]
    outside = project.audit("--brief", project.brief(B, ["src/b/**"]))
    assert len(outside["findings"]) == len(HOSTILE)
    assert "src/a/\\xff\\xfe.py" in outside["unowned"]
    assert "src/a/new\nline.py" in outside["unowned"]
    text = run_here(
        "ownership",
        "audit",
        "--base",
        project.base,
        "--brief",
        str(project.beside / "2.yaml"),
        cwd=project.folder,
    )
    assert "\nline.py" not in text.stdout


@pytest.mark.parametrize(
    ("owned", "touched"), [("docs/guide.md", "docs/Guide.md"), ("docs/caf\u00e9.md", "docs/cafe\u0301.md")]
)
def test_names_that_are_nearly_equal(project: Project, owned: str, touched: str) -> None:
    """Paths that differ in letter case may be one file or two, so owning one does not mean owning the other."""
    one, other = project.brief(A, [owned]), project.brief(B, ["src/b/**", "docs/c*", "docs/G*"])
    project.commit({touched: "x\n"})
    alone = project.audit("--brief", one)
    assert said(alone) == [("WRITE_NOT_OWNED", touched, one)]
    assert "letter case" in alone["findings"][0]["text"]
    assert alone["outcome"] == "violations"
    project.git("commit", "-q", "--amend", "-m", f"x\n\nBrief: {B}")
    both = project.audit("--brief", one, "--brief", other)
    assert both["outcome"] == "violations", "the other one may have written into the file of the first"


def test_a_name_in_a_brief_means_itself(project: Project) -> None:
    """Brackets and dollars are names of folders in many projects."""
    project.commit({"app/[id]/page.tsx": "x\n", "app/$user.tsx": "y\n"})
    assert (
        project.audit("--brief", project.brief(A, ["app/[id]/page.tsx", "app/$user.tsx"]))["outcome"]
        == "clean"
    )
    assert len(project.audit("--brief", project.brief(B, ["app/[user]/page.tsx"]))["findings"]) == 2


def test_a_changed_file_of_two_owners(project: Project) -> None:
    """It is a conflict once it is changed, unless one brief was handed down from the other."""
    briefs = ("--brief", project.brief(A, ["src/**"]), "--brief", project.brief(B, ["src/b/*.py"]))
    project.commit({"src/a/one.py": "1\n"}, A)
    clean = project.audit(*briefs)
    assert clean["outcome"] == "clean"
    assert [(each["path"], each["other_path"]) for each in clean["overlaps"]] == [("src/**", "src/b/*.py")]
    project.commit({"src/b/two.py": "1\n"}, B)
    assert said(project.audit(*briefs)) == [("CLAIM_CONFLICT", "src/b/two.py", None)]
    handed_down = ("--brief", briefs[1], "--brief", project.brief(B, ["src/b/*.py"], parent=A))
    answer = project.audit(*handed_down)
    assert (answer["outcome"], answer["overlaps"]) == ("clean", [])


def test_settings_of_a_repository_run_nothing_and_hide_nothing(project: Project) -> None:
    """None of its programs is started, and no setting changes what is found."""
    project.commit({".gitattributes": "*.py diff=trap filter=trap\n", "src/a/one.py": "1\n"}, A)
    project.git("checkout", "-q", "-b", "other", project.base)
    project.commit({"src/a/two.py": "1\n"}, A)
    project.git("merge", "-q", "main", "-m", f"merge\n\nBrief: {A}")
    trap = f"touch {project.beside}/trapped; false"
    for name in (
        "core.fsmonitor", "core.pager", "diff.external", "diff.trap.command", "diff.trap.textconv", "gpg.program",
        "core.sshCommand", "pager.log", "filter.trap.clean", "filter.trap.smudge", "interactive.diffFilter",
        "trailer.brief.command", "core.alternateRefsCommand",
    ):  # fmt: skip
        project.git("config", name, trap)
    for name, value in {
        "log.showSignature": "true", "diff.renames": "copies", "diff.orderFile": "/nowhere", "color.ui": "always",
        "core.quotePath": "true", "diff.noprefix": "true", "diff.relative": "true", "diff.ignoreSubmodules": "all",
        "log.date": "human", "format.pretty": "oneline", "trailer.separators": "=", "log.diffMerges": "on",
        "i18n.logOutputEncoding": "UTF-16", "core.warnAmbiguousRefs": "false",
    }.items():  # fmt: skip
        project.git("config", name, value)
    answer = project.audit("--brief", project.brief(A, ["src/a/**"]), "--brief", project.brief(B, ["docs"]))
    assert [(code, path) for code, path, _ in said(answer)] == [("WRITE_NOT_OWNED", ".gitattributes")]
    assert not (project.beside / "trapped").exists()


def test_no_other_history_stands_in_for_the_real_one(project: Project) -> None:
    """Replaced commits, grafts and variables of the environment."""
    harmless = project.commit({"src/a/one.py": "1\n"})
    project.git("reset", "-q", "--hard", project.base)
    bad = project.commit({"README.md": "bad\n"})
    brief = project.brief(A, ["src/a/**"])
    project.git("replace", bad, harmless)
    (project.folder / ".git/info").mkdir(exist_ok=True)
    (project.folder / ".git/info/grafts").write_text(f"{bad} {harmless}\n")
    assert said(project.audit("--brief", brief)) == [("WRITE_NOT_OWNED", "README.md", brief)]


def test_what_cannot_be_told(project: Project, tmp_path: Path) -> None:
    """Unknown revisions, shallow histories and missing briefs are reported with exit code 2."""
    brief = project.brief(A, ["src/a/**"])
    project.commit({"src/a/one.py": "1\n"})
    for base in ("nowhere", "--all", "", "HEAD:README.md", "^HEAD"):
        assert project.audit("--brief", brief, base=base or " ")["outcome"] == "cannot_tell"
    assert "no brief or claim given" in project.audit()["error"]
    assert "share a name or a brief" in project.audit("--brief", brief, "--brief", brief)["error"]
    elsewhere = run_here("ownership", "audit", "--base", "x", "--brief", brief, cwd=tmp_path)
    assert elsewhere.returncode == 2
    assert "is not in a git repository" in elsewhere.stderr
    shallow = tmp_path / "shallow"
    project.git("clone", "-q", "--depth", "1", f"file://{project.folder}", str(shallow))
    done = run_here("ownership", "audit", "--base", "HEAD", "--brief", brief, cwd=shallow)
    assert (done.returncode, "shallow" in done.stderr) == (2, True)
    project.git("checkout", "-q", "--orphan", "other")
    project.commit({"src/a/one.py": "1\n"})
    assert "0 last common commits" in project.audit("--brief", brief, base="main")["error"]


@pytest.fixture
def governed(tmp_path: Path) -> Project:
    """A project that keeps its organization in a folder, with manifests and migrations."""
    files = {
        "package.json": '{"version": "1", "dependencies": {"a": "1"}}\n',
        "pyproject.toml": '[project]\nversion = "1"\ndependencies = ["a"]\n',
        "db/migrations/0001.sql": "create table a;\n",
        "src/billing/card.py": "card\n",
    }
    project = Project(tmp_path, files)
    copy_template(project.folder / "acme", "omega")
    project.base = project.commit()
    return project


def test_sacred_scopes_of_an_organization(governed: Project) -> None:
    """Owning a file does not unlock it, authentication needs both its field and its gate, and some files are never unlocked."""
    governed.commit(
        {
            "src/billing/card.py": "changed\n",
            "src/AUTH/login.py": "x\n",
            "web/.env": "A=b\n",
            "src/cart.py": "",
        }
    )
    answer = governed.audit("--brief", governed.brief(A, ["**"], audit_gates=[]))
    assert sorted((code, path) for code, path, _ in said(answer)) == [
        ("SACRED_SCOPE", "web/.env"),
        ("SACRED_SCOPE_LOCKED", "src/AUTH/login.py"),
        ("SACRED_SCOPE_LOCKED", "src/billing/card.py"),
    ]
    assert {each["why"][0]["file"] for each in answer["findings"]} == {"acme/governance.yaml"}
    allowed = {"spec.scope.allow_billing": True, "spec.scope.allow_authentication": True}
    for half in (
        {"spec.scope.allow_billing": True, "audit_gates": ["secaudit"]},
        {**allowed, "audit_gates": []},
    ):
        brief = governed.brief(A, ["**"], **half)
        assert said(governed.audit("--brief", brief)) == [
            ("SACRED_SCOPE_LOCKED", "src/AUTH/login.py", brief),
            ("SACRED_SCOPE", "web/.env", brief),
        ]
    brief = governed.brief(A, ["**"], **allowed, audit_gates=["secaudit"])
    assert said(governed.audit("--brief", brief)) == [("SACRED_SCOPE", "web/.env", brief)]


def test_dependencies_and_migrations(governed: Project) -> None:
    """Dependencies and migrations are protected with and without an organization."""
    governed.commit(
        {
            "package.json": '{"version": "2", "dependencies": {"a": "1"}, "scripts": {"test": "x"}}\n',
            "pyproject.toml": '[project]\nversion = "2"\ndependencies = ["a", "b"]\n',
            "db/migrations/0002.sql": "create table b;\n",
        }
    )
    brief = governed.brief(A, ["**"])
    unlocked = governed.brief(B, ["**"], **{"spec.scope.allow_dependency_change": True})
    (governed.folder / "empty").mkdir()
    for place in (governed.folder, governed.folder / "empty"):
        done = run_here(
            "ownership", "audit", "--base", governed.base, "--brief", brief, "--format", "json", cwd=place
        )
        answer = json.loads(done.stdout)
        assert [(code, path) for code, path, _ in said(answer)] == [("SACRED_SCOPE_LOCKED", "pyproject.toml")]
        assert ("only the files that are always protected are treated as sacred" in done.stderr) == (
            place != governed.folder
        )
    assert governed.audit("--brief", unlocked)["outcome"] == "clean"
    governed.git("mv", "db/migrations/0001.sql", "db/migrations/0000.sql")
    governed.commit()
    assert [(code, path) for code, path, _ in said(governed.audit("--brief", unlocked))] == [
        ("SACRED_SCOPE", "db/migrations/0001.sql")
    ]


def test_manifests_that_are_no_files_or_no_text(governed: Project) -> None:
    """What cannot be read counts as a change of dependencies."""
    brief = governed.brief(A, ["**"])
    (governed.folder / "package.json").unlink()
    os.symlink("other.json", governed.folder / "package.json")
    governed.commit(
        {"pyproject.toml": b'[project]\ndependencies = ["a"]\nname = "\xff"\n', "other.json": "{}\n"}
    )
    assert sorted((code, path) for code, path, _ in said(governed.audit("--brief", brief))) == [
        ("SACRED_SCOPE_LOCKED", "package.json"),
        ("SACRED_SCOPE_LOCKED", "pyproject.toml"),
    ]


def test_links_out_of_the_project(project: Project) -> None:
    """A link is held for where it leads."""
    for name, target in (("out", "../../../etc"), ("in", "../b/two.py"), ("vault", "../../.env")):
        os.symlink(target, project.folder / "src/a" / name)
    project.commit()
    answer = project.audit("--brief", project.brief(A, ["src/a/**"]))
    assert sorted((code, path) for code, path, _ in said(answer)) == [
        ("SACRED_SCOPE", "src/a/vault"),
        ("WRITE_NOT_OWNED", "src/a/out"),
    ]


def test_an_organization_that_cannot_be_asked(governed: Project) -> None:
    """The sacred scopes are not known then, and nothing passes."""
    brief = governed.brief(A, ["**"])
    governed.commit({"src/cart.py": ""})
    assert governed.audit("--brief", brief)["outcome"] == "clean"
    assert "acme2" in governed.audit("--brief", brief, "--org", "acme2")["error"]
    governance = governed.folder / "acme/governance.yaml"
    text = governance.read_text(encoding="utf-8")
    governance.write_text(text.replace("paths:", "pahts:", 1), encoding="utf-8")
    assert governed.audit("--brief", brief)["outcome"] == "cannot_tell"
    governance.write_text(text.replace('"**/auth/**"', '"$HOME/auth"'), encoding="utf-8")
    assert governed.audit("--brief", brief)["outcome"] == "cannot_tell"


def test_claims_say_who_owns_what(project: Project) -> None:
    """With `--claims`, changed files are compared with all claims together, because commits name no claim."""
    for holder, path in (("agent:a", "src/a/"), ("agent:b", "src/b/*.py")):
        assert run_here("claim", "add", "shop", holder, path, cwd=project.folder).returncode == 0
    project.git("commit", "--allow-empty", "-qm", "x")
    base = project.git("rev-parse", "HEAD")
    project.write({"src/a/one.py": "1\n", "src/b/two.py": "2\n"})
    project.git("commit", "-qam", "x")
    assert project.audit("--claims", base=base)["outcome"] == "clean"
    project.write({"README.md": "3\n"})
    project.git("commit", "-qam", "x")
    assert said(project.audit("--claims", base=base)) == [("WRITE_NOT_OWNED", "README.md", None)]
    both = project.audit("--claims", "--brief", project.brief(A, ["src"]), base=base)
    assert "cannot be combined with briefs" in both["error"]


def test_a_name_of_two_commits(project: Project) -> None:
    """A tag that is named like the branch would move the beginning of the work."""
    brief = project.brief(A, ["src/a/**"])
    project.git("checkout", "-qb", "work")
    project.commit({"README.md": "bad\n"})
    assert project.audit("--brief", brief, base="main")["outcome"] == "violations"
    project.git("tag", "main")
    project.git("config", "core.warnAmbiguousRefs", "false")
    assert "more than one commit" in project.audit("--brief", brief, base="main")["error"]
    assert project.audit("--brief", brief, base="refs/heads/main")["outcome"] == "violations"


@pytest.mark.parametrize("name", ["..", ".git", ".GIT ", "git~1"])
def test_trees_that_git_would_not_make(project: Project, name: str) -> None:
    """No brief owns a path that leads out of its folder or into the folder of git."""
    blob = project.git("hash-object", "-w", "--stdin", input=b"x\n")
    tree = project.base + "^{tree}"
    for folder, mode in ((name, "100644"), ("a", "40000"), ("src", "40000")):
        content = blob if mode == "100644" else tree
        raw = f"{mode} {folder}".encode() + b"\0" + bytes.fromhex(content)
        tree = project.git("hash-object", "-t", "tree", "--literally", "-w", "--stdin", input=raw)
    commit = project.git("commit-tree", tree, "-p", project.base, "-m", "x")
    brief = project.brief(A, ["**", "src/**", "docs/**"])
    answer = project.audit("--brief", brief, "--head", commit)
    assert ("WRITE_NOT_OWNED", f"src/a/{name}", brief) in said(answer)


def test_a_change_of_the_sacred_scopes_is_not_passed(governed: Project, tmp_path: Path) -> None:
    """If the governance document was changed or deleted, committed or not, the sacred files are unknown, unless the
    documents of the base are passed.
    """
    brief = governed.brief(A, ["**"], audit_gates=[])
    governance = governed.folder / "acme/governance.yaml"
    governed.git("worktree", "add", "-q", str(tmp_path / "before"))
    governed.commit({"src/auth/login.py": "x\n"})
    assert said(governed.audit("--brief", brief)) == [("SACRED_SCOPE_LOCKED", "src/auth/login.py", brief)]
    change_line(governance, '      - "**/auth/**"', '      - "**/other/**"')
    assert said(governed.audit("--brief", brief)) == [("SACRED_SET_UNAVAILABLE", None, None)]
    governed.commit()
    assert said(governed.audit("--brief", brief)) == [("SACRED_SET_UNAVAILABLE", None, None)]
    passed = governed.audit("--brief", brief, "--path", str(tmp_path / "before/acme"))
    assert said(passed) == [("SACRED_SCOPE_LOCKED", "src/auth/login.py", brief)]
    governed.commit({"acme/governance.yaml": None})
    assert ("SACRED_SET_UNAVAILABLE", None, None) in said(governed.audit("--brief", brief))
    governed.git("rm", "-rq", "acme")
    governed.commit()
    assert ("SACRED_SET_UNAVAILABLE", None, None) in said(governed.audit("--brief", brief))


def test_a_merge_of_several_branches_at_once(project: Project) -> None:
    """Content of each branch belongs to the worker of the branch. Content that only the merge adds belongs to
    no worker.
    """
    workers = []
    for number, name in enumerate("abc"):
        project.git("checkout", "-qb", name, project.base)
        project.commit({f"src/{name}/new.py": name, f"src/{name}/{name}.py": name})
        workers += ["--worker", f"{name}={project.brief((A, B, C)[number], [f'src/{name}/**'])}"]
    project.git("checkout", "-q", "main")
    project.git("merge", "-q", "a", "b", "c", "-m", "all")
    answer = project.audit(*workers)
    assert answer["outcome"] == "clean", answer["findings"]
    assert [each["commits"] for each in answer["workers"]] == [1, 1, 1]
    project.write({"src/b/new.py": "slipped in"})
    project.git("commit", "-q", "--all", "--amend", "-m", "evil")
    assert said(project.audit(*workers)) == [("COMMIT_UNATTRIBUTED", None, None)]


def test_the_text_names_overlaps(project: Project) -> None:
    """The text lists overlapping paths even if no file in the overlap has changed."""
    briefs = ("--brief", project.brief(A, ["src/**"]), "--brief", project.brief(B, ["src/b/*.py"]))
    project.commit({"src/a/one.py": "1\n"}, A)
    done = run_here("ownership", "audit", "--base", project.base, *briefs, cwd=project.folder)
    assert done.stdout.splitlines() == [
        "clean: 1 changed file, 1 commit of 2 workers",
        f"  overlap: `src/**` of {briefs[1]}, and `src/b/*.py` of {briefs[3]}",
    ]
