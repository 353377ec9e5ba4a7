"""Where the store and the roster differ, as `check --store` and `agent list` say it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.in_process import run_here
from tests.support.trees import copy_template

UNDECLARED = "agent `typist` is active in the store, but no roster declares it"
DRIFTED = "agent `clerk` has rank `senior` in the store but starts at `lieutenant` in the roster"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The household, with an agent too many and one promoted in the store beside it."""
    copy_template(tmp_path / "house", "household")
    for words in (("add", "typist"), ("set-rank", "clerk", "senior", "--reason", "the review")):
        done = run_here("agent", *words, "--path", "house", "--store", "state.db", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    return tmp_path


def test_check_with_a_store_finds_what_differs(home: Path) -> None:
    """With code and place like every finding; without the store nothing is known of it."""
    assert run_here("check", "house", cwd=home).stdout == ""
    done = run_here("check", "house", "--store", "state.db", "--format", "json", cwd=home)
    found = json.loads(done.stdout)
    assert [(each["code"], each["file"], each["line"], each["message"]) for each in found] == [
        ("ORG608", "house/crew.yaml", 9, UNDECLARED),
        ("ORG609", "house/crew.yaml", 22, DRIFTED),
    ]
    assert done.returncode == 0
    failing = run_here("check", "house", "--store", "state.db", "--fail-on", "warning", cwd=home)
    assert failing.returncode == 1
    assert "1 warning, 1 info in 1 organization" in failing.stderr


def test_a_baseline_and_the_settings_hold_for_it(home: Path) -> None:
    """A project gives these rules another severity, and adopts what it knows of."""
    (home / "orgkernel.toml").write_text(
        'paths = ["house"]\n[severities]\nORG608 = "error"\nORG609 = "off"\n'
    )
    assert run_here("check", "--store", "state.db", cwd=home).returncode == 1
    written = run_here("check", "--store", "state.db", "--write-baseline", "known.json", cwd=home)
    assert written.returncode == 0, written.stderr
    done = run_here("check", "--store", "state.db", "--baseline", "known.json", cwd=home)
    assert (done.returncode, "1 finding allowed by the baseline" in done.stderr) == (0, True)


def test_a_store_that_is_not_there_is_said(home: Path) -> None:
    """A missing store is an error, because an empty comparison would look like agreement."""
    done = run_here("check", "house", "--store", "stat.db", cwd=home)
    assert done.returncode == 2
    assert "there is no store" in done.stderr
    assert not (home / "stat.db").exists()


def test_the_list_of_agents_says_it_beside_the_agents(home: Path) -> None:
    """On stderr, so that the list stays data."""
    done = run_here("agent", "list", "--path", "house", "--store", "state.db", "--format", "json", cwd=home)
    assert [each["agent_id"] for each in json.loads(done.stdout)] == ["butler", "clerk", "typist"]
    assert done.stderr.splitlines() == [f"warning[ORG608] {UNDECLARED}", f"info[ORG609] {DRIFTED}"]
