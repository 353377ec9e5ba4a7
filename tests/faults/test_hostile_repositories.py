"""Repositories of others: whatever they configure, reading them runs nothing, fetches nothing, and reads no other repository."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.contracts import as_text, changed
from tests.support.git_repository import GitRepository

ORGKERNEL = os.path.join(os.path.dirname(sys.executable), "orgkernel")

ORG = "_schema: orgkernel:organization\norg_id: shop\nhierarchy: {lead: {}}\n"
ROLE = "_schema: orgkernel:role_profile\nrole_id: lead\ndescription: Leads the {}.\n"
A = "6f1c1d3a-8a52-4d0e-9a3b-5d1b1a1c0001"


class HostileRepository(GitRepository):
    """A repository with an organization in two commits, and a program that leaves a mark when it is run."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "project")
        self.marks = folder / "marks"
        self.marks.mkdir()
        self.program = folder / "program.sh"
        self.program.write_text(f'#!/bin/sh\ntouch "{self.marks}/$$"\ncat\n')
        self.program.chmod(self.program.stat().st_mode | stat.S_IEXEC)
        self.base = self.commit({"org.yaml": ORG, "roles/lead.yaml": ROLE.format("shop"), "src/b.py": "1\n"})
        self.commit({"roles/lead.yaml": ROLE.format("whole shop"), "src/b.py": "2\n"}, A)

    def configure(self, *settings: str) -> None:
        for each in settings:
            name, _, value = each.partition("=")
            self.git("config", name, value.replace("PROGRAM", str(self.program)))

    def runs(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """The installed command, in the repository."""
        own = {
            name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "ORGKERNEL"))
        }
        done = subprocess.run(
            [ORGKERNEL, *arguments], cwd=self.folder, env=own | environment, capture_output=True, text=True, check=False, timeout=60
        )  # fmt: skip
        assert "Traceback" not in done.stderr
        assert not list(self.marks.iterdir()), f"a program of the repository ran: {arguments}"
        return done

    def write_brief(self, folder: Path) -> str:
        values = {"id": A, "spec.scope.files_owned": ["src/a/**"], "spec.scope.destructive": []}
        path = folder / "brief.yaml"
        path.write_text(as_text(changed("brief", values)), encoding="utf-8")
        return str(path)


@pytest.fixture
def hostile(tmp_path: Path) -> HostileRepository:
    return HostileRepository(tmp_path)


RUNNING = {
    "fsmonitor": ("core.fsmonitor=PROGRAM",),
    "hooks": (
        "core.hooksPath=.",
        "core.pager=PROGRAM",
        "pager.diff=PROGRAM",
        "pager.log=PROGRAM",
        "core.editor=PROGRAM",
    ),
    "external diff": (
        "diff.external=PROGRAM",
        "diff.x.command=PROGRAM",
        "diff.x.textconv=PROGRAM",
        "interactive.diffFilter=PROGRAM",
    ),
    "filters": (
        "filter.x.clean=PROGRAM",
        "filter.x.smudge=PROGRAM",
        "filter.x.process=PROGRAM",
        "filter.x.required=true",
    ),
    "signatures": ("log.showSignature=true", "gpg.program=PROGRAM", "gpg.ssh.program=PROGRAM"),
    "aliases": ("alias.rev-parse=!PROGRAM", "alias.ls-tree=!PROGRAM", "alias.cat-file=!PROGRAM"),
    "credentials": (
        "credential.helper=!PROGRAM",
        "core.askPass=PROGRAM",
        "core.sshCommand=PROGRAM",
        "core.gitProxy=PROGRAM",
    ),
}


@pytest.mark.parametrize("settings", RUNNING.values(), ids=RUNNING)
def test_no_setting_runs_a_program(
    hostile: HostileRepository, settings: tuple[str, ...], tmp_path: Path
) -> None:
    """Neither for a comparison, nor for an audit, nor for a hook."""
    hostile.commit({".gitattributes": "* filter=x diff=x\n"}, A)
    hostile.configure(*settings)
    for name in (
        "pre-commit",
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "fsmonitor-watchman",
    ):
        (hostile.folder / ".git/hooks").mkdir(exist_ok=True)
        os.symlink(hostile.program, hostile.folder / ".git/hooks" / name)
    (hostile.folder / "src/b.py").write_text("3\n")
    brief = hostile.write_brief(tmp_path)
    assert "lead" in hostile.runs("diff", "git:HEAD~2", ".").stdout
    assert "lead" in hostile.runs("diff", "git:HEAD~2", "git:HEAD").stdout
    assert hostile.runs("ownership", "audit", "--base", hostile.base, "--brief", brief).returncode == 1
    hostile.runs("check", "--format", "sarif")
    hostile.runs("upgrade", "--check")


@pytest.mark.parametrize(
    "url",
    ["ext::PROGRAM %S", "ssh://-oProxyCommand=PROGRAM/x", "file:///PROGRAM", "https://127.0.0.1:9/x", "x::y"],
)
def test_what_is_missing_is_not_fetched(hostile: HostileRepository, url: str) -> None:
    """A partial clone names a promisor for missing objects. It is never asked."""
    hostile.configure(
        "core.repositoryFormatVersion=1", "extensions.partialClone=origin", f"remote.origin.url={url}", "remote.origin.promisor=true",
        "remote.origin.partialCloneFilter=blob:none", "remote.origin.uploadpack=PROGRAM", "protocol.allow=always", "protocol.ext.allow=always",
        "core.sshCommand=PROGRAM",
    )  # fmt: skip
    blob = hostile.git("rev-parse", "HEAD~1:roles/lead.yaml")
    path = hostile.folder / ".git/objects" / blob[:2] / blob[2:]
    path.unlink()
    done = hostile.runs("diff", "git:HEAD~1", "git:HEAD")
    assert done.returncode == 2
    assert "roles/lead.yaml" in done.stderr
    assert hostile.runs("diff", "git:HEAD~1", ".").returncode == 2
    assert hostile.runs("diff", "git:0123456789012345678901234567890123456789", ".").returncode == 2


def test_the_repository_is_the_one_at_the_path(hostile: HostileRepository, tmp_path: Path) -> None:
    """Neither its settings, nor a file `.git`, nor a variable leads to another one that is clean."""
    clean = GitRepository(tmp_path / "clean")
    clean.commit({"org.yaml": ORG, "roles/lead.yaml": ROLE.format("shop")})
    clean.commit({"src/a/x.py": "1\n"}, A)
    brief = hostile.write_brief(tmp_path)

    def audit(base: str = "HEAD~1", **environment: str) -> tuple[int, str]:
        done = hostile.runs("ownership", "audit", "--base", base, "--brief", brief, **environment)
        return done.returncode, done.stdout + done.stderr

    assert audit()[0] == 1
    for name, value in {
        "GIT_DIR": clean.folder / ".git", "GIT_WORK_TREE": clean.folder, "GIT_COMMON_DIR": clean.folder / ".git",
        "GIT_OBJECT_DIRECTORY": clean.folder / ".git/objects", "GIT_CONFIG_PARAMETERS": f"'core.worktree={clean.folder}'",
    }.items():  # fmt: skip
        assert audit(**{name: str(value)})[0] == 1, name
    hostile.configure(f"core.worktree={clean.folder}")
    code, text = audit()
    assert (code, "src/b.py" in text) == (1, True)
    assert "lead" in hostile.runs("diff", "git:HEAD~1", ".").stdout
    hostile.git("config", "--unset", "core.worktree")
    os.rename(hostile.folder / ".git", hostile.folder / "kept")
    (hostile.folder / ".git").write_text(f"gitdir: {clean.folder}/.git\n")
    code, text = audit()
    assert (code, "names a repository that does not name this folder" in text) == (2, True)
    (hostile.folder / ".git").unlink()
    os.symlink(clean.folder / ".git", hostile.folder / ".git")
    assert audit()[0] == 2


def test_worktrees_and_submodules_are_repositories(hostile: HostileRepository, tmp_path: Path) -> None:
    """Their file `.git` names a folder that names them."""
    hostile.git("worktree", "add", "--quiet", str(tmp_path / "tree"), "HEAD")
    above = GitRepository(tmp_path / "above")
    above.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(hostile.folder), "inner")
    for folder in (tmp_path / "tree", above.folder / "inner"):
        done = subprocess.run([ORGKERNEL, "diff", "git:HEAD~1", ".", "--format", "json"], cwd=folder, capture_output=True, text=True, check=False)  # fmt: skip
        assert done.returncode in (0, 1), done.stderr
        assert json.loads(done.stdout)["edits"]
