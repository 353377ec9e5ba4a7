"""Commissions, work, personality, alerts and vacancies over HTTP, on one server for all tests."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.stored import open_store
from orgkernel.operations.certificates import verify_birth_certificate
from orgkernel.state.location import parse_location
from tests.support.trees import copy_template

POLICY = """
  no-errands-in-red:
    effect: deny
    match: {alert: [RED]}
    permissions: {tools: [send_email]}
"""


class Server:
    """A client with keys of several holders."""

    def __init__(self, client: TestClient, keys: dict[str, str]) -> None:
        self.client = client
        self.keys = keys

    def post(self, path: str, body: object, by: str = "operator"):
        return self.client.post(path, json=body, headers={"Authorization": f"Bearer {self.keys[by]}"})

    def get(self, path: str):
        return self.client.get(path)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("crew") / "household"
    copy_template(folder, "household")
    with (folder / "policies.yaml").open("a", encoding="utf-8") as file:
        file.write(POLICY)
    place = parse_location("state.db", str(tmp_path_factory.mktemp("store")))
    with open_store(place) as store:
        keys = {
            "operator": store.keys.create("o", ["rank", "report", "read"], created_by="t")[1],
            "reader": store.keys.create("r", ["read"], created_by="t")[1],
            "clerk": store.keys.create(
                "c", ["rank", "report", "read"], created_by="t", agent_id="clerk", org_ids=["household"]
            )[1],
        }
    app = create_app(Kernel.open(folder), store=place)
    with TestClient(app, base_url="http://127.0.0.1:8000", client=("127.0.0.1", 1)) as client:
        yield Server(client, keys)


def test_agents_are_commissioned_from_what_is_declared(server: Server) -> None:
    """A dry run stores nothing; again changes nothing; the certificate is verified without the server."""
    order = {"agents": [{"agent": "butler", "role": "steward"}, {"agent": "butler", "role": "errand_runner"}]}
    planned = server.post("/v1/orgs/active/agents", {**order, "dry_run": True})
    assert [each["outcome"] for each in planned.json()["commissions"]] == ["would_commission"] * 2
    assert server.get("/v1/orgs/active/agents/butler/certificate").status_code == 404
    done = server.post("/v1/orgs/active/agents", order)
    assert done.status_code == 201, done.text
    first, second = done.json()["commissions"]
    assert (first["outcome"], first["did"]) == ("commissioned", second["did"])
    assert [each["step"] for each in first["steps"]] == [
        "post", "skills", "tools", "qualifications", "procedures", "standing_orders", "agency",
    ]  # fmt: skip
    again = server.post("/v1/orgs/active/agents", order).json()["commissions"]
    assert [(each["outcome"], each["did"], each["new_skills"]) for each in again] == [
        ("already", first["did"], [])
    ] * 2
    content = server.get("/v1/orgs/active/agents/butler/certificate").content
    certificate = verify_birth_certificate(content, time.time()).certificate
    assert (certificate.did, certificate.agent_id, certificate.role_id) == (first["did"], "butler", "steward")


def test_an_undeclared_agent_gets_the_line_to_add(server: Server) -> None:
    """And of several agents none is commissioned."""
    answer = server.post(
        "/v1/orgs/active/agents",
        {"agents": [{"agent": "clerk", "role": "record_keeper"}, {"agent": "maid", "role": "steward"}]},
    )
    assert (answer.status_code, answer.json()["code"]) == (409, "AGENT_UNDECLARED")
    assert "maid: {assignments: [{role: steward}]}" in answer.json()["help"]
    assert server.get("/v1/orgs/active/agents/clerk/certificate").status_code == 404


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/orgs/active/agents", {"agents": [{"agent": "clerk", "role": "record_keeper"}]}),
        ("/v1/orgs/active/agents/clerk/episodes", {"outcome": "success"}),
        ("/v1/orgs/active/agents/clerk/personality", dict.fromkeys(["openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism"], 0.5)),
        ("/v1/orgs/household/alert", {"alert": "GREEN"}),
    ],
)  # fmt: skip
def test_a_record_needs_the_scope_and_another_subject(server: Server, path: str, body: object) -> None:
    """A reader has no scope, a caller without a key neither, and an agent has no right over itself."""
    assert server.client.post(path, json=body).status_code == 401
    assert server.post(path, body, by="reader").status_code == 403
    assert server.post(path, body, by="clerk").json()["code"] in ("SELF_GRANT", "NO_AUTHORITY")


def test_work_adds_up_to_a_service_record(server: Server) -> None:
    """Episodes are listed newest first, in pages, and a repeated episode is recognized."""
    server.post("/v1/orgs/active/agents", {"agents": [{"agent": "clerk", "role": "record_keeper"}]})
    for number in range(7):
        outcome = "failure" if number < 3 else "success"
        body = {"outcome": outcome, "id": f"e{number}", "intent": "file", "skills": ["communication"]}
        assert server.post("/v1/orgs/active/agents/clerk/episodes", body).status_code == 201
    known = server.post("/v1/orgs/active/agents/clerk/episodes", {**body, "id": "e6"}).json()
    assert (known["outcome"], known["episode"]["episode_id"]) == ("known", "e6")
    other = server.post("/v1/orgs/active/agents/clerk/episodes", {"id": "e6", "outcome": "failure"})
    assert (other.status_code, other.json()["code"]) == (409, "EPISODE_CONFLICT")
    page = server.get("/v1/orgs/active/agents/clerk/episodes?limit=5").json()
    assert [each["episode_id"] for each in page["episodes"]] == ["e6", "e5", "e4", "e3", "e2"]
    rest = server.get(f"/v1/orgs/active/agents/clerk/episodes?limit=5&before={page['next']}").json()
    assert ([each["episode_id"] for each in rest["episodes"]], rest["next"]) == (["e1", "e0"], None)
    server.post("/v1/orgs/active/agents/clerk/rank", {"rank": "commander", "reason": "the review"})
    record = server.get("/v1/orgs/active/agents/clerk/service-record").json()
    service = record["service"]
    assert (service["total_episodes"], service["successes"], service["trust_trajectory"]) == (
        7,
        4,
        "improving",
    )
    assert record["born"]
    (promotion,) = record["promotions"]
    assert (promotion["before"], promotion["after"], promotion["reason"]) == (
        "lieutenant",
        "commander",
        "the review",
    )


def test_a_drifted_personality_raises_an_alarm(server: Server) -> None:
    """At once in the answer, and in the diagnostics of the organization."""
    body = {
        "openness": 1.0,
        "conscientiousness": 0.5,
        "extraversion": 0.5,
        "agreeableness": 0.5,
        "neuroticism": 0.5,
    }
    drift = server.post("/v1/orgs/active/agents/butler/personality", body).json()
    assert (drift["distance"], drift["alarm"]) == (0.5, True)
    assert server.get("/v1/orgs/active/agents/butler/personality").json()["distance"] == 0.5
    codes = [each["code"] for each in server.get("/v1/diagnostics").json()["diagnostics"]]
    assert "ORG618" in codes


def test_an_alert_changes_what_is_allowed(server: Server) -> None:
    """Until an alert is recorded, the answer is conditional. A caller cannot replace a recorded alert with
    another one.
    """

    def ask(**context: str) -> str:
        question = {
            "subject": {"type": "agent", "id": "butler"}, "action": {"name": "use"},
            "resource": {"type": "tool", "id": "send_email"}, "context": {"channel": "", "peer_kind": "", **context},
        }  # fmt: skip
        answer = server.client.post("/access/v1/evaluation", json=question).json()
        return str(answer["context"]["outcome"])

    assert server.get("/v1/orgs/household/status").json()["alert"] is None
    before = ask(alert="GREEN")
    assert (ask(), ask(alert="RED")) == ("conditional", "deny")
    server.post("/v1/orgs/household/alert", {"alert": "RED", "reason": "smoke"})
    assert (ask(), ask(alert="GREEN")) == ("deny", "deny")
    status = server.get("/v1/orgs/household/status").json()
    assert (status["alert"]["value"], status["alerts"]) == ("RED", ["GREEN", "YELLOW", "RED"])
    server.post("/v1/orgs/household/alert", {"alert": "GREEN"})
    assert ask() == before != "deny"


def test_a_role_whose_agent_is_away_is_vacant(server: Server) -> None:
    """Until it is back."""
    assert server.get("/v1/orgs/household/vacancies").json()["vacancies"] == []
    server.post("/v1/orgs/active/agents/clerk/lifecycle", {"lifecycle": "suspended"})
    (vacancy,) = server.get("/v1/orgs/household/vacancies").json()["vacancies"]
    assert (vacancy["role_id"], vacancy["covered_by"]) == ("record_keeper", "steward")
    server.post("/v1/orgs/active/agents/clerk/lifecycle", {"lifecycle": "active"})
