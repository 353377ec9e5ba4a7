"""`orgkernel host signals`: the circulatory map, and one turn of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orgkernel.cli.hosts.signals import LIMIT
from tests.support.in_process import run_here as run

DUMP = {
    "_layer_signals": {
        "bst": {"active": True, "domain": "bugfix", "confidence": 0.93, "turn": 7},
        "fallback": {"fired_this_turn": True, "advice_type": "timeout", "turn": 7},
    },
    "_layer_ledger": {
        "turn": 7,
        "held": {"warning": "fallback"},
        "events": [
            {"turn": 5, "kind": "conflict", "lane": "warning", "layers": ["meta_gate", "rude"]},
            {"turn": 7, "kind": "deferred", "lane": "warning", "layers": ["supervisor", "fallback"]},
        ],
        "counts": {"deferred": 3, "conflict": 1},
    },
    "_tool_failures": {"consecutive": {"input": 3}},
    "_working_memory": {"entities": [], "promoted": {"a": {}}},
}


def dumped(folder: Path, value: object) -> Path:
    path = folder / "dump.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_the_map_fits_a_terminal(tmp_path: Path) -> None:
    """Every layer with its hook, in 110 columns."""
    done = run("host", "signals", cwd=tmp_path)
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 110
    assert "supervisor         message_loop_end" in done.stdout
    assert (
        "supervisor        fallback                                stays silent after advice" in done.stdout
    )


def test_the_map_as_json(tmp_path: Path) -> None:
    """The same for a program."""
    layers = json.loads(run("host", "signals", "--format", "json", cwd=tmp_path).stdout)["signal_layers"]
    assert [layer["name"] for layer in layers][:2] == ["working_memory", "bst"]
    assert layers[1] == {
        "name": "bst",
        "hook": "before_main_llm_call",
        "says": ["domain", "confidence"],
        "reads": {},
        "spoken_by": None,
        "seen_in": "agent._bst_store",
    }


def test_a_dump_is_told(tmp_path: Path) -> None:
    """Who acted, who deferred to whom, the conflicts, and what is unknown."""
    done = run("host", "signals", dumped(tmp_path, DUMP), cwd=tmp_path)
    assert done.stdout == (
        "In turn 7, fallback warned.\n"
        "\n"
        "signal layer             signals\n"
        "bst             said     active=True, domain=bugfix, confidence=0.93\n"
        "working_memory  derived  active=True, entity_count=1\n"
        "fallback        spoke    fired_this_turn=True, advice_type=timeout\n"
        "\n"
        "unknown: org_kernel, meta_gate, supervisor, structured_retry, memory_classifier\n"
        "\n"
        "turn 5: conflict of meta_gate, rude\n"
        "turn 7: supervisor deferred to fallback\n"
        "total: 1 × conflict, 3 × deferred\n"
    )


def test_a_dump_as_json(tmp_path: Path) -> None:
    """With every value as it was dumped."""
    told = json.loads(run("host", "signals", dumped(tmp_path, DUMP), "--format", "json", cwd=tmp_path).stdout)
    assert (told["turn"], told["held_by"], told["counts"]) == (7, "fallback", {"deferred": 3, "conflict": 1})
    assert told["signal_layers"][2] == {
        "name": "fallback",
        "source": "said",
        "fields": {"fired_this_turn": True, "advice_type": "timeout", "turn": 7},
        "spoke": True,
    }


def test_two_that_spoke_are_pointed_out(tmp_path: Path) -> None:
    """A conflict of the turn that is still going on."""
    bare = {"fallback": {"fired_this_turn": True}, "meta_gate": {"correction_applied": True}}
    done = run("host", "signals", dumped(tmp_path, bare), cwd=tmp_path)
    assert done.stdout.startswith("In the turn, more than one signal layer warned: fallback, meta_gate.\n")


def test_an_empty_dump_is_a_quiet_turn(tmp_path: Path) -> None:
    """An empty dump is a quiet turn, and every layer is unknown."""
    done = run("host", "signals", dumped(tmp_path, {}), cwd=tmp_path)
    assert done.stdout == (
        "In the turn, no signal layer warned.\n\n"
        "unknown: bst, working_memory, org_kernel, fallback, meta_gate, supervisor, structured_retry,"
        " memory_classifier\n"
    )


def test_a_dump_cannot_drive_a_terminal(tmp_path: Path) -> None:
    """Names and values come from agents."""
    nasty = {"a\x1b[2J": {"x": "\x1b]0;title\x07", "[bold]": 1}}
    for form in ("text", "json"):
        done = run("host", "signals", dumped(tmp_path, nasty), "--format", form, cwd=tmp_path)
        assert done.returncode == 0
        assert "\x1b" not in done.stdout
        assert "bold" in done.stdout


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is not a JSON object"),
        (b"[]", "is not a JSON object"),
        (b"{" * 100, "is not a JSON object"),
        (b'{"a":' * 100_000, "is not a JSON object"),
        (b'{"a": "\xff"}', "is not a JSON object"),
        (b" " * (LIMIT + 1), "is larger than"),
    ],
)
def test_what_is_no_dump_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    """With exit code 2 and without a traceback."""
    path = tmp_path / "dump.json"
    path.write_bytes(content)
    done = run("host", "signals", path, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr
