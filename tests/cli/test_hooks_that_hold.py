"""Hooks that hold an agent and not a person: with husky, in submodules, past `--no-verify`, and again on a server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from orgkernel.decisions.ownership.held import list_agent_variables
from orgkernel.project.hooks.bypasses import find_bypasses
from orgkernel.shell.check import find_writes
from tests.support.agent_calls import decide_call, run_hook_script
from tests.support.contracts import as_text, changed
from tests.support.git_repository import GitRepository
from tests.support.in_process import run_here
from tests.support.trees import copy_template

BRIEF = "6f1c1d3a-8a52-4d0e-9a3b-5d1b1a1c0001"
VALUES = {"id": BRIEF, "parent": None, "spec.scope.files_owned": ["src/**"], "spec.scope.destructive": [], "audit_gates": []}  # fmt: skip
ROUND_THE_HOOKS = (
    "git commit --no-verify -m x", "git commit -nm x", "git commit -anm x", "git -C sub commit --no-ver -m x", "git push --no-verify",
    "git merge --no-verify other", "git --attr-source HEAD commit -n -m x", "git -c core.hooksPath=/dev/null commit -m x", "git config core.hooksPath /dev/null",
    "git config --unset core.hookspath", "git commit-tree HEAD^{tree}", "git update-ref HEAD abc", "HUSKY=0 git commit -m x",
    "export HUSKY=0; git commit -m x", "SKIP=orgkernel git commit -m x", "GIT_CONFIG_COUNT=1 git commit -m x", "sh -c 'git commit -n -m x'",
    "orgkernel ownership install-hooks --uninstall", "orgkernel grant issue agent:a tool:b", "orgkernel key create x", "orgkernel store restore a",
    "orgkernel ownership audit --base a --brief b --record", "pre-commit uninstall", "xargs git commit --no-verify -m x",
    "/usr/lib/git-core/git-commit -n -m x", "HOME=/tmp/other git commit -m x", "XDG_CONFIG_HOME=/tmp/other git commit -m x",
    "GIT_EXEC_PATH=/tmp/other git commit -m x", "orgkernel grant issue agent:a tool:b --reason --help",
    "orgkernel key create x --note list", "orgkernel ownership audit --base a --brief b --record --org --help",
)  # fmt: skip
PLAIN = (
    "git commit -m 'no -n here'", "git commit -mn", "git push -n", "git merge -n other", "git config user.name x", "git config --get core.hooksPath",
    "git commit -m x -- --no-verify", "git log -n 3", "orgkernel task record r.yaml", "orgkernel ownership audit --base a --brief b",
    "orgkernel key list", "pre-commit run", "echo --no-verify", "SKIP=1 make", "JAVA_HOME=/x git status", "orgkernel grant issue --help",
    "git-lfs pull",
)  # fmt: skip


@pytest.mark.parametrize("command", ROUND_THE_HOOKS)
def test_a_command_round_the_hooks_is_seen(command: str) -> None:
    """Whatever its spelling, and inside other programs."""
    assert [*find_bypasses(command, find_writes(command).programs)]


@pytest.mark.parametrize("command", PLAIN)
def test_a_plain_command_is_none(command: str) -> None:
    """It looks like one that goes round the hooks."""
    assert not [*find_bypasses(command, find_writes(command).programs)]


PERSON = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "worker"), ("EMAIL", "worker@example.org"))
}


class Project(GitRepository):
    """A repository with an organization in it, whose governance document says who is held."""

    def __init__(self, folder: Path, held: str = "") -> None:
        super().__init__(folder)
        copy_template(self.folder / "acme" / "omega", "omega")
        (self.folder / "orgkernel.toml").write_text('paths = ["acme"]\nactive = "omega"\n', encoding="utf-8")
        with (self.folder / "acme/omega/governance.yaml").open("a", encoding="utf-8") as file:
            file.write(held)
        self.commit({"src/a.py": "1\n", "README.md": "read me\n", ".gitignore": ".orgkernel\n"})

    def give_brief(self) -> None:
        (self.folder / ".orgkernel").mkdir(exist_ok=True)
        (self.folder / ".orgkernel/brief.yaml").write_text(
            as_text(changed("brief", VALUES)), encoding="utf-8"
        )

    def install(self, *words: str) -> subprocess.CompletedProcess[str]:
        done = run_here("ownership", "install-hooks", *words, cwd=self.folder)
        assert done.returncode == 0, done.stderr
        return done

    def run_hook(
        self, name: str, *words: str, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """What the installed hook runs, as a person."""
        own = {
            **dict.fromkeys(list_agent_variables(), ""),
            "GIT_CONFIG_GLOBAL": os.devnull,
            **PERSON,
            **(env or {}),
        }
        return run_here("ownership", "hook", name, *words, cwd=self.folder, env=own)

    def tries(
        self, *arguments: str, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        own = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("GIT_", "ORGKERNEL", "CLAUDE", "AI_"))
        }
        own |= {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            **(env or {}),
        }
        settings = ("-c", "user.email=worker@example.org", "-c", "user.name=worker")
        return subprocess.run(
            ["git", *settings, *arguments],
            cwd=self.folder,
            env=own,
            text=True,
            capture_output=True,
            check=False,
        )


HELD = "commits: {held: agents, agent_authors: ['*@bots.example']}\n"


def test_people_commit_without_a_brief_if_the_organization_says_so(tmp_path: Path) -> None:
    """An agent does not: its environment or its address shows it; with a brief, everyone is held."""
    project = Project(tmp_path / "agents", HELD)
    project.install()
    project.write({"README.md": "2\n"})
    project.git("add", "README.md")
    assert project.tries("commit", "-m", "x", env={"CLAUDECODE": "1"}).returncode == 1
    assert project.run_hook("pre-commit", env={"GIT_AUTHOR_EMAIL": "a@bots.example"}).returncode == 1
    passed = project.run_hook("pre-commit")
    assert passed.returncode == 0, passed.stderr
    project.give_brief()
    assert "WRITE_NOT_OWNED" in project.run_hook("pre-commit").stderr
    governance = project.folder / "acme/omega/governance.yaml"
    governance.write_text(governance.read_text(encoding="utf-8").replace(HELD, ""), encoding="utf-8")
    shutil.move(project.folder / ".orgkernel/brief.yaml", tmp_path / "brief.yaml")
    refused = project.run_hook("pre-commit")
    assert refused.returncode == 1
    assert "for people, the governance document says `commits: {held: agents}`" in refused.stderr


def test_hooks_survive_husky(tmp_path: Path) -> None:
    """Its folder is made anew, so the tracked scripts have the block; what they did before still runs, and comes back."""
    project = Project(tmp_path / "project")
    project.give_brief()
    project.write({".husky/pre-commit": "echo theirs\n", ".husky/pre-push": "cat > pushed.txt\n"})
    project.git("config", "core.hooksPath", ".husky/_")

    def prepare() -> None:
        """As `husky` of version 9 does it."""
        folder = project.folder / ".husky/_"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "h").write_text(
            '#!/usr/bin/env sh\nn=$(basename "$0")\ns=$(dirname "$(dirname "$0")")/$n\n[ ! -f "$s" ] && exit 0\n'
            'sh -e "$s" "$@"\nexit $?\n',
            encoding="utf-8",
        )
        for name in ("pre-commit", "commit-msg", "pre-push"):
            (folder / name).write_text('#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n', encoding="utf-8")
            (folder / name).chmod(0o755)

    prepare()
    installed = project.install().stdout.splitlines()
    assert [each.rpartition("/")[2] for each in installed] == ["pre-commit", "commit-msg", "pre-push"]
    assert project.install().stdout == "the hooks are already installed\n"
    prepare()
    project.write({"README.md": "2\n"})
    project.git("add", "README.md")
    refused = project.tries("commit", "-m", "x")
    assert (refused.returncode, "WRITE_NOT_OWNED" in refused.stderr) == (1, True)
    project.git("reset", "-q", "--hard")
    project.write({"src/a.py": "2\n"})
    project.git("add", "src/a.py")
    passed = project.tries("commit", "-m", "x")
    assert (passed.returncode, "theirs" in passed.stdout + passed.stderr) == (0, True), passed.stderr
    remote = GitRepository(tmp_path / "remote")
    remote.git("config", "receive.denyCurrentBranch", "ignore")
    project.git("push", "-q", "--no-verify", str(remote.folder), "HEAD~1:refs/heads/main")
    pushed = project.tries("push", str(remote.folder), "HEAD:refs/heads/main")
    assert pushed.returncode == 0, pushed.stderr
    assert "refs/heads/main" in (project.folder / "pushed.txt").read_text()
    # A person who has no orgkernel is not held; a worker is.
    project.write({"src/a.py": "3\n"})
    project.git("add", "src/a.py")
    without = {"PATH": "/usr/bin:/bin"}
    assert "nothing passes" in project.tries("commit", "-m", "x", env=without).stderr
    shutil.move(project.folder / ".orgkernel", tmp_path / "moved")
    assert project.tries("commit", "-m", "x", env=without).returncode == 0
    project.install("--uninstall")
    assert (project.folder / ".husky/pre-commit").read_text() == "echo theirs\n"
    assert (project.folder / ".husky/pre-push").read_text() == "cat > pushed.txt\n"


def test_submodules_and_the_pre_commit_framework_are_named(tmp_path: Path) -> None:
    """A submodule has hooks of its own and the worker of its project; the framework hands a push over in variables."""
    inner, project = Project(tmp_path / "inner"), Project(tmp_path / "project")
    project.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.folder), "lib")
    project.commit({".pre-commit-config.yaml": "repos: []\n"})
    notes = project.install().stderr
    assert "run `orgkernel ownership install-hooks lib` too" in notes
    assert "`orgkernel ownership hook pre-commit` to .pre-commit-config.yaml" in notes
    assert run_here("ownership", "install-hooks", "lib", cwd=project.folder).returncode == 0
    (project.folder / "lib/README.md").write_text("2\n")
    assert project.tries("-C", "lib", "commit", "-am", "x").returncode == 1
    project.give_brief()
    # The brief of the project owns `src`, and in the submodule this is another folder.
    (project.folder / "lib/src/a.py").write_text("2\n")
    brief = str(project.folder / ".orgkernel/brief.yaml")
    for env in ({}, {"ORGKERNEL_BRIEF": brief}):
        project.tries("-C", "lib", "add", "src")
        refused = project.tries("-C", "lib", "commit", "-m", "x", env=env)
        assert "WRITE_NOT_OWNED: `lib/src/a.py` is changed" in refused.stderr
    owning = changed("brief", VALUES | {"spec.scope.files_owned": ["lib/src/**"]})
    Path(brief).write_text(as_text(owning), encoding="utf-8")
    passed = project.tries("-C", "lib", "commit", "-m", "x")
    assert passed.returncode == 0, passed.stderr
    project.git("submodule", "--quiet", "update", "--force")
    project.give_brief()
    first = project.git("rev-parse", "HEAD")
    project.write({"README.md": "2\n"})
    project.git("commit", "-qam", "x", "--no-verify")
    last = project.git("rev-parse", "HEAD")
    framework = {"PRE_COMMIT_FROM_REF": first, "PRE_COMMIT_TO_REF": last}
    done = run_here("ownership", "hook", "pre-push", cwd=project.folder, env=framework)
    assert (done.returncode, "WRITE_NOT_OWNED" in done.stderr) == (1, True), done.stderr


def test_the_hook_of_an_agent_protects_what_decides(tmp_path: Path) -> None:
    """Commands round the hooks, and edits of hooks, settings, the organization and the store. Without a brief, a person is asked about the edits."""
    project = Project(tmp_path / "project")

    def call(tool: str, **given: str) -> str:
        return decide_call(project.folder, tool, given)

    assert run_hook_script(project.folder, "Bash", {"command": "git commit --no-verify -m x"}) == "deny"
    assert call("Write", file_path=str(project.folder / "orgkernel.toml"), content="x") == "ask"
    assert call("Bash", command="rm .git/hooks/pre-commit") == "ask"
    brief = changed("brief", VALUES | {"spec.scope.files_owned": ["**"]})
    (project.folder / ".orgkernel").mkdir()
    (project.folder / ".orgkernel/brief.yaml").write_text(as_text(brief), encoding="utf-8")
    for path in ("acme/omega/governance.yaml", "orgkernel.toml", ".husky/pre-commit", ".git/hooks/pre-commit", ".claude/settings.json", ".pre-commit-config.yaml", ".orgkernel/state.db"):  # fmt: skip
        assert call("Write", file_path=str(project.folder / path), content="x") == "deny", path
    assert call("Write", file_path=str(project.folder / "src/b.py"), content="x") == ""
    for command in (
        "echo x > acme/omega/org.yaml",
        "orgkernel ownership install-hooks --uninstall",
        "rm .git/hooks/pre-commit",
    ):
        assert call("Bash", command=command) == "deny", command
    assert call("Bash", command="git commit -m x src/a.py") in ("", "ask")


def test_a_server_decides_the_push_again(tmp_path: Path) -> None:
    """As a pre-receive hook: by the stored briefs, whatever the worker left out; people push if the organization says so."""
    project = Project(tmp_path / "project", HELD)
    store = str(tmp_path / "state.db")
    brief = tmp_path / "brief.yaml"
    brief.write_text(as_text(changed("brief", VALUES)), encoding="utf-8")
    documents = tmp_path / "server"
    shutil.copytree(project.folder / "acme", documents)
    where = ("--store", store, "--path", str(documents / "omega"))
    assert run_here("task", "record", str(brief), *where, cwd=tmp_path).returncode == 0
    remote = tmp_path / "remote.git"
    project.git("clone", "-q", "--bare", ".", str(remote))
    hook = remote / "hooks/pre-receive"
    program = "from orgkernel.cli import main; main()"
    hook.write_text(
        f"#!/bin/sh\nexec {sys.executable} -P -c '{program}' ownership verify-push {' '.join(where)}\n"
    )
    hook.chmod(0o755)

    def verify(*words: str) -> tuple[int, str]:
        """What the hook of the server decides about the last commit."""
        done = run_here(
            "ownership", "verify-push", *(words or ("--base", "HEAD~1")), *where, cwd=project.folder
        )
        return done.returncode, done.stdout + done.stderr

    def push(ref: str = "HEAD:refs/heads/main", *options: str) -> tuple[int, str]:
        done = project.tries("push", "--no-verify", *options, str(remote), ref)
        return done.returncode, done.stderr

    project.commit({"src/a.py": "2\n"}, BRIEF)
    first = project.git("rev-parse", "HEAD")
    code, text = verify()
    assert code == 0, text
    project.commit({"README.md": "2\n"}, BRIEF)
    # A new branch begins at the last commit that the server has.
    pushed = project.tries("push", "--no-verify", str(remote), "HEAD:refs/heads/other")
    assert (pushed.returncode, "WRITE_NOT_OWNED: `README.md` is changed" in pushed.stderr) == (1, True)
    passed = project.tries("push", "--no-verify", str(remote), f"{first}:refs/heads/main")
    assert passed.returncode == 0, passed.stderr
    project.git("reset", "-q", "--hard", "HEAD~1")
    # A person, an agent without a brief, and a brief that is not stored.
    project.commit({"README.md": "3\n"})
    code, text = verify()
    assert code == 0, text
    project.write({"README.md": "4\n"})
    project.git("-c", "user.email=a@bots.example", "commit", "-qam", "x")
    code, text = verify()
    assert (code, "COMMIT_UNATTRIBUTED" in text) == (1, True), text
    project.git("reset", "-q", "--hard", "HEAD~1")
    project.commit({"src/a.py": "3\n"}, "6f1c1d3a-8a52-4d0e-9a3b-5d1b1a1c0009")
    assert verify()[0] == 1
    code, text = verify("--base", "HEAD~1", "--brief", BRIEF, "--format", "json")
    assert (code, json.loads(text)[0]["outcome"]) == (0, "clean"), text

    base = project.git("rev-parse", "HEAD~1")
    assert push(f"{base}:refs/heads/main")[0] == 0

    # A worker takes back and rewrites its own commits only, and removes no branch with commits that are nowhere else.
    def rewrite(to: str, files: dict[str, str | bytes | None]) -> tuple[int, str]:
        project.git("reset", "-q", "--hard", to)
        if files:
            project.commit(files, BRIEF)
        return push("HEAD:refs/heads/main", "--force")

    start = project.git("rev-parse", f"{base}~1")  # before the commit of a person
    for files in ({}, {"src/a.py": "4\n"}):
        code, text = rewrite(start, files)
        assert (code, "takes 1 commit of others off `refs/heads/main`" in text) == (1, True), text
    project.git("reset", "-q", "--hard", base)
    project.commit({"src/a.py": "5\n"}, BRIEF)
    assert push()[0] == 0
    code, text = rewrite(base, {"src/a.py": "6\n"})
    assert code == 0, text
    assert push("HEAD:refs/heads/copy")[0] == 0
    assert push(":refs/heads/copy")[0] == 0
    code, text = push(":refs/heads/main")
    assert (code, "without `refs/heads/main`, " in text) == (1, True), text
