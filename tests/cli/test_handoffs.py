"""The log of hand-offs on the command line."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.support.contracts import as_text, changed
from tests.support.in_process import run_here
from tests.support.trees import copy_template

PLAIN = {"audit_gates": [], "spec.scope.destructive": [], "spec.scope.files_owned": ["src/**"]}


def test_handoffs_are_recorded_and_listed(tmp_path: Path) -> None:
    """With what was claimed; a log that was changed is refused."""
    here, brief = tmp_path / "omega", tmp_path / "handed" / "brief.yaml"
    copy_template(here, "omega")
    brief.parent.mkdir()
    brief.write_text(as_text(changed("brief", PLAIN)), encoding="utf-8")

    def run(*words: str) -> tuple[int, str]:
        done = run_here("task", "handoff", *words, cwd=here)
        return done.returncode, done.stdout or done.stderr

    assert run("list")[0] == 2  # there is no store yet
    assert run("record", "L1", "intake", "--depth", "0", "--session", "shop") == (
        0, "hand-off 1: role:human to role:intake in session shop\n",
    )  # fmt: skip
    plan = ("record", "intake", "L4", "--brief", str(brief), "--from-session", "shop")
    code, said = run(*plan, "--session", "plan")
    assert (code, said.partition(", with claim 1 until ")[0]) == (
        0, "hand-off 2: role:intake to role:planner in session plan",
    )  # fmt: skip
    code, said = run(*plan, "--session", "plan-2")
    assert code == 2
    assert "error: brief `0b8f6f3e-52b6-4c0a-9d0c-6a1f6c1f7a55` was handed down into session `plan`\n" in said
    assert len(run("list", "--org", "omega")[1].splitlines()) == 3
    assert [each["number"] for each in json.loads(run("list", "--running", "--format", "json")[1])] == [2]
    for which in (
        "--from=role:intake",
        "--to=role:planner",
        "--session=plan",
        f"--brief={changed('brief', {})['id']}",
    ):
        assert len(run("list", which)[1].splitlines()) == 2, which
    with closing(sqlite3.connect(here / ".orgkernel" / "state.db")) as database, database:
        database.execute("UPDATE dispatches SET holder = 'agent:x' WHERE number = 2")
    assert "error: the log of hand-offs was changed: hand-off 2 was changed\n" in run("list")[1]
