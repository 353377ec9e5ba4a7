"""Bills over HTTP: what is listed and shown, and what is refused. The corpus of bills asks the questions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.kernel.kernel import Kernel
from tests.api.asking import problem
from tests.support.trees import TEMPLATES

BILLS = "/v1/orgs/starship/bills"


@pytest.fixture(scope="module")
def ship() -> Iterator[TestClient]:
    app = create_app(Kernel.open(TEMPLATES / "starship"))
    with TestClient(app, base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000)) as client:
        yield client


def test_bills_are_listed_and_shown(ship: TestClient) -> None:
    """With an ETag, and with steps as they are written."""
    listed = ship.get(BILLS)
    assert [each["bill"] for each in listed.json()["bills"]] == ["general_quarters", "incident_review"]
    assert ship.get(BILLS, headers={"If-None-Match": listed.headers["ETag"]}).status_code == 304
    shown = ship.get(f"{BILLS}/general_quarters").json()
    assert shown["trigger"] == "alert:RED"
    assert shown["findings"] == []
    assert [bill_role["roles"] for bill_role in shown["bill_roles"]][:2] == [
        ["first_officer"],
        ["chief_security"],
    ]
    assert shown["steps"][0]["branches"] == ["find_threat", "check_systems", "open_sickbay", "plan_relief"]


def test_a_bill_runs_from_its_proposal_to_its_end(ship: TestClient) -> None:
    """A runtime that follows the answers completes the bill, with its steps in the expected order."""
    path = f"{BILLS}/general_quarters"
    filled = ship.post(f"{path}/fill", json={"without": ["tally"]}).json()
    assert [each["bill_role"] for each in filled["vacancies"]] == ["stores"]
    filled = ship.post(f"{path}/fill", json={}).json()
    outputs = {
        "find_threat": {"threat": "contained"},
        "check_systems": {"sound": True},
        "plan_relief": {"plan": "x"},
    }
    instance = {
        "digest": filled["digest"], "activated_by": "alert:RED", "assignments": filled["assignments"], "steps": {},
    }  # fmt: skip
    order = []
    while (found := ship.post(f"{path}/next", json=instance).json())["may_start"]:
        for step in found["may_start"]:
            by = f"agent:{step['bill_roles'][0]['agents'][0]}" if step["bill_roles"] else "person:captain"
            report = {"status": "completed", "by": by, "outputs": outputs.get(step["step"], {})}
            instance["steps"] |= {step["step"]: report}
            order.append(step["step"])
    assert (found["outcome"], found["state"], found["findings"]) == ("over", "completed", [])
    assert order == [
        "sound",
        "find_threat",
        "check_systems",
        "open_sickbay",
        "plan_relief",
        "report",
        "stand_down",
    ]
    assert found["skipped"] == ["hold"]


def test_what_does_not_fit_is_a_problem(ship: TestClient) -> None:
    """An unknown bill, an instance of another bill and undeclared fields are refused."""
    said = problem(ship.get(f"{BILLS}/general_quarter"), 404, "UNKNOWN_BILL")
    assert said["help"] == "did you mean `general_quarters`?"
    path = f"{BILLS}/general_quarters/next"
    problem(ship.post(path, json={"bill": "incident_review"}), 422, "INVALID_REQUEST")
    problem(ship.post(path, json={"step": {}}), 422, "INVALID_REQUEST")
    problem(ship.post(path, json={"steps": {"sound": {"status": "done"}}}), 422, "INVALID_REQUEST")
    problem(ship.post(f"{BILLS}/general_quarters/fill", json={"without": "tally"}), 422, "INVALID_REQUEST")
