"""Bills with instances and complete answers, the same ones through every surface that answers them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.evidence.state_view import AgentState, QualificationResult, SkillRecord, StateView
from orgkernel.decisions.work.bills.filling import fill_bill_roles
from orgkernel.decisions.work.bills.instance import BillInstance
from orgkernel.decisions.work.bills.next_steps import decide_next_steps
from orgkernel.kernel.kernel import Kernel
from orgkernel.project.cases import FixedState
from tests.support.in_process import run_here
from tests.support.trees import write_tree
from tests.support.yaml_text import read_yaml_file

CORPUS = {
    path.stem: read_yaml_file(path) for path in sorted((Path(__file__).parent / "bill_corpus").glob("*.yaml"))
}
NOW = 1000.0
# An organization whose bills have errors is not served: only the decision itself can be asked about it.
NOT_SERVED = "careless"


def all_cases(section: str) -> list[Any]:
    return [
        pytest.param(name, case, id=f"{name}: {case['name']}")
        for name, file in CORPUS.items()
        for case in file[section]
    ]


CASES, FILLS = all_cases("cases"), all_cases("fills")


def build_state(org_id: str, given: Mapping[str, Any]) -> StateView:
    """What a case says is stored."""
    agents = {each["agent_id"]: AgentState(**each, org_id=org_id) for each in given.get("agents", ())}
    skills: dict[str, tuple[SkillRecord, ...]] = {}
    for each in given.get("skills", ()):
        record = SkillRecord(**each, org_id=org_id, acquired_at=0.0)
        skills[record.agent_id] = (*skills.get(record.agent_id, ()), record)
    results: dict[str, tuple[QualificationResult, ...]] = {}
    for each in given.get("results", ()):
        result = QualificationResult(**each, org_id=org_id)
        results[result.agent_id] = (*results.get(result.agent_id, ()), result)
    return StateView(1 if given else 0, agents=agents, skills=skills, results=results)


class Organization:
    """One organization of the corpus, on disk and held by a kernel."""

    def __init__(self, folder: Path, file: Mapping[str, Any]) -> None:
        self.folder = write_tree(folder, file["files"])
        self.id: str = file["org"]
        self.kernel = Kernel.open(self.folder)
        self._clients: dict[str, TestClient] = {}

    def there(self, case: Mapping[str, Any]) -> Kernel:
        """The kernel at the time of the cases, with what a case says is stored."""
        state = build_state(self.id, case.get("given", {}))
        return self.kernel.with_store(FixedState(state), lambda: (NOW, 0))

    def client(self, case: Mapping[str, Any]) -> TestClient:
        given = json.dumps(case.get("given", {}), sort_keys=True)
        if given not in self._clients:
            self._clients[given] = TestClient(
                create_app(self.there(case)), base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000)
            )
        return self._clients[given]


@pytest.fixture(scope="module")
def organizations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Organization]:
    return {name: Organization(tmp_path_factory.mktemp(name), file) for name, file in CORPUS.items()}


def as_data(decision: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(decision))


def instance_of(case: Mapping[str, Any]) -> BillInstance:
    return msgspec.convert({"bill": case["bill"], **case["instance"]}, BillInstance)


def ask_view(kind: str) -> Callable[[Organization, Mapping[str, Any]], Any]:
    def ask(organization: Organization, case: Mapping[str, Any]) -> Any:
        view = getattr(organization.kernel.state.latest.organizations[organization.id], kind)
        state = build_state(organization.id, case.get("given", {}))
        document, context = view.records.bills[case["bill"]], AccessContext(now=NOW)
        return as_data(decide_next_steps(view, state, document, instance_of(case), context))

    return ask


ask_index = ask_view("index")


def ask_kernel(organization: Organization, case: Mapping[str, Any]) -> Any:
    return as_data(organization.there(case).next_steps(organization.id, instance_of(case)))


def ask_http(organization: Organization, case: Mapping[str, Any]) -> Any:
    path = f"/v1/orgs/{organization.id}/bills/{case['bill']}/next"
    response = organization.client(case).post(path, json=case["instance"])
    assert response.status_code == 200, response.text
    return response.json()


def ask_command(organization: Organization, *words: str) -> Any:
    done = run_here(
        "bill", *words, "--org", organization.id, "--path", ".", "--format", "json", cwd=organization.folder
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def ask_cli(organization: Organization, case: Mapping[str, Any]) -> Any:
    file = organization.folder / "instance.json"
    file.write_text(json.dumps(case["instance"]), encoding="utf-8")
    return ask_command(organization, "next", case["bill"], str(file))


SURFACES = {
    "graph": ask_view("graph"),
    "index": ask_index,
    "kernel": ask_kernel,
    "http": ask_http,
    "cli": ask_cli,
}


def bill_roles_of(step: Mapping[str, Any]) -> dict[str, Any]:
    """Who may do a step, who has to ask, and what is said of those who may not."""
    found: dict[str, Any] = {}
    for bill_role in step["bill_roles"]:
        found[bill_role["bill_role"]] = bill_role["agents"]
        for agent in bill_role["asking"]:
            found[f"{agent} asks"] = True
        for each in bill_role["unfit"]:
            found[f"not {each['agent']}"] = [reason["code"] for reason in each["reasons"]]
    return found


def shown(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an answer that a case states in full; what is empty is left out."""
    said = {
        "outcome": answer["outcome"],
        "state": answer["state"],
        "because": [reason["code"] for reason in answer["reasons"]],
        "may_start": {
            step["step"]: {
                **bill_roles_of(step),
                **({"inputs": step["inputs"]} if step["inputs"] else {}),
                "obligations": [each["code"] for each in step["obligations"]],
                "because": [reason["code"] for reason in step["reasons"]],
            }
            for step in answer["may_start"]
        },
        "running": {
            step["step"]: "overdue" if step["overdue"] else step["due_at"] for step in answer["running"]
        },
        "blocked": {
            step["step"]: {"because": [reason["code"] for reason in step["reasons"]], **bill_roles_of(step)}
            for step in answer["blocked"]
        },
        "completed": answer["completed"],
        "skipped": answer["skipped"],
        "findings": [reason["code"] for reason in answer["findings"]],
    }
    return {name: value for name, value in said.items() if value}


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize(("name", "case"), CASES)
def test_case(organizations: dict[str, Organization], name: str, case: dict[str, Any], surface: str) -> None:
    """Every surface gives this answer, complete."""
    if name == NOT_SERVED and surface not in ("graph", "index"):
        return
    if surface == "cli" and not is_for_a_command(case):
        return
    answer = SURFACES[surface](organizations[name], case)
    assert shown(answer) == case["answer"]


@pytest.mark.parametrize(("name", "case"), CASES)
def test_every_line_an_answer_rests_on_is_there(
    organizations: dict[str, Organization], name: str, case: dict[str, Any]
) -> None:
    """Each `why` leads to a line of a file of the organization."""
    tree = organizations[name].kernel.state.latest.tree
    for why in places_in(ask_index(organizations[name], case)):
        lines = Path(tree.paths[why["file"]]).read_text(encoding="utf-8").split("\n")
        assert lines[why["line"] - 1].strip()


def is_for_a_command(case: Mapping[str, Any]) -> bool:
    """Whether a command gives this answer: it reads a store and the real clock, so tests/cli/test_bill.py asks the others."""
    return "given" not in case and "started_at" not in json.dumps(case)


def places_in(data: Any) -> Iterator[dict[str, Any]]:
    if isinstance(data, dict):
        if "file" in data and "line" in data:
            yield data
        for value in data.values():
            yield from places_in(value)
    elif isinstance(data, list):
        for value in data:
            yield from places_in(value)


def fill_index(organization: Organization, case: Mapping[str, Any]) -> Any:
    view = organization.kernel.state.latest.organizations[organization.id].index
    state = build_state(organization.id, case.get("given", {}))
    return as_data(
        fill_bill_roles(
            view, state, view.records.bills[case["bill"]], AccessContext(now=NOW), case.get("without", ())
        )
    )


def fill_kernel(organization: Organization, case: Mapping[str, Any]) -> Any:
    there = organization.there(case)
    return as_data(there.fill_bill(organization.id, case["bill"], without=case.get("without", ())))


def fill_http(organization: Organization, case: Mapping[str, Any]) -> Any:
    path = f"/v1/orgs/{organization.id}/bills/{case['bill']}/fill"
    response = organization.client(case).post(path, json={"without": case.get("without", [])})
    assert response.status_code == 200, response.text
    return response.json()


def fill_cli(organization: Organization, case: Mapping[str, Any]) -> Any:
    without = [word for agent in case.get("without", ()) for word in ("--without", agent)]
    return ask_command(organization, "fill", case["bill"], *without)


def shown_fill(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a proposal that a case states in full."""
    said = {
        "outcome": answer["outcome"],
        "assignments": answer["assignments"],
        "others": {
            bill_role["bill_role"]: bill_role["others"]
            for bill_role in answer["bill_roles"]
            if bill_role["others"]
        },
        "because": sorted(
            {reason["code"] for bill_role in answer["bill_roles"] for reason in bill_role["reasons"]}
        ),
        "vacancies": {
            each["bill_role"]: [each["missing"], *(reason["code"] for reason in each["reasons"])]
            for each in answer["vacancies"]
        },
        "blocked": {
            step["step"]: {"because": [reason["code"] for reason in step["reasons"]], **bill_roles_of(step)}
            for step in answer["blocked"]
        },
    }
    return {name: value for name, value in said.items() if value}


FILLING = {"index": fill_index, "kernel": fill_kernel, "http": fill_http, "cli": fill_cli}


@pytest.mark.parametrize("surface", FILLING)
@pytest.mark.parametrize(("name", "case"), FILLS)
def test_fill(organizations: dict[str, Organization], name: str, case: dict[str, Any], surface: str) -> None:
    """Every surface proposes the same."""
    if surface == "cli" and not is_for_a_command(case):
        return
    assert shown_fill(FILLING[surface](organizations[name], case)) == case["answer"]


def test_who_may_begin_no_work_starts_nothing(organizations: dict[str, Organization]) -> None:
    """In an emergency tier, also what needs no tool."""
    organization = organizations["fire"]
    case = next(each for each in CORPUS["fire"]["cases"] if each["name"].startswith("every branch whose"))
    context = AccessContext(now=NOW, pace="emergency")
    found = organization.there(case).next_steps(organization.id, instance_of(case), context=context)
    assert not found.may_start
    (unfit,) = next(each for each in found.blocked if each.step == "count").bill_roles[0].unfit
    assert [reason.code for reason in unfit.reasons] == ["PACE_CAP"]
