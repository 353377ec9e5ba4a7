"""`orgkernel dispatch` with a real store: the agents who can take the task change with what is stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.decisions.test_agent_corpus import FILE
from tests.support.in_process import run_here
from tests.support.trees import write_tree


@pytest.fixture
def garage(tmp_path: Path) -> Path:
    return write_tree(tmp_path, FILE["files"])


def dispatch(folder: Path, *arguments: str) -> dict[str, Any]:
    done = run_here("dispatch", *arguments, "--format", "json", cwd=folder)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def change(folder: Path, *arguments: str) -> None:
    done = run_here(*arguments, cwd=folder)
    assert done.returncode == 0, done.stderr


def test_the_stored_state_decides_who_takes_the_task(garage: Path) -> None:
    """Suspend one agent after the other: first the other agent, then the nearest superior at work, then none."""
    assert [each["agent_id"] for each in dispatch(garage, "wash")["crew"]["agents"]] == ["ann", "cat"]
    change(garage, "agent", "move", "ann", "suspended", "--reason", "on leave")
    assert dispatch(garage, "wash")["crew"]["agent_id"] == "cat"
    change(garage, "agent", "move", "cat", "suspended", "--reason", "on leave")
    crew = dispatch(garage, "wash")["crew"]
    assert (crew["acting_role"], crew["agent_id"]) == ("chief", "head")
    for agent in ("head", "boss"):
        change(garage, "agent", "move", agent, "suspended", "--reason", "on leave")
    crew = dispatch(garage, "wash")["crew"]
    assert (crew["acting_role"], crew["agent_id"], crew["agents"]) == (None, None, [])
    assert dispatch(garage, "wash", "--as-documents")["crew"] is None


def test_the_recorded_watch_decides(garage: Path) -> None:
    """Without a recorded watch, every agent is on duty."""
    change(garage, "crew", "watch", "beta", "--org", "garage", "--reason", "night")
    assert [each["agent_id"] for each in dispatch(garage, "wash")["crew"]["agents"]] == ["ann"]


def test_the_text_names_the_agents_and_the_reasons(garage: Path) -> None:
    """The text for people."""
    done = run_here("dispatch", "paint", "--needs", "spray", cwd=garage)
    assert done.stdout.splitlines()[6:] == [
        "  no roster assigns an agent to role `painter`",
        "      org.yaml:6",
        "  role `washer` is the deputy of role `painter`",
        "      roles.yaml:16",
        "  agents of washer: cat, ann",
        "  because agent `cat` comes before `ann`: `cat` needs no approval, and `ann` needs an approval for `spray`",
        "      org.yaml:34",
        "      org.yaml:32",
    ]


def test_a_case_states_the_agents(garage: Path) -> None:
    """`orgkernel test` compares the agents and the acting role in the given state."""
    (garage / "cases.yaml").write_text(
        """\
_schema: orgkernel:decision_cases
cases:
  - name: a suspended washer
    org: garage
    given: {agents: {ann: {lifecycle: suspended}}}
    dispatch:
      - {ask: {domain: wash}, outcome: role, agents: [cat], acting_role: washer}
      - {ask: {domain: wash}, outcome: role, agents: [ann, cat], acting_role: chief}
""",
        encoding="utf-8",
    )
    done = run_here("test", "cases.yaml", cwd=garage, env={"COLUMNS": "400"})
    assert done.returncode == 1
    text = " ".join(done.stdout.split())
    assert "the agents are [cat], not [ann, cat], because agent `ann` is suspended" in text
    assert "role `washer` acts, not role `chief`" in text
    assert done.stderr.splitlines()[-1] == "1 passed, 1 failed"
