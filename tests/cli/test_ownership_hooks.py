"""Git hooks that refuse what a worker does not own: real commits and pushes, and hooks that were there before."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.contracts import as_text, changed
from tests.support.git_repository import GitRepository
from tests.support.in_process import run_here

A, B = (f"6f1c1d3a-8a52-4d0e-9a3b-5d1b1a1c000{number}" for number in (1, 2))


class Hooked(GitRepository):
    """A repository with hooks, and a brief that owns `src/a`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "project")
        self.commit({"README.md": "read me\n", "src/a/one.py": "1\n", ".gitignore": ".orgkernel\n"})
        self.give_brief(self.folder, "src/a/**")
        done = run_here("ownership", "install-hooks", cwd=self.folder)
        assert done.returncode == 0, done.stderr

    @property
    def hooks(self) -> Path:
        return self.folder / ".git/hooks"

    @staticmethod
    def give_brief(top: Path, owned: str, id: str = A) -> Path:
        values = {
            "id": id,
            "spec.scope.files_owned": [owned],
            "spec.scope.destructive": [],
            "audit_gates": [],
        }
        (top / ".orgkernel").mkdir(exist_ok=True)
        path = top / ".orgkernel/brief.yaml"
        path.write_text(as_text(changed("brief", values)), encoding="utf-8")
        return path

    def tries(
        self, *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run git, with what its hooks say."""
        own = {
            name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "ORGKERNEL"))
        }
        own |= {"GIT_CONFIG_GLOBAL": os.devnull, **(env or {})}
        settings = ("-c", "user.email=worker@example.org", "-c", "user.name=worker")
        return subprocess.run(
            ["git", *settings, *arguments],
            cwd=cwd or self.folder,
            env=own,
            text=True,
            capture_output=True,
            check=False,
        )


@pytest.fixture
def hooked(tmp_path: Path) -> Hooked:
    return Hooked(tmp_path)


def test_a_commit(hooked: Hooked) -> None:
    """Only what is staged counts, also of a commit of some files."""
    hooked.write({"src/a/one.py": "2\n", "README.md": "changed\n"})
    hooked.git("add", "README.md")
    refused = hooked.tries("commit", "-m", "x")
    assert refused.returncode == 1
    assert "WRITE_NOT_OWNED: `README.md` is changed by" in refused.stderr
    assert hooked.tries("commit", "-m", "x", "src/a/one.py").returncode == 0
    assert hooked.git("show", "--stat", "--format=").startswith("src/a/one.py")
    hooked.git("reset", "-q", "--hard")
    hooked.git("rm", "-q", "README.md")
    only_deletes = hooked.tries("commit", "-m", "x")
    assert only_deletes.returncode == 1
    assert "WRITE_NOT_OWNED: `README.md` is deleted by" in only_deletes.stderr
    hooked.git("reset", "-q", "--hard")
    hooked.git("mv", "src/a/one.py", "src/one.py")
    moved = hooked.tries("commit", "-am", "x")
    assert "MOVE_NOT_OWNED" in moved.stderr
    hooked.git("reset", "-q", "--hard")
    hooked.write({"src/a/.env": "A=b\n"})
    hooked.git("add", ".")
    assert "SACRED_SCOPE" in hooked.tries("commit", "-m", "x").stderr


def test_an_unknown_worker_is_refused_with_a_remedy(hooked: Hooked) -> None:
    """Without a sound brief or a claim, nothing is committed."""
    hooked.write({"src/a/one.py": "2\n"})
    brief = (hooked.folder / ".orgkernel/brief.yaml").rename(hooked.folder.parent / "brief.yaml")
    refused = hooked.tries("commit", "-am", "x")
    assert refused.returncode == 1
    assert "neither a brief nor a current claim" in refused.stderr
    assert "put the brief into .orgkernel/brief.yaml" in refused.stderr
    brief.write_text("_schema: orgkernel:brief\n", encoding="utf-8")
    unsound = hooked.tries("commit", "-am", "x", env={"ORGKERNEL_BRIEF": str(brief)})
    assert unsound.returncode == 1, unsound.stderr
    assert "lists all problems" in unsound.stderr
    brief.unlink()
    assert hooked.tries("commit", "-am", "x", env={"ORGKERNEL_BRIEF": str(brief)}).returncode == 1


def test_claims(hooked: Hooked) -> None:
    """A holder of claims needs no brief, and files that another holder has claimed cannot be committed."""
    run_here("new", "acme", "--template", "household", cwd=hooked.folder)
    for holder, path in (("agent:clerk", "docs/"), ("agent:butler", "SRC/a/two.py")):
        done = run_here("claim", "add", "household", holder, path, cwd=hooked.folder)
        assert done.returncode == 0, done.stderr
    hooked.write({"src/a/two.py": "2\n", "docs/guide.md": "g\n"})
    hooked.git("add", "src/a")

    def commits(**holder: str) -> subprocess.CompletedProcess[str]:
        return run_here("ownership", "hook", "pre-commit", cwd=hooked.folder, env=holder)

    claimed = commits()
    assert claimed.returncode == 1
    assert "CLAIM_CONFLICT" in claimed.stderr
    assert "agent:butler (claim 2 of household)" in claimed.stderr
    assert commits(ORGKERNEL_HOLDER="agent:butler").returncode == 0, (
        "the claim is its own, and the brief owns it"
    )
    (hooked.folder / ".orgkernel/brief.yaml").unlink()
    hooked.git("reset", "-q")
    hooked.git("add", "docs")
    assert "FILE_OWNED_BY_OTHER" in commits(ORGKERNEL_HOLDER="agent:butler").stderr
    assert commits(ORGKERNEL_HOLDER="agent:clerk").returncode == 0
    assert commits(ORGKERNEL_HOLDER="agent:clerk", ORGKERNEL_SESSION="other").returncode == 1


def test_a_merge(hooked: Hooked) -> None:
    """Changes from the other side of a merge are not attributed to its author, except in files with a conflict."""
    hooked.git("checkout", "-qb", "other")
    hooked.git("-c", "core.hooksPath=/dev/null", "rm", "-q", "src/a/one.py")
    for content, branch in (("3\n", "other"), ("4\n", "main")):
        hooked.git("checkout", "-qf", branch)
        hooked.write({"src/a/one.py": content, f"docs/{branch}.md": "d\n"})
        hooked.git("add", ".")
        hooked.git("-c", "core.hooksPath=/dev/null", "commit", "-qm", branch)
    assert hooked.tries("merge", "other").returncode == 1
    hooked.write({"src/a/one.py": "5\n", "README.md": "slipped in\n"})
    hooked.git("add", ".")
    refused = hooked.tries("commit", "-m", "merge")
    assert [line for line in refused.stderr.splitlines() if "NOT_OWNED" in line] == [
        "  WRITE_NOT_OWNED: `README.md` is changed by `.orgkernel/brief.yaml`, and the brief does not own it"
    ]
    hooked.git("checkout", "-q", "HEAD", "README.md")
    assert hooked.tries("commit", "-m", "merge").returncode == 0


def test_a_push(hooked: Hooked, tmp_path: Path) -> None:
    """Only commits that are new on the remote are checked, and a push whose new commits are unknown is refused."""
    hooked.git("init", "-q", "--bare", str(tmp_path / "remote"))
    hooked.git("remote", "add", "origin", str(tmp_path / "remote"))
    unknown = hooked.tries("push", "origin", "main")
    assert (unknown.returncode, "which of the pushed commits are new" in unknown.stderr) == (1, True)
    hooked.git("-c", "core.hooksPath=/dev/null", "push", "-q", "origin", "main")
    hooked.git("checkout", "-qb", "work")
    hooked.git("-c", "core.hooksPath=/dev/null", "commit", "--allow-empty", "-qm", "x")
    assert hooked.tries("push", "origin", "work").returncode == 0
    hooked.write({"README.md": "changed\n"})
    hooked.git("-c", "core.hooksPath=/dev/null", "commit", "-qam", "x")
    refused = hooked.tries("push", "origin", "work", "main:new")
    assert (refused.returncode, "WRITE_NOT_OWNED: `README.md`" in refused.stderr) == (1, True)
    assert "work" in hooked.git("ls-remote", "origin", "work")
    hooked.git("-c", "core.hooksPath=/dev/null", "revert", "--no-edit", "HEAD")
    assert hooked.tries("push", "origin", "work").returncode == 0
    assert hooked.tries("push", "origin", "--delete", "work").returncode == 0


def test_hooks_that_were_there_run_first_and_come_back(hooked: Hooked) -> None:
    """Byte for byte, with their mode, and they see the name they had."""
    run_here("ownership", "install-hooks", "--uninstall", cwd=hooked.folder)
    before = {path.name for path in hooked.hooks.iterdir()}
    own = hooked.hooks / "pre-commit"
    text = b'#!/bin/sh\n# \xff\necho "$0 said $#" >&2\ntest ! -e refuse\n'
    own.write_bytes(text)
    own.chmod(0o751)
    for _ in range(2):
        assert run_here("ownership", "install-hooks", cwd=hooked.folder).returncode == 0
    hooked.write({"src/a/one.py": "2\n"})
    done = hooked.tries("commit", "-am", "x")
    assert (done.returncode, ".git/hooks/pre-commit said 0" in done.stderr) == (0, True)
    (hooked.folder / "refuse").touch()
    hooked.write({"src/a/one.py": "3\n"})
    assert hooked.tries("commit", "-am", "x").returncode == 1
    for _ in range(2):
        assert run_here("ownership", "install-hooks", "--uninstall", cwd=hooked.folder).returncode == 0
    assert (own.read_bytes(), stat.S_IMODE(own.stat().st_mode)) == (text, 0o751)
    assert {path.name for path in hooked.hooks.iterdir()} == before | {"pre-commit"}


def test_a_hook_that_another_program_has_replaced(hooked: Hooked) -> None:
    """A hook that another program has replaced is not changed, and the command reports it."""
    own = hooked.hooks / "pre-push"
    run_here("ownership", "install-hooks", "--uninstall", cwd=hooked.folder)
    own.write_text("#!/bin/sh\n")
    run_here("ownership", "install-hooks", cwd=hooked.folder)
    own.write_text("#!/bin/sh\n# of another program\n")
    done = run_here("ownership", "install-hooks", cwd=hooked.folder)
    assert (done.returncode, "was replaced by another program" in done.stderr) == (2, True)
    assert own.read_text() == "#!/bin/sh\n# of another program\n"


def test_other_folders_of_hooks(hooked: Hooked, tmp_path: Path) -> None:
    """`core.hooksPath` of the repository counts; one of all repositories is refused."""
    run_here("ownership", "install-hooks", "--uninstall", cwd=hooked.folder)
    hooked.git("config", "core.hooksPath", "tools/hooks")
    assert run_here("ownership", "install-hooks", cwd=hooked.folder).returncode == 0
    assert (hooked.folder / "tools/hooks/pre-commit").exists()
    hooked.write({"README.md": "changed\n"})
    assert hooked.tries("commit", "-am", "x").returncode == 1
    hooked.git("config", "--unset", "core.hooksPath")
    (tmp_path / "gitconfig").write_text("[core]\n\thooksPath = /nowhere/hooks\n")
    done = run_here(
        "ownership",
        "install-hooks",
        cwd=hooked.folder,
        env={"GIT_CONFIG_GLOBAL": str(tmp_path / "gitconfig")},
    )
    assert (done.returncode, "set for all repositories" in done.stderr) == (2, True)
    outside = run_here("ownership", "install-hooks", cwd=tmp_path).stderr
    assert "is not in a git repository" in outside
    assert "run `git init` there first" in outside


def test_each_work_tree_has_its_own_brief(hooked: Hooked, tmp_path: Path) -> None:
    """The brief of one does not count in another."""
    other = tmp_path / "other"
    hooked.git("worktree", "add", "-q", str(other))
    hooked.give_brief(other, "docs/**", B)
    for path, code in (("docs/a.md", 0), ("src/a/one.py", 1)):
        (other / path).parent.mkdir(parents=True, exist_ok=True)
        (other / path).write_text("new\n")
        hooked.git("-C", str(other), "add", path)
        assert hooked.tries("commit", "-m", "x", cwd=other).returncode == code


def test_a_python_that_is_gone(hooked: Hooked) -> None:
    """A hook that cannot ask refuses."""
    own = hooked.hooks / "pre-commit"
    own.write_text(own.read_text().replace("/bin/python", "/bin/no-python"))
    hooked.write({"src/a/one.py": "2\n"})
    refused = hooked.tries("commit", "-am", "x")
    assert (refused.returncode, "nothing passes" in refused.stderr) == (1, True)


def test_a_hook_from_before_the_command_got_its_name_is_replaced(hooked: Hooked) -> None:
    """It is recognized as ours, so it does not become a hook that runs first."""
    hook = hooked.hooks / "pre-commit"
    now = hook.read_text(encoding="utf-8")
    hook.write_text(
        now.replace("ownership install-hooks", "scope install-hooks").replace(
            "' ownership hook", "' scope hook"
        )
    )
    assert "scope hook pre-commit" in hook.read_text(encoding="utf-8")
    assert run_here("ownership", "install-hooks", cwd=hooked.folder).returncode == 0
    assert hook.read_text(encoding="utf-8") == now
    assert sorted(path.name for path in hooked.hooks.iterdir() if not path.name.endswith(".sample")) == [
        "commit-msg", "pre-commit", "pre-push",
    ]  # fmt: skip
