"""Contracts and the decision log on the command line, in a store."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.contracts import as_text, changed
from tests.support.in_process import run_here
from tests.support.trees import copy_template

ADD = (
    "--task",
    "Pay with saved cards",
    "--class",
    "medium",
    "--rationale",
    "Audits.",
    "--falsifier",
    "A dump has one.",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An organization."""
    copy_template(tmp_path, "software_dev")
    return tmp_path


def record(folder: Path, kind: str, **changes: object) -> tuple[int, str]:
    (folder.parent / "contract").write_text(as_text(changed(kind, changes)), encoding="utf-8")
    done = run_here("task", "record", str(folder.parent / "contract"), cwd=folder)
    return done.returncode, done.stdout or done.stderr


def test_contracts_are_recorded_and_listed(folder: Path) -> None:
    """In their order; a second result of a session is refused."""
    assert record(folder, "brief") == (
        0,
        "brief 0b8f6f3e-52b6-4c0a-9d0c-6a1f6c1f7a55 is contract 1 of software_dev\n",
    )
    code, said = record(folder, "result", agent="co")
    assert (code, said.partition(" (")[0]) == (
        2,
        "error: the contract does not fit the log of hand-offs: ORG788 no work was handed down into session "
        "`shop-worker-1`",
    )
    (folder.parent / "brief").write_text(as_text(changed("brief", {})), encoding="utf-8")
    words = ("--brief", str(folder.parent / "brief"), "--session", "shop-worker-1", "--depth", "0")
    handed = run_here("task", "handoff", "record", "person:user", "co", *words, cwd=folder)
    assert handed.returncode == 0, handed.stderr
    assert record(folder, "result", agent="co") == (
        0,
        "result 6f1d2c3b-9a4e-4f5d-8b7c-0d1e2f3a4b5c is contract 2 of software_dev\n",
    )
    code, said = record(folder, "result", id=None)
    assert code == 2
    assert said.startswith(
        "error: session `shop-worker-1` has the result `6f1d2c3b-9a4e-4f5d-8b7c-0d1e2f3a4b5c`\n"
    )
    assert record(folder, "correction", agent="co")[0] == 0
    listed = json.loads(run_here("task", "list", "--format", "json", cwd=folder).stdout)
    assert [(each["sequence"], each["kind"]) for each in listed] == [
        (1, "brief"),
        (2, "result"),
        (3, "correction"),
    ]
    assert [each["previous"] for each in listed[1:]] == [each["digest"] for each in listed[:-1]]
    only = run_here("task", "list", "--kind", "result", "--session", "shop-worker-1", cwd=folder).stdout
    assert [line.split()[0] for line in only.splitlines()] == ["number", "2"]


def test_a_contract_that_is_not_sound_is_not_recorded(folder: Path) -> None:
    """An invalid contract, or a document that is not a contract, is not recorded."""
    code, said = record(folder, "result", regressions=["The search finds nothing."])
    assert code == 2
    assert said.startswith("error: the contract is not valid: ORG656 ")
    assert record(folder, "result", _schema="orgkernel:bill")[0] == 2


def test_the_log_is_exported_and_a_changed_log_is_refused(folder: Path) -> None:
    """The exported log shows which entry each one replaces, and a change of the database is detected."""
    first = run_here(
        "task", "log", "add", "Cards stay", "--decision", "Only tokens.", *ADD, "--format", "json", cwd=folder
    )
    entry = json.loads(first.stdout)
    again = run_here(
        "task",
        "log",
        "add",
        "Cards go",
        "--decision",
        "No tokens.",
        *ADD,
        "--supersedes",
        entry["record_id"],
        cwd=folder,
    )
    assert again.returncode == 0, again.stderr
    time = entry["body"]["timestamp"]
    shown = run_here("task", "log", "export", "--markdown", cwd=folder).stdout
    assert shown.startswith(
        f"### [{time}] Cards stay\n- **Task:** Pay with saved cards\n- **Classification:** MEDIUM\n"
        "- **Decision:** Only tokens.\n- **Rationale:** Audits.\n- **Falsifier:** A dump has one.\n\n### ["
    )
    assert shown.endswith(f"- **Supersedes:** [{time}] Cards stay\n")
    assert len(run_here("task", "log", "list", cwd=folder).stdout.splitlines()) == 3
    with closing(sqlite3.connect(folder / ".orgkernel" / "state.db")) as database, database:
        database.execute(
            "UPDATE contract_records SET body = replace(body, 'Only tokens', 'Numbers') WHERE sequence = 1"
        )
    refused = run_here("task", "log", "export", cwd=folder)
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: the decision log was changed: contract 1 was changed\n")
