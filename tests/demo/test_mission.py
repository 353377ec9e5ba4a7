"""The mission of docs/mission.md, played as the page shows it: every record of it can be asked for afterwards."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from orgkernel.kernel.kernel import Kernel
from tests.api.asking import stored_client
from tests.api.keys import location_of
from tests.docs.shown import Reader
from tests.support.in_process import run_here
from tests.support.trees import REPOSITORY

PAGE = REPOSITORY / "docs" / "mission.md"
WORKERS = ("worker_1", "worker_2", "worker_3")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the mission was played, once."""
    reader = Reader(tmp_path_factory.mktemp("mission"))
    reader.follow(PAGE.read_text(encoding="utf-8"))
    return reader.folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    """A server over the same documents and the same store."""
    place = location_of(folder / ".orgkernel" / "state.db")
    with stored_client(Kernel.open(folder / "acme"), place) as asking:
        yield asking


def told(folder: Path, *words: str) -> Any:
    """What a command says, as data."""
    done = run_here(*words, "--format", "json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_everything_is_remembered_in_its_order(folder: Path) -> None:
    """Who decided, handed down, asked, answered, reported, corrected and closed; and nothing that was refused."""
    by = {"intake": "agent:intake_1", "planner": "agent:planner_1"} | {
        each: f"agent:{each}" for each in WORKERS
    }
    assert [(each["kind"], each["actor"], each["body"].get("status")) for each in told(folder, "task", "list")] == [
        ("decision_entry", by["intake"], None),
        ("brief", by["intake"], None),
        *[("brief", by["planner"], None)] * 3,
        ("result", by["worker_1"], "done_clean"),
        ("decision_entry", by["planner"], None),
        ("result", by["worker_2"], "done_clean"),
        ("blocker", by["worker_3"], None),
        ("decision_entry", by["planner"], None),
        ("result", by["worker_3"], "done_clean"),
        ("correction", by["worker_1"], "failed"),
        ("brief", by["planner"], None),
        ("result", by["worker_1"], "done_clean"),
        ("mission_close", by["planner"], "done_clean"),
    ]  # fmt: skip


def test_records_cite_one_another(folder: Path) -> None:
    """A brief its mission, a result its brief, a correction its original, an answer its blocker, a row the row before it."""
    records = told(folder, "task", "list")
    of = {
        kind: [each for each in records if each["kind"] == kind]
        for kind in {each["kind"] for each in records}
    }
    mission, *below = of["brief"]
    assert {each["body"]["parent"] for each in below} == {mission["record_id"]}
    assert below[-1]["body"]["replaces"] == below[0]["record_id"]
    assert [each["brief_id"] for each in of["result"]] == [each["record_id"] for each in below]
    assert [each["body"]["original"] for each in of["correction"]] == [of["result"][0]["record_id"]]
    assert of["decision_entry"][-1]["body"]["answers"] == of["blocker"][0]["record_id"]
    assert of["blocker"][0]["body"]["agent"] == "worker_3"
    assert of["mission_close"][0]["brief_id"] == mission["record_id"]
    assert [each["previous"] for each in records[1:]] == [each["digest"] for each in records[:-1]]


def test_what_was_claimed_and_refused_is_in_the_audit(folder: Path) -> None:
    """A result that its verify command refutes, a result with an open question, and a close that leaves a worker out."""
    rows = told(folder, "audit", "query", "--kind", "contract")
    refused = [each for each in reversed(rows) if each["activity"] == "refused"]
    assert [(each["actor"], each["subject"], each["reason"].split()[5]) for each in refused] == [
        ("agent:worker_2", "contract:result", "ORG655"),
        ("agent:worker_3", "contract:result", "ORG674"),
        ("agent:planner_1", "contract:mission_close", "ORG669"),
    ]
    assert {each["detail"]["status"] for each in refused} == {"done_clean"}


@pytest.mark.parametrize(
    ("words", "path", "name"),
    [
        (("task", "list"), "/v1/orgs/omega/contracts", "contracts"),
        (("task", "list", "--kind", "correction"), "/v1/orgs/omega/contracts?kind=correction", "contracts"),
        (("task", "list", "--session", "shop-worker-3"), "/v1/orgs/omega/contracts?session=shop-worker-3", "contracts"),
        (("task", "list", "--open"), "/v1/orgs/omega/contracts?open=true", "contracts"),
        (("task", "handoff", "list"), "/v1/orgs/omega/handoffs", "handoffs"),
        (("task", "handoff", "list", "--running"), "/v1/orgs/omega/handoffs?running=true", "handoffs"),
        (("task", "log", "list"), "/v1/orgs/omega/contracts?kind=decision_entry", "contracts"),
        (("claim", "list"), "/v1/orgs/omega/claims", "claims"),
    ],
)  # fmt: skip
def test_http_gives_the_same(
    folder: Path, client: TestClient, words: tuple[str, ...], path: str, name: str
) -> None:
    """The same records as the command line, in the same order."""
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    assert answer.json()[name] == told(folder, *words)


def test_handoffs_have_their_briefs_and_depths(folder: Path) -> None:
    """From the person down to the workers, none of whom hands work down."""
    handoffs = told(folder, "task", "handoff", "list")
    assert [(each["sender"], each["holder"], each["depth"]) for each in handoffs] == [
        ("role:human", "agent:intake_1", 0),
        ("agent:intake_1", "agent:planner_1", 1),
        *[("agent:planner_1", f"agent:worker_{number}", 2) for number in (1, 2, 3, 1)],
    ]
    briefs = [each["record_id"] for each in told(folder, "task", "list", "--kind", "brief")]
    assert [each["brief"] for each in handoffs] == [None, *briefs]


def test_manifests_say_who_hands_work_to_whom_and_that_nothing_is_left(
    folder: Path, client: TestClient
) -> None:
    """Of the role and of the agent, on the command line and over HTTP."""
    manifests = [
        told(folder, "manifest", "planner"),
        told(folder, "manifest", "--agent", "planner_1"),
        client.get("/v1/orgs/omega/roles/planner").json(),
        client.get("/v1/orgs/omega/agents/planner_1").json(),
    ]
    for manifest in manifests:
        assert [each["id"] for each in manifest["handoff_targets"]] == ["worker"]
        assert [each["id"] for each in manifest["handoff_sources"]] == ["intake"]
        assert manifest["depth_left"]["value"] == 4
        assert manifest["file_claims"] == manifest["open_blockers"] == []
    assert told(folder, "manifest", "worker")["depth_left"] is None


def test_the_repository_is_as_the_records_say(folder: Path) -> None:
    """What the planner closed passes its verify command, and every commit of the workers is on the main branch."""
    shop = folder / "shop"
    brief = told(folder, "task", "list", "--kind", "brief")[0]["body"]
    verified = subprocess.run(brief["verify_command"].split(), cwd=shop, capture_output=True, check=False)
    assert verified.returncode == 0, verified.stderr
    merged = subprocess.run(["git", "branch", "--merged", "main"], cwd=shop, capture_output=True, text=True, check=True)  # fmt: skip
    assert merged.stdout.split() == ["cart", "*", "main", "prices", "search"]
