"""The hooks of `.pre-commit-hooks.yaml`, run by prek at real commits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import SHOP
from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY, write_tree

BIN = Path(sys.executable).parent
CASES = {
    "cases.yaml": """\
_schema: orgkernel:decision_cases
cases:
  - {name: code, org: shop, dispatch: [{ask: {domain: codegen}, outcome: role, role_id: dev}]}
"""
}


class Project:
    """A committed organization whose hooks come from a repository with our manifest."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "shop"
        self._environment = {
            "HOME": str(folder),
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "PREK_HOME": str(folder / "prek"),
        }
        manifest = (REPOSITORY / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
        hooks = write_tree(folder / "hooks", {".pre-commit-hooks.yaml": manifest})
        for arguments in (("init", "-q"), ("add", "."), ("commit", "-qm", "hooks")):
            self.git(*arguments, cwd=hooks)
        self._revision = self.git("rev-parse", "HEAD", cwd=hooks).stdout.strip()
        write_tree(self.folder, SHOP | CASES)
        for arguments in (("init", "-q"), ("add", "."), ("commit", "-qm", "shop")):
            self.git(*arguments)

    def git(self, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run git; its hooks use the installed program instead of building it."""
        own = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
        return subprocess.run(
            ["git", *own, *arguments], cwd=cwd or self.folder, env=self._environment, capture_output=True, text=True,
            timeout=PATIENCE, check=False,
        )  # fmt: skip

    def install(self, hook: str, *arguments: str) -> None:
        """Install one hook."""
        text = (
            f"repos:\n  - repo: {self.folder.parent / 'hooks'}\n    rev: {self._revision}\n    hooks:\n"
            f"      - {{id: {hook}, language: system, args: [{', '.join(arguments)}]}}\n"
        )
        write_tree(self.folder, {".pre-commit-config.yaml": text})
        self.git("add", ".pre-commit-config.yaml")
        self.git("commit", "-qm", "hooks")
        done = subprocess.run(
            [BIN / "prek", "install"], cwd=self.folder, env=self._environment, capture_output=True, text=True,
            timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    def commit(self) -> tuple[int, str]:
        """Commit, and return the exit code and the output of the hooks."""
        done = self.git("commit", "-m", "change")
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_commit_that_only_deletes_a_file_is_checked(project: Project) -> None:
    """Deleting the profile of a role that the hierarchy names is refused."""
    project.install("orgkernel-check")
    project.git("rm", "-q", "roles/dev.yaml")
    code, output = project.commit()
    assert code == 1
    assert "error[ORG201] missing-profile: role `dev` has no profile" in output


def test_a_commit_of_another_file_passes(project: Project) -> None:
    """A hook that runs at every commit does not stand in the way of one that changes no document."""
    project.install("orgkernel-check")
    write_tree(project.folder, {"notes.txt": "hello\n"})
    project.git("add", "notes.txt")
    assert project.commit()[0] == 0


def test_only_what_is_staged_is_checked(project: Project) -> None:
    """A mistake in the work tree that is not part of the commit does not fail the hook."""
    project.install("orgkernel-check")
    write_tree(project.folder, {"notes.txt": "hello\n"})
    project.git("add", "notes.txt")
    (project.folder / "roles/dev.yaml").unlink()
    assert project.commit()[0] == 0
    assert not (project.folder / "roles/dev.yaml").exists()


def test_the_cases_of_the_project_are_run(project: Project) -> None:
    """A case that is not met is found without any argument of the hook."""
    project.install("orgkernel-test")
    write_tree(project.folder, {"cases.yaml": CASES["cases.yaml"].replace("role_id: dev", "role_id: ops")})
    project.git("add", ".")
    code, output = project.commit()
    assert code == 1
    assert "error[ORG720] unmet-expectation: case `code`" in output


def test_the_effects_of_a_commit_are_printed(project: Project) -> None:
    """Without a gate the commit passes; with one it is refused."""
    text = SHOP["roles/ops.yaml"].replace("execution_tool]", "execution_tool, browser_agent]")
    project.install("orgkernel-diff")
    write_tree(project.folder, {"roles/ops.yaml": text})
    project.git("add", ".")
    code, output = project.commit()
    assert code == 0
    assert "gains tool browser_agent" in output
    project.install("orgkernel-diff", "--fail-on", "widened")
    write_tree(
        project.folder, {"roles/ops.yaml": text.replace("browser_agent]", "browser_agent, scheduler]")}
    )
    project.git("add", ".")
    code, output = project.commit()
    assert code == 1
    assert "gains tool scheduler" in output
