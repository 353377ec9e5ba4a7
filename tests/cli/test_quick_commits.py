"""The hooks of git without the full program: they allow only what the full program allows, and leave everything else to it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import orgkernel
from orgkernel.decisions.ownership.held import list_agent_variables
from orgkernel.engines import SOME
from orgkernel.project.hooks.quick_answers import OWNED_FILES
from tests.cli.test_hooks_that_hold import HELD, PERSON, Project
from tests.support.in_process import run_here

PACKAGE = Path(orgkernel.__file__).parent
PROBE = """
import sys
for name in ("orgkernel", "orgkernel.project", "orgkernel.project.hooks"):
    sys.modules[name] = type(sys)(name)
    sys.modules[name].__path__ = ["/".join([sys.argv[1], *name.split(".")[1:]])]
from orgkernel.project.hooks.quick_commits import is_allowed
print(is_allowed(sys.argv[2], sys.argv[3:], sys.argv[1]))
"""
TOKEN = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
CREW = """\
_schema: orgkernel:crew_roster
_version: "1.0"
org_id: omega
agents:
  other: {assignments: [{role: worker}]}
  third: {assignments: [{role: worker}]}
"""
# What is staged, and whether the answer is quick.
STAGED: list[tuple[dict[str, str | bytes | None], bool]] = [
    ({"src/a.py": "2\n"}, True),
    ({"src/a.py": None}, True),
    ({"src/new/b.py": "1\n", "src/a.py": "2\n"}, True),
    ({"src/blob.bin": bytes(range(256))}, True),
    ({"README.md": "2\n"}, False),
    ({"src/a.py": "2\n", "README.md": "2\n"}, False),
    ({"README.md": None}, False),
    ({"SRC/a.py": "2\n"}, False),
    ({"src/.env": "A=b\n"}, False),
    ({"src/package.json": "{}"}, False),
    ({"src/migrations/0001.py": "1\n"}, False),
    ({"src/ü.py": "1\n"}, False),
    ({'src/a"\n.py': "1\n"}, False),
    ({"src/held.py": "1\n"}, False),
    ({"src/a.py": f"token = '{TOKEN}'\n"}, False),
    ({"src/blob.bin": b"\0\0" + TOKEN.encode()}, False),
    ({"src/auth/login.py": "1\n"}, False),
    ({"acme/omega/governance.yaml": "x: 1\n"}, False),
    ({".orgkernel/brief.yaml": "x: 1\n"}, False),
]
# The environment of `Project.run_hook`.
CLEAN = {
    **{name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "ORGKERNEL"))},
    **dict.fromkeys(list_agent_variables(), ""),
    **PERSON,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "ORGKERNEL_MEANING": "off",
}


def is_quick(project: Project, hook: str, *arguments: str, env: Mapping[str, str] | None = None) -> bool:
    """Whether a hook passes without the full program."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", PROBE, str(PACKAGE), hook, *arguments],
        cwd=project.folder, env={**CLEAN, **(env or {})}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout == "True\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with a brief for `src`, in which another worker has claimed a file."""
    project = Project(tmp_path / "project")
    project.give_brief()
    project.commit({"acme/omega/crew.yaml": CREW})
    claimed = run_here(
        "claim",
        "add",
        "omega",
        "agent:other",
        "src/held.py",
        cwd=project.folder,
        env={"ORGKERNEL_HOLDER": ""},
    )
    assert claimed.returncode == 0, claimed.stderr
    project.write({"src/a.py": "1.5\n"})
    project.git("add", ".")
    assert project.run_hook("pre-commit").returncode == 0
    return project


def test_what_is_quickly_allowed_is_allowed(project: Project) -> None:
    """Each staged change: if the answer is quick, the full program gives it too. What it refuses is never quick."""
    assert is_quick(project, "pre-commit")
    different = []
    for files, expected in STAGED:
        project.git("reset", "-q", "--hard")
        project.write(files)
        project.git("add", "--force", *files)
        quick = is_quick(project, "pre-commit")
        if quick != expected or (quick and project.run_hook("pre-commit").returncode != 0):
            different.append((files, quick))
    assert different == []


def test_links_renames_and_merges_are_left_to_the_full_program(project: Project) -> None:
    """A rename within the owned files is quick, because it is a removal and an addition."""
    project.git("reset", "-q", "--hard")
    assert is_quick(project, "pre-commit"), "nothing is staged"
    merged = project.folder / ".git/MERGE_HEAD"
    merged.write_text(project.git("rev-parse", "HEAD") + "\n", encoding="ascii")
    assert not is_quick(project, "pre-commit")
    merged.unlink()
    project.git("mv", "src/a.py", "src/b.py")
    assert is_quick(project, "pre-commit")
    project.git("mv", "src/b.py", "b.py")
    assert not is_quick(project, "pre-commit")
    project.git("reset", "-q", "--hard")
    (project.folder / "src/link").symlink_to("../README.md")
    project.git("add", "src/link")
    assert not is_quick(project, "pre-commit")


@pytest.mark.parametrize(
    "change",
    [
        lambda project: project.give_brief(),
        lambda project: (project.folder / "acme/omega/roles/extra.yaml").write_text("x: 1\n"),
        lambda project: (project.folder / "acme/deep/below").mkdir(parents=True),
        lambda project: (project.folder / "orgkernel.toml").write_text('paths = ["acme"]\n'),
        lambda project: (project.folder.parent / "pyproject.toml").write_text("[tool.orgkernel]\n"),
        lambda project: shutil.move(project.folder / ".orgkernel/brief.yaml", project.folder / "x.yaml"),
        lambda project: (project.folder / OWNED_FILES).write_text("{}"),
        lambda project: run_here("claim", "add", "omega", "agent:third", "src/b.py", cwd=project.folder),
    ],
)
def test_what_changes_an_answer_ends_the_quick_ones(project: Project, change: Any) -> None:
    """The brief, the documents, the folders in which one could appear, the settings, the store and the stored rules."""
    assert is_quick(project, "pre-commit")
    time.sleep(0.01)
    change(project)
    assert not is_quick(project, "pre-commit")


def test_the_environment_and_the_time_end_them(project: Project) -> None:
    """Another brief, holder or setting of orgkernel, or rules of yesterday."""
    for name in ("ORGKERNEL_BRIEF", "ORGKERNEL_HOLDER", "ORGKERNEL_STORE", "ORGKERNEL_LINKS"):
        assert not is_quick(project, "pre-commit", env={name: "x"}), name
    assert not is_quick(project, "pre-commit", env={SOME: "light_start"})
    stored = json.loads((project.folder / OWNED_FILES).read_text(encoding="utf-8"))
    assert stored["commits_until"] - stored["since"] > 3000, "the claim of the other worker ends first"
    assert stored["until"] - stored["since"] < 61


def test_people_are_decided_quickly_too(tmp_path: Path) -> None:
    """A person without a brief is not held, an agent is; a secret is refused for both."""
    project = Project(tmp_path / "project", HELD)
    (project.folder / ".orgkernel").mkdir()
    project.write({"README.md": "2\n"})
    project.git("add", ".")
    assert not is_quick(project, "pre-commit")
    assert project.run_hook("pre-commit").returncode == 0
    assert is_quick(project, "pre-commit")
    assert not is_quick(project, "pre-commit", env={"CLAUDECODE": "1"})
    assert not is_quick(project, "pre-commit", env={"GIT_AUTHOR_EMAIL": "A@bots.example"})
    project.write({"README.md": f"token = '{TOKEN}'\n"})
    project.git("add", ".")
    assert not is_quick(project, "pre-commit")
    project.write({"README.md": "3\n"})
    project.git("add", ".")
    project.give_brief()
    assert not is_quick(project, "pre-commit")


def test_messages(project: Project, tmp_path: Path) -> None:
    """A message with a secret or the brief of another worker is refused; the diff below a verbose one is not part of it."""
    own, other = (f"6f1c1d3a-8a52-4d0e-9a3b-5d1b1a1c000{number}" for number in (1, 2))
    scissors = "# ------------------------ >8 ------------------------\n"
    file = tmp_path / "message"
    for message, quick, code in (
        ("Add a file\n", True, 0),
        (f"Add a file\n{scissors}-token = '{TOKEN}'\n", True, 0),
        (f"Add a file\n\nBrief: {own.upper()}\n", False, 0),
        (f"Add a file\n\nBrief: {other}\n", False, 1),
        (f"Add a file\n\nbrief : {other}\n", False, 1),
        ("Brief: what a change does\n\nIt adds a file\n", False, 0),
        (f"Use {TOKEN}\n", False, 1),
    ):
        file.write_text(message, encoding="utf-8")
        assert is_quick(project, "commit-msg", str(file)) is quick, message
        refused = project.run_hook("commit-msg", str(file))
        assert refused.returncode == code, (message, refused.stderr)
        assert TOKEN not in refused.stderr
    (project.folder / ".orgkernel/brief.yaml").unlink()
    file.write_text(f"Add a file\n\nBrief: {other}\n", encoding="utf-8")
    assert project.run_hook("commit-msg", str(file)).returncode == 0, "without a brief, the push is decided"


def test_a_commit_by_the_installed_hooks(project: Project) -> None:
    """Both scripts run: what is owned passes, and a foreign brief in the message does not."""
    project.install()
    assert project.tries("commit", "-m", "x").returncode == 0
    project.write({"src/a.py": "3\n"})
    foreign = "x\n\nBrief: 6f1c1d3a-8a52-4d0e-9a3b-5d1b1a1c0009"
    refused = project.tries("commit", "-am", foreign)
    assert (refused.returncode, "COMMIT_UNATTRIBUTED: the message names brief" in refused.stderr) == (1, True)
