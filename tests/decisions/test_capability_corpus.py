"""Handling of intents and disclosure of skills with complete answers, the same ones through every surface."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.evidence.crew_records import OutcomeCount
from orgkernel.decisions.evidence.state_view import AgentState, SkillRecord, StateView, ToolLock
from orgkernel.decisions.work.capability.handling import HandlingRequest, decide_handling
from orgkernel.decisions.work.capability.proposals import decide_proposals
from orgkernel.decisions.work.capability.skills import activate_skill, list_skills
from orgkernel.kernel.kernel import Kernel
from orgkernel.project.cases import FixedState
from tests.support.in_process import run_here
from tests.support.trees import write_tree
from tests.support.yaml_text import read_yaml_file

CORPUS = {
    path.stem: read_yaml_file(path)
    for path in sorted((Path(__file__).parent / "capability_corpus").glob("*.yaml"))
}
CASES = [
    pytest.param(name, case, id=f"{name}: {case['name']}")
    for name, file in CORPUS.items()
    for case in file["cases"]
]
DAY = 86_400.0
# What an answer says where a case leaves it out.
NOTHING: dict[str, Any] = {
    "name": "", "level": None, "without_model": False, "passed_over": [], "fallbacks": [], "augmented_by": [], "obligations": [],
}  # fmt: skip


class Organization:
    """One organization of the corpus, on disk and held by a kernel."""

    def __init__(self, folder: Path, file: dict[str, Any]) -> None:
        self.folder = write_tree(folder, file["files"])
        self.id: str = file["org"]
        self.kernel = Kernel.open(self.folder)

    def there(self, case: dict[str, Any]) -> Kernel:
        """The kernel with what a case says is stored, at its time."""
        now = case.get("given", {}).get("days", 0) * DAY + 1
        return self.kernel.with_store(FixedState(self.state(case)), lambda: (now, 0))

    def state(self, case: dict[str, Any]) -> StateView:
        given = case.get("given", {})
        agents = {
            name: AgentState(name, org_id=self.id, **each) for name, each in given.get("agents", {}).items()
        }
        skills = {
            name: tuple(
                SkillRecord(name, self.id, skill, 7, 1, decays_from=1, suspended=True)
                if level == "suspended"
                else SkillRecord(name, self.id, skill, level, 1, decays_from=1)
                for skill, level in each.items()
            )
            for name, each in given.get("skills", {}).items()
        }
        outcomes = {
            agent: tuple(
                OutcomeCount(agent, self.id, "cognitive_skill", skill, *counts, 1)
                for skill, counts in each.items()
            )
            for agent, each in given.get("outcomes", {}).items()
        }
        locks = {
            tool: ToolLock(self.id, tool, token=7, acquired_at=0.0, **each)
            for tool, each in given.get("locks", {}).items()
        }
        return StateView(1 if given else 0, agents, skills=skills, outcomes=outcomes, locks=locks)


@pytest.fixture(scope="module")
def organizations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Organization]:
    return {name: Organization(tmp_path_factory.mktemp(name), file) for name, file in CORPUS.items()}


def as_data(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def build_load_request(ask: dict[str, Any], now: float = 0.0) -> HandlingRequest:
    context = AccessContext(**ask.get("context", {}), now=now)
    run = {"on_behalf_of": ask.get("on_behalf_of"), "via": tuple(ask.get("via", ()))}
    return HandlingRequest(
        ask["subject"],
        ask["intent"],
        context,
        text=ask.get("text", ""),
        failed=tuple(ask.get("failed", ())),
        **run,
    )


def ask_view(kind: str) -> Callable[[Organization, dict[str, Any]], Any]:
    def ask(organization: Organization, case: dict[str, Any]) -> Any:
        view = getattr(organization.kernel.organization(organization.id).snapshot, kind)
        state, now = organization.state(case), case.get("given", {}).get("days", 0) * DAY + 1
        if "handle" in case:
            return as_data(decide_handling(view, state, build_load_request(case["handle"], now)))
        if "skills" in case:
            return as_data(list_skills(view, state, case["skills"]["subject"], AccessContext(now=now)))
        if "proposals" in case:
            return as_data(decide_proposals(view, state))
        asked = case["skill"]
        found = activate_skill(view, state, asked["subject"], asked["name"], AccessContext(now=now))
        return as_data(found)

    return ask


def ask_kernel(organization: Organization, case: dict[str, Any]) -> Any:
    kernel, org = organization.there(case), organization.id
    if "handle" in case:
        return as_data(kernel.handle(org, build_load_request(case["handle"])))
    if "skills" in case:
        return as_data(kernel.cognitive_skills(org, case["skills"]["subject"]))
    if "proposals" in case:
        return as_data(kernel.proposals(org))
    return as_data(kernel.cognitive_skill(org, case["skill"]["subject"], case["skill"]["name"]))


def ask_http(organization: Organization, case: dict[str, Any]) -> Any:
    app = create_app(organization.there(case))
    client = TestClient(app, base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000))
    top = f"/v1/orgs/{organization.id}"
    if "handle" in case:
        body = dict(case["handle"])
        run = {name: body.pop(name) for name in ("on_behalf_of", "via") if name in body}
        body["context"] = {**body.get("context", {}), **run}
        response = client.post(f"{top}/handle", json=body)
        assert response.status_code == 200, response.text
        assert response.json()["ignored"] == []
        return response.json()["decision"]
    if "proposals" in case:
        return client.get(f"{top}/procedure-proposals").json()
    asked = case.get("skills") or case["skill"]
    name = f"/{case['skill']['name']}" if "skill" in case else ""
    response = client.get(f"{top}/skills{name}", params={"subject": asked["subject"]})
    assert response.status_code == 200, response.text
    return response.json()


def ask_cli(organization: Organization, case: dict[str, Any]) -> Any:
    where = ["--org", organization.id, "--path", str(organization.folder), "--format", "json"]
    if "proposals" in case:
        done = run_here("skill", "proposals", *where, cwd=organization.folder)
        found = json.loads(done.stdout)
        assert done.returncode == int(not found["proposals"])
        return found
    asked = next(case[key] for key in ("handle", "skills", "skill") if key in case)
    where += ["--subject", asked["subject"]]
    if "handle" in case:
        words = [
            "handle",
            asked["intent"],
            *(word for each in asked.get("failed", ()) for word in ("--failed", each)),
        ]
        words += ["--text", asked["text"]] if "text" in asked else []
        words += ["--on-behalf-of", asked["on_behalf_of"]] if "on_behalf_of" in asked else []
        words += [word for each in asked.get("via", ()) for word in ("--via", each)]
        words += ["--context", json.dumps(asked["context"])] if "context" in asked else []
    else:
        words = ["skill", "list"] if "skills" in case else ["skill", "show", asked["name"]]
    done = run_here(*words, *where, cwd=organization.folder)
    found = json.loads(done.stdout)
    if "handle" in case:
        assert done.returncode == int(found["tier"] == "decline")
    elif "skills" in case:
        assert done.returncode == int(not found["skills"])
    else:
        assert done.returncode == int(found["activation"]["outcome"] == "deny")
    return found


SURFACES: dict[str, Callable[[Organization, dict[str, Any]], Any]] = {
    "graph": ask_view("graph"), "index": ask_view("index"), "kernel": ask_kernel, "http": ask_http, "cli": ask_cli,
}  # fmt: skip


def shown(answer: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """The part of an answer that a case states in full."""
    return {
        **{key: answer[key] for key in ("tier", "name", "level", "without_model", "augmented_by", "obligations")},
        "because": [reason["code"] for reason in answer["reasons"]],
        "passed_over": [[each["tier"], each["name"], each["reasons"][0]["code"]] for each in answer["passed_over"]],
        "fallbacks": [f"{each['tier']}:{each['name']}" for each in answer["fallbacks"]],
        **({"tools": [[each["tool"], each["action"], each["outcome"]] for each in answer["tools"]]}
           if "tools" in expected else {}),
    }  # fmt: skip


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize(("name", "case"), CASES)
def test_case(organizations: dict[str, Organization], name: str, case: dict[str, Any], surface: str) -> None:
    """Every surface gives the complete expected answer. The command line reads a store, so it skips cases with
    stored records.
    """
    if surface == "cli" and "given" in case:
        return
    answer = SURFACES[surface](organizations[name], case)
    if "handle" in case:
        assert shown(answer, case["answer"]) == NOTHING | case["answer"]
        return
    if "skills" in case:
        assert [each["name"] for each in answer["skills"]] == case.get("see", [])
        withheld = [[each["name"], each["reasons"][0]["code"]] for each in answer["withheld"]]
        assert withheld == case.get("withheld", [])
        assert [each["code"] for each in answer["reasons"]] == case.get("because", [])
        return
    if "proposals" in case:
        found = [[each["skill"], each["successes"], each["failures"]] for each in answer["proposals"]]
        assert found == case["proposals"]
        return
    activation = answer.get("activation", answer)
    assert activation["outcome"] == ("allow" if "body" in case else "deny")
    assert activation["body"] == case.get("body", "")
    assert [each["code"] for each in activation["reasons"]] == case["because"]
    if "activation" in answer:
        assert [each["path"] for each in answer["resources"]] == case.get("resources", [])


@pytest.mark.parametrize(("name", "case"), CASES)
def test_every_line_is_there(organizations: dict[str, Organization], name: str, case: dict[str, Any]) -> None:
    """Each line that an answer rests on exists, and surfaces agree to the last word."""
    organization = organizations[name]
    answer = ask_view("index")(organization, case)
    assert ask_view("graph")(organization, case) == answer
    told = ask_kernel(organization, case)
    assert told.get("activation", told) == answer
    for why in find_lines(answer):
        lines = (
            organization.folder / why["file"].split(str(organization.folder))[-1].lstrip("/")
        ).read_text()
        assert 0 < why["line"] <= len(lines.splitlines())


def find_lines(value: Any) -> list[dict[str, Any]]:
    """Everything in an answer that has a file and a line."""
    if isinstance(value, dict):
        own = [value] if {"file", "line"} <= value.keys() else []
        return own + [each for part in value.values() for each in find_lines(part)]
    return [each for part in value for each in find_lines(part)] if isinstance(value, list) else []
