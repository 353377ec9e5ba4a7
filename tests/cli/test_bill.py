"""`orgkernel bill`: what it prints, what it refuses, and that it asks the stored state."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.decisions.test_bill_corpus import CORPUS
from tests.support.in_process import run_here
from tests.support.trees import write_tree


@pytest.fixture
def yard(tmp_path: Path) -> Path:
    return write_tree(tmp_path, CORPUS["fire"]["files"])


def ask(folder: Path, *words: str, code: int = 0) -> str:
    done = run_here("bill", *words, cwd=folder)
    assert done.returncode == code, done.stderr
    return done.stdout if code < 2 else done.stderr


def test_a_bill_is_shown_with_its_parts_and_steps(yard: Path) -> None:
    """With the roles that can take a bill role, who may start the bill, and the lines that say so."""
    assert [line.split()[0] for line in ask(yard, "list").splitlines()[1:]] == ["craft", "fire", "repair"]
    shown = ask(yard, "show", "fire").splitlines()
    assert shown[:2] == ["fire 2", "  started by alert:RED, or by hand by chief, guard"]
    assert "  bill role hands: 1-2 of chief, mason" in shown
    assert "  bill role watch: 1 of guard, needs senior or above" in shown
    assert "      bills/fire.yaml:6" in shown
    assert "  step close: tool seal by lead, watch" in shown
    assert "  step stand_down: captain_approval by the owner" in shown
    assert "  started by hand by mason" not in ask(yard, "show", "fire")
    assert ask(yard, "show", "craft").splitlines()[1] == "  started by hand by chief, mason"


def test_what_is_stored_decides_who_may_do_what(yard: Path) -> None:
    """A suspended guard leaves a bill role vacant, and may not do the step of an instance that runs."""
    ask(yard, "check", "fire")
    done = run_here("agent", "add", "cid", "--org", "yard", "--lifecycle", "suspended", cwd=yard)
    assert done.returncode == 0, done.stderr
    checked = ask(yard, "check", "fire", code=1)
    assert checked.startswith("bill role watch lacks 1 agent now\n")
    assert "  because agent `cid` is suspended\n" in checked
    case = next(each for each in CORPUS["fire"]["cases"] if each["name"].startswith("every branch whose"))
    (yard / "instance.json").write_text(json.dumps(case["instance"]), encoding="utf-8")
    said = ask(yard, "next", "fire", "instance.json")
    assert "    no agent of bill role `watch` may do step `count` now\n" in said
    superior = "    agents of role `chief`, which is above role `guard` in the chain of command, decide what becomes of the task\n"
    assert f"{superior}    not cid: agent `cid` is suspended\n" in said
    before = ask(yard, "next", "fire", "instance.json", "--as-of", "1d")
    assert "  may start count: send_dm\n" in before


@pytest.mark.parametrize(
    ("words", "text", "said"),
    [
        (["show", "fier"], "", "error: organization `yard` has no bill `fier`\nhelp: did you mean `fire`?\n"),
        (["next", "fire", "-"], "[]", "error: the instance is not a JSON object\n"),
        (["next", "fire", "i"], "{", "error: the instance is not JSON\n"),
        (["next", "fire", "i"], '{"bill": "repair"}', "error: the instance does not belong to bill `fire`\n"),
        (["next", "fire", "i"], '{"setps": {}}', "error: the instance does not fit"),
        (["next", "fire", "i"], '{"steps": {"a": {"status": "done"}}}', "error: the instance does not fit at `steps[...].status`"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused(yard: Path, words: list[str], text: str, said: str) -> None:
    """With exit code 2, and with what to write instead."""
    words = ["i" if word == "-" else word for word in words]
    (yard / "i").write_text(text, encoding="utf-8")
    assert ask(yard, *words, code=2).startswith(said)
