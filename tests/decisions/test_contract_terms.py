"""What an organization demands of contracts: the same by the function, the command line, HTTP and when one is stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.decisions.work.contracts.reading import check_read_contract, read_contract
from orgkernel.errors import Refused
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.stored import open_store
from orgkernel.loading.files import decode
from orgkernel.operations.context import Actor, Context
from orgkernel.operations.contracts import record_contract
from orgkernel.state.location import parse_location
from tests.support.contracts import as_text, changed
from tests.support.in_process import run_here
from tests.support.trees import copy_template

CREW = """
_schema: orgkernel:crew_roster
agents:
  ada: {callsign: Ada, rank: ensign, assignments: [{role: planner}]}
  wanda: {callsign: Wanda, rank: ensign, assignments: [{role: worker}]}
"""
LITE = {"mode": "lite", "attempts": [{"manager": {"agent": "a", "status": "DONE", "confidence": 0.9}}]}
DIRECT = {"mode": "direct", "attempts": []}
LESS = "ORG670 mode `direct` is less than `lite`, which layer `L4` requires"
MOST = "ORG670 mode `lite` is less than `full`, which role `worker` requires"
# Each with what is wrong with it.
CASES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("lmc_record", {"lead": "planner", **LITE}, []),
    ("lmc_record", {"lead": "role:Planner", **DIRECT}, [LESS]),
    ("lmc_record", {"lead": "ada", **DIRECT}, [LESS]),
    ("lmc_record", {"lead": "agent:ada", **LITE}, []),
    ("lmc_record", {"lead": "intake", **DIRECT}, []),
    ("lmc_record", {"lead": "worker", **LITE}, [MOST]),
    ("lmc_record", {"lead": "agent:wanda", **LITE}, [MOST]),
    ("lmc_record", {"lead": "somebody", **LITE}, [MOST]),  # whom nobody declares
    ("blocker", {"question": "Shall  we DISCUSS the color of the button?"},
     ["ORG668 the blocker asks for a preference or a confirmation (`shall we discuss`)"]),
    ("blocker", {"question": "Nobody knows who wrote `shall we discuss` into the log."}, []),
    ("result", {"status": "pending", "pending_actions": ["Waiting for a decision about the color"]},
     ["ORG674 the pending action `Waiting for a decision about the color` waits for an answer (`waiting for a decision`)"]),
    ("result", {"status": "pending", "pending_actions": ["Paint the button"]}, []),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Omega, with agents and a role that demands more than its layer."""
    folder = copy_template(tmp_path_factory.mktemp("terms") / "omega", "omega")
    (folder / "crew.yaml").write_text(CREW, encoding="utf-8")
    with (folder / "roles" / "worker.yaml").open("a", encoding="utf-8") as profile:
        profile.write("\nlmc_mode: full\n")
    return folder


@pytest.fixture(scope="module")
def kernel(folder: Path) -> Kernel:
    kernel = Kernel.open(folder)
    assert [each.message for each in kernel.check() if each.severity.value == "error"] == []
    return kernel


@pytest.fixture(scope="module")
def ask_http(kernel: Kernel) -> Callable[[dict[str, Any]], Any]:
    client = TestClient(create_app(kernel), base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000))
    return lambda body: client.post("/v1/orgs/omega/contracts/check", json=body).json()


@pytest.mark.parametrize(("kind", "changes", "expected"), CASES)
def test_the_terms_count_on_every_surface(
    folder: Path,
    kernel: Kernel,
    ask_http: Callable[[dict[str, Any]], Any],
    tmp_path: Path,
    kind: str,
    changes: dict[str, Any],
    expected: list[str],
) -> None:
    """Without the organization, only what always counts is found."""
    text = as_text(changed(kind, changes))
    read = read_contract(decode("contract", "contract", text.encode()))
    plain, checked = (
        check_read_contract(read, terms=terms) for terms in (None, kernel.contract_terms("omega"))
    )

    def said(findings: Any) -> list[str]:
        return [f"{each['code']} {each['message']}" for each in findings if each["severity"] == "error"]

    alone = [f"{each.code} {each.message}" for each in plain.diagnostics if each.severity.value == "error"]
    assert alone == []
    found = [f"{each.code} {each.message}" for each in checked.diagnostics if each.severity.value == "error"]
    assert found == expected
    assert said(ask_http({"contract": text})["findings"]) == expected
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    done = run_here("task", "check", str(tmp_path / "c.yaml"), "--org", "omega", "--path", ".", "--format", "json", cwd=folder)  # fmt: skip
    assert said(json.loads(done.stdout)) == expected
    assert done.returncode == bool(expected)


def test_what_the_organization_refuses_is_not_stored(kernel: Kernel, tmp_path: Path) -> None:
    """A contract that the terms of the organization refuse is not stored, even if it passed a check with other terms."""
    text = as_text(changed("lmc_record", {"lead": "planner", "brief": None, **DIRECT}))
    checked = check_read_contract(read_contract(decode("contract", "contract", text.encode())))
    assert checked.outcome == "sound"
    with open_store(parse_location("state.db", str(tmp_path))) as store:
        context = Context(kernel.with_store(store), store, Actor("system:cli"))
        with pytest.raises(Refused, match="mode `direct` is less than `lite`"):
            record_contract(context, checked)
        assert store.contracts.list("omega") == ()


def test_the_batch_size_of_the_organization_bounds_that_of_a_plan(tmp_path: Path) -> None:
    """On the command line and over HTTP; a plan that wants less gets less."""
    folder = copy_template(tmp_path / "omega", "omega")
    governance = folder / "governance.yaml"
    text = governance.read_text(encoding="utf-8")
    assert "batch_size: 4" in text
    governance.write_text(text.replace("batch_size: 4", "batch_size: 2"), encoding="utf-8")
    kernel = Kernel.open(folder)
    client = TestClient(create_app(kernel), base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000))
    for size, org, expected in ((4, None, [4]), (4, "omega", [2, 2]), (1, "omega", [1, 1, 1, 1])):
        plan = {
            "_schema": "orgkernel:subtask_plan",
            "batch_size": size,
            "subtasks": [{"id": name, "files": [f"{name}.py"]} for name in "abcd"],
        }
        (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        named = [] if org is None else ["--org", org, "--path", "omega"]
        done = run_here("task", "plan", "plan.json", *named, "--format", "json", cwd=tmp_path)
        answers = [json.loads(done.stdout)]
        if org is not None:
            answers.append(client.post(f"/v1/orgs/{org}/batches/plan", json={"plan": plan}).json())
        for answer in answers:
            assert [len(batch["subtasks"]) for batch in answer["plan"]["batches"]] == expected
    unknown = client.post("/v1/orgs/nobody/batches/plan", json={"plan": {}})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "UNKNOWN_ORGANIZATION")
