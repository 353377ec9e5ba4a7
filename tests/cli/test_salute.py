"""`orgkernel salute`: the board, one report, following, and collecting, from a store and from a folder of files."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from orgkernel.kernel.stored import open_store
from orgkernel.state.location import parse_location
from tests.support.in_process import run_here
from tests.support.patience import PATIENCE
from tests.support.salute import salute
from tests.support.trees import REPOSITORY, copy_template

Run = Callable[..., subprocess.CompletedProcess[str]]
# Whoever runs the tests in the background has interrupts ignored, and what is started would inherit that.
FOLLOW = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from orgkernel.cli import main; main()"
)


@pytest.fixture
def here(quick_folder: Path) -> Path:
    """A project with an organization, and a folder a host reports to."""
    copy_template(quick_folder / "orgs" / "software_dev", "software_dev")
    (quick_folder / "orgkernel.toml").write_text('paths = ["orgs"]\n')
    (quick_folder / "reports" / "archive").mkdir(parents=True)
    return quick_folder


@pytest.fixture
def ask(here: Path) -> Run:
    """Run a command; it has to end as the test says."""

    def ask(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = run_here(*arguments, cwd=here)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return ask


def put(here: Path, *bodies: dict[str, Any]) -> None:
    """Reports as a host writes them, latest ones last."""
    for number, body in enumerate(bodies):
        role = body["unit"]["role_id"]
        for name in (f"archive/{role}_{number}.json", f"{role}_latest.json"):
            (here / "reports" / name).write_text(json.dumps(body))


def table(done: subprocess.CompletedProcess[str]) -> list[list[str]]:
    return [re.split(r"  +", line) for line in done.stdout.splitlines()]


@pytest.fixture
def started(here: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Commands that go on, killed at the end whatever happens."""
    running: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", FOLLOW, *arguments],
            cwd=here,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONUNBUFFERED": "1"},
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def test_the_board_of_a_folder(here: Path, ask: Run) -> None:
    """Readable without knowing anything: role, tier, health, how old, how far, what it does, and what is odd."""
    now = time.time()
    put(
        here,
        salute("bugfix_specialist", "contingent", now - 5, task="fix the parser"),
        salute("codegen_specialist", at=now - 7_200, task="write the parser"),
        salute("co", at=now - 7_200, state="complete", task="all done"),
        salute("osint_specialist", at=now + 7_300),
    )
    lines = table(ask("salute", "board", "--reports", "reports"))
    assert lines[0] == ["role", "tier", "health", "state", "progress", "age", "marks", "task"]
    said = {line[0]: line[1:] for line in lines[1:]}
    assert list(said) == sorted(said)
    assert said["bugfix_specialist"][:4] == ["contingent", "critical", "active", "40%"]
    assert said["bugfix_specialist"][-2:] == ["–", "fix the parser"]
    assert said["codegen_specialist"][-2:] == ["stale", "write the parser"]
    assert said["codegen_specialist"][4] in ("2h", "2h 0m", "2h 1s", "2h 2s")
    assert said["co"][-2:] == ["–", "all done"]
    assert re.fullmatch(r"clock 2h (1m|\d+s)? ahead", said["osint_specialist"][-2])


def test_the_board_of_the_store(here: Path, ask: Run) -> None:
    """The same, and as JSON; before anything was reported there is nothing."""
    assert "there is no store" in ask("salute", "board", code=2).stderr
    put(here, salute("co", "alternate", time.time()), salute("engineering_xo", at=time.time()))
    assert ask("salute", "collect", "reports").stdout == "2 stored, 2 known, 0 expired, 0 rejected\n"
    lines = json.loads(ask("salute", "board", "--format", "json").stdout)
    assert [(line["role_id"], line["pace_level"], line["is_stale"]) for line in lines] == [
        ("co", "alternate", False), ("engineering_xo", "primary", False),
    ]  # fmt: skip
    assert [line[0] for line in table(ask("salute", "board", "--role", "co"))] == ["role", "co"]
    assert ask("salute", "board", "--org", "yard").stdout == ""
    assert (
        "cannot be used together"
        in ask("salute", "board", "--reports", "reports", "--store", "x.db", code=2).stderr
    )


def test_agents_of_one_role_are_told_apart(here: Path, ask: Run) -> None:
    """And organizations, where there are several."""
    with open_store(parse_location(".orgkernel/state.db", str(here))) as store:
        store.reports.record(salute("co", at=time.time()), actor="a", agent_id="worf")
        store.reports.record(salute("co", at=time.time(), agent=3), actor="a")
        store.reports.record(salute("co", at=time.time(), org="yard"), actor="a")
    names = [line[0] for line in table(ask("salute", "board"))[1:]]
    assert names == ["software_dev/co (agent 3)", "software_dev/co (worf)", "yard/co"]
    assert "choose one with `--org`" in ask("salute", "show", "co", code=2).stderr
    assert "(yard/co)" in ask("salute", "show", "co", "--org", "yard").stdout


def test_how_often_a_role_reports_is_its_doctrine(here: Path, ask: Run) -> None:
    """Five turns of ten seconds by default; a hundred turns in the profile here."""
    put(here, salute("bugfix_specialist", at=time.time() - 400))
    assert table(ask("salute", "board", "--reports", "reports"))[1][-2] == "stale"
    profile = here / "orgs" / "software_dev" / "roles" / "bugfix_specialist.yaml"
    text = re.sub(r"salute_interval_turns: \d+", "salute_interval_turns: 100", profile.read_text())
    profile.write_text(re.sub(r"max_turns_without_progress: \d+", "max_turns_without_progress: 200", text))
    assert table(ask("salute", "board", "--reports", "reports"))[1][-2] == "–"


def test_one_report_in_full(here: Path, ask: Run) -> None:
    """A report is shown under the letters of SALUTE, without control characters; a misspelled role gets a suggestion."""
    body = salute("bugfix_specialist", at=time.time() - 100, task="mend\x1b[31m it")
    put(here, body)
    said = ask("salute", "show", "bugfix_specialist", "--reports", "reports").stdout
    assert said.startswith("Bugfix Specialist (software_dev/bugfix_specialist), 1m 4")
    assert [line[0] for line in said.splitlines() if line[:1].isalpha()] == ["B", *"SALUTE"]
    assert "\x1b" not in said
    assert re.search(r"pace_level +primary", said)
    detail = json.loads(
        ask("salute", "show", "bugfix_specialist", "--reports", "reports", "--format", "json").stdout
    )
    assert detail["report"]["unit"] == body["unit"]
    done = ask("salute", "show", "bugfx_specialist", "--reports", "reports", code=2)
    assert "did you mean `bugfix_specialist`?" in done.stderr
    assert (
        "there are no reports" in ask("salute", "show", "co", "--reports", "reports/archive", code=2).stderr
    )


def test_files_that_are_no_reports_are_named(here: Path, ask: Run) -> None:
    """Beside the board of those that are; looking at a folder moves nothing."""
    put(here, salute("co", at=time.time()))
    (here / "reports" / "xo_latest.json").write_text("{")
    done = ask("salute", "board", "--reports", "reports")
    assert done.stderr == "xo_latest.json: NOT_JSON: the file is not JSON\n"
    assert len(table(done)) == 2
    assert (here / "reports" / "xo_latest.json").exists()
    assert "no such file" in ask("salute", "board", "--reports", "nowhere", code=2).stderr


def test_collecting_says_what_became_of_each_file(here: Path, ask: Run) -> None:
    """What is no report is set aside, and makes the command end with 1, once."""
    put(here, salute("co", at=time.time()))
    (here / "reports" / "xo_latest.json").write_text("{")
    done = ask("salute", "collect", "reports", "--format", "json", code=1)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted((line["file"], line["outcome"]) for line in lines) == [
        ("archive/co_0.json", "stored"), ("co_latest.json", "known"), ("xo_latest.json", "rejected"),
    ]  # fmt: skip
    assert re.fullmatch(
        r"xo_latest\.json: NOT_JSON: the file is not JSON, moved to rejected/xo_latest\.json\.\d+\n",
        done.stderr,
    )
    assert ask("salute", "collect", "reports").stdout == "0 stored, 2 known, 0 expired, 0 rejected\n"
    assert "no such file" in ask("salute", "collect", "nowhere", code=2).stderr


def test_a_collector_and_a_watcher_go_on(
    here: Path, ask: Run, started: Callable[..., subprocess.Popen[str]]
) -> None:
    """A report that a host writes is stored and printed a moment later, until the command is interrupted."""
    put(here, salute("co", at=time.time() - 50, task="before"))
    ask("salute", "collect", "reports")
    collector = started("salute", "collect", "reports", "--follow", "--every", "0.05")
    watcher = started("salute", "watch", "--since", "1h", "--count", "3", "--format", "json")
    for number, tier in enumerate(("alternate", "contingent")):
        body = salute("co", tier, time.time() - 40 + number, task=f"during {number}")
        beside = here / "reports" / "archive" / "co.tmp"
        beside.write_text(json.dumps(body))
        beside.rename(beside.with_name(f"co_during_{number}.json"))
    out, error = watcher.communicate(timeout=PATIENCE)
    assert (watcher.returncode, error) == (0, "")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["task"] for line in lines] == ["before", "during 0", "during 1"]
    assert [line["pace_level"] for line in lines] == ["primary", "alternate", "contingent"]
    collector.send_signal(signal.SIGINT)
    out, error = collector.communicate(timeout=PATIENCE)
    assert collector.returncode == 130
    assert "stored archive/co_during_0.json" in out
    assert "Traceback" not in error


def test_watching_as_text(here: Path, ask: Run) -> None:
    """A line of a log for each report."""
    put(here, salute("co", "emergency", time.time() - 3, task="all is lost"))
    ask("salute", "collect", "reports")
    line = ask("salute", "watch", "--since", "1h", "--count", "1").stdout
    assert re.fullmatch(r"\S+Z  software_dev/co  emergency  critical  active  40%  all is lost\n", line)


def test_old_reports_are_dropped_by_the_command(here: Path, ask: Run) -> None:
    """But no agent's latest."""
    for number in range(3):
        put(here, salute("co", at=time.time() - 3_600 + number, task=str(number)))
        ask("salute", "collect", "reports")
    assert ask("salute", "drop", "--older", "2h").stdout == "0 dropped\n"
    assert ask("salute", "drop", "--older", "30m").stdout == "2 dropped\n"
    assert len(table(ask("salute", "board"))) == 2


def test_a_reported_tier_changes_an_answer(here: Path, ask: Run) -> None:
    """`why` names the report; a tier that is stated counts more."""
    question = ("role:codegen_specialist", "use", "tool:code_execution_tool", "--org", "software_dev")
    ask("can", *question)
    put(here, salute("codegen_specialist", "emergency", time.time()))
    ask("salute", "collect", "reports")
    ask("can", *question, code=1)
    assert "`emergency`, according to its SALUTE report of 20" in ask("why", *question, code=1).stdout
    manifest = ask("manifest", "codegen_specialist", "--org", "software_dev").stdout
    assert re.search(r"emergency \(now\) ", manifest)
    ask("can", *question, "--context", '{"pace": "primary"}')
