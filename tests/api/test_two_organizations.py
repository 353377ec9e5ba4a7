"""Two organizations with the same names in one store: nothing that is stored for one reaches the other."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from orgkernel.kernel.kernel import Kernel
from orgkernel.state.location import StoreLocation
from tests.api.asking import problem, stored_client
from tests.api.keys import bearer, first_key, new_key
from tests.support.trees import write_tree

FILES = {
    "org.yaml": '{_schema: "orgkernel:organization", org_id: %s, hierarchy: {co: {}}}\n',
    "roles/co.yaml": """
        _schema: orgkernel:role_profile
        role_id: co
        role_type: commander
        capabilities: {tools: [{tool: laser, level: full}, {tool: safe, level: full}]}
    """,
    "crew.yaml": '{_schema: "orgkernel:crew_roster", agents: {ann: {rank: junior, assignments: [{role: co}]}}}\n',
    "ranks.yaml": '{_schema: "orgkernel:rank_ladder", ranks: [{id: junior}, {id: senior}]}\n',
    "tests.yaml": '{_schema: "orgkernel:qualification_catalog", qualifications: {safety: {threshold: 0.8}}}\n',
    "tools.yaml": """
        _schema: orgkernel:tool_catalog
        tools:
          radio: {type: browser, actions: {listen: read, send: write}}
          radar: {type: browser}
          laser: {type: browser, qualifications: [safety]}
          safe: {type: browser, rank_matrix: {junior: none, senior: full}}
    """,
}

PEOPLE = '{_schema: "orgkernel:directory", people: {boss: {relationship: %s}}}\n'


@pytest.fixture
def both(tmp_path: Path) -> Kernel:
    """Two organizations that differ in their ids, and in that the boss of the shop is a friend of the yard."""
    for org, relationship in (("shop", "owner"), ("yard", "friend")):
        files = {"org.yaml": FILES["org.yaml"] % org, "people.yaml": PEOPLE % relationship}
        write_tree(tmp_path / "both" / org, {**FILES, **files})
    return Kernel.open(tmp_path / "both")


@pytest.fixture
def client(both: Kernel, store: StoreLocation) -> Iterator[TestClient]:
    """A client that shows a key of every scope."""
    secret = first_key(store)
    with stored_client(both, store) as client:
        client.headers.update(bearer(secret))
        yield client


def levels(client: TestClient, tool: str, action: str = "use") -> list[str]:
    """The outcome in each of the two."""
    found = []
    for org in ("shop", "yard"):
        question = {"subject": "agent:ann", "action": action, "resource": f"tool:{tool}"}
        answer = client.post(f"/v1/orgs/{org}/why", json=question)
        assert answer.status_code == 200, answer.text
        found.append(answer.json()["decision"]["outcome"])
    return found


def send(client: TestClient, path: str, key: str | None = None, **body: Any) -> Any:
    """What came of a change."""
    answer = client.post(path, json=body, headers=None if key is None else bearer(key))
    assert answer.is_success, answer.text
    return answer.json()


GIFT = {"subject": "agent:ann", "resources": ["tool:radio"]}


def test_a_grant_holds_in_one_organization(client: TestClient) -> None:
    """One that names none is refused with the list of them; one for all of them says so by name."""
    for path, body in (
        ("/v1/orgs/active/grants", GIFT),
        ("/v1/orgs/active/restrictions", GIFT),
        ("/v1/orgs/active/requests", {"requester": "agent:ann", "resources": ["tool:radio"]}),
        ("/v1/orgs/active/agents/ann/rank", {"rank": "senior"}),
        ("/v1/orgs/active/agents/ann/lifecycle", {"lifecycle": "suspended"}),
        ("/v1/orgs/active/agents/ann/results", {"qualification": "safety", "score": 1}),
    ):
        said = problem(client.post(path, json=body), 409, "AMBIGUOUS_ACTIVE")
        assert "name one of `shop`, `yard`" in said["help"], path
    grant = send(client, "/v1/orgs/shop/grants", **GIFT)
    assert levels(client, "radio") == ["allow", "deny"]
    send(client, f"/v1/orgs/shop/grants/{grant['grant_id']}/revoke")
    send(client, "/v1/orgs/*/grants", **GIFT)
    assert levels(client, "radio") == ["allow", "allow"]
    send(client, "/v1/orgs/yard/restrictions", **GIFT)
    assert levels(client, "radio") == ["allow", "deny"]


@pytest.mark.parametrize(
    ("path", "number", "body", "act"),
    [
        ("grants", "grant_id", GIFT, "revoke"),
        ("restrictions", "restriction_id", GIFT, "lift"),
        ("requests", "request_id", {"requester": "agent:ann", "resources": ["tool:radio"]}, "deny"),
    ],
)
def test_a_record_is_found_in_its_organization(
    client: TestClient, path: str, number: str, body: dict[str, Any], act: str
) -> None:
    """It is read and ended there or among those of all organizations. In the other one, it is unknown as any that does not
    exist: no answer says who has it.
    """
    mine = send(client, f"/v1/orgs/shop/{path}", **body)[number]
    acts = [act, "wake"] if path == "grants" else [act]
    for record in (mine, "x-0"):
        answers = [client.get(f"/v1/orgs/yard/{path}/{record}")]
        answers += [client.post(f"/v1/orgs/yard/{path}/{record}/{each}", json={}) for each in acts]
        refusals = [problem(answer, 404, "UNKNOWN_RECORD") for answer in answers]
        assert {each["detail"] for each in refusals} == {f"there is no {path[:-1]} `{record}`"}
        assert [each["help"] for each in refusals[1:]] == ["it may belong to another organization"] * len(
            acts
        )
    assert client.get(f"/v1/orgs/yard/{path}").json()[path] == []
    for org in ("shop", "*"):
        assert client.get(f"/v1/orgs/{org}/{path}/{mine}").json()[number] == mine
        assert [each[number] for each in client.get(f"/v1/orgs/{org}/{path}").json()[path]] == [mine]
    problem(client.get(f"/v1/orgs/nobody/{path}"), 404, "UNKNOWN_ORGANIZATION")
    problem(client.post(f"/v1/orgs/nobody/{path}", json=body), 404, "UNKNOWN_ORGANIZATION")
    assert send(client, f"/v1/orgs/shop/{path}/{mine}/{act}")[number] == mine


def test_what_holds_in_all_organizations_is_listed_in_each(client: TestClient) -> None:
    """A grant for all of them counts in every one, and can be revoked in any."""
    everywhere = send(client, "/v1/orgs/*/grants", **GIFT)["grant_id"]
    for org in ("shop", "yard", "*"):
        listed = client.get(f"/v1/orgs/{org}/grants").json()["grants"]
        assert [each["grant_id"] for each in listed] == [everywhere], org
    send(client, f"/v1/orgs/yard/grants/{everywhere}/revoke")
    assert levels(client, "radio") == ["deny", "deny"]


def test_no_body_names_an_organization(client: TestClient) -> None:
    """Not even the one in the path, so that no two can contradict each other."""
    for path, body in (
        ("grants", {**GIFT, "org_id": "shop"}),
        ("why", {"subject": "agent:ann", "action": "use", "resource": "tool:radio", "org": "shop"}),
        ("agents/ann/rank", {"rank": "senior", "org": "shop"}),
    ):
        problem(client.post(f"/v1/orgs/shop/{path}", json=body), 422, "INVALID_REQUEST")
    problem(client.get("/v1/orgs/shop/agents?org=yard"), 422, "INVALID_REQUEST")


def test_an_agent_is_suspended_in_one_organization(client: TestClient) -> None:
    """Or in all of them; then no organization alone puts it to work again."""
    send(client, "/v1/orgs/*/grants", **GIFT)
    send(client, "/v1/orgs/shop/agents/ann/lifecycle", lifecycle="suspended")
    assert levels(client, "radio") == ["deny", "allow"]
    send(client, "/v1/orgs/*/agents/ann/lifecycle", lifecycle="suspended")
    assert levels(client, "radio") == ["deny", "deny"]
    refused = client.post("/v1/orgs/yard/agents/ann/lifecycle", json={"lifecycle": "active"})
    problem(refused, 409, "MOVE_NOT_ALLOWED")
    send(client, "/v1/orgs/*/agents/ann/lifecycle", lifecycle="active")
    assert levels(client, "radio") == ["deny", "allow"]


def test_an_owner_acts_in_the_organization_it_owns(client: TestClient, store: StoreLocation) -> None:
    """An owner can make changes only in its own organization, and not in all organizations at once."""
    boss = bearer(new_key(store, ["admin"], person="boss", orgs=["shop", "yard"]))
    acts: list[tuple[str, dict[str, Any]]] = [
        ("grants", GIFT),
        ("restrictions", GIFT),
        ("agents/ann/rank", {"rank": "senior"}),
        ("agents/ann/lifecycle", {"lifecycle": "suspended"}),
    ]
    for path, body in acts:
        for org, status in (("shop", {200, 201}), ("yard", {403})):
            answer = client.post(f"/v1/orgs/{org}/{path}", json=body, headers=boss)
            assert answer.status_code in status, answer.text
    for path in ("/v1/orgs/*/grants", "/v1/orgs/*/restrictions"):
        assert client.post(path, json=GIFT, headers=boss).status_code == 403, path
    asked = {"requester": "agent:ann", "resources": ["tool:radio"]}
    assert client.post("/v1/orgs/yard/requests", json=asked, headers=boss).status_code == 403
    assert client.post("/v1/orgs/shop/requests", json=asked, headers=boss).is_success


def test_a_rank_and_a_result_are_of_one_organization(client: TestClient) -> None:
    """And neither can be recorded for all of them."""
    send(client, "/v1/orgs/shop/agents/ann/rank", rank="senior")
    assert levels(client, "safe") == ["allow", "deny"]
    result = send(client, "/v1/orgs/yard/agents/ann/results", qualification="safety", score=0.93)
    assert (result["org_id"], result["passed"]) == ("yard", True)
    assert levels(client, "laser") == ["deny", "allow"]
    problem(client.post("/v1/orgs/*/agents/ann/rank", json={"rank": "senior"}), 409, "NO_ORGANIZATION")


@pytest.mark.parametrize("path", ["contracts", "agents", "vacancies", "decisions", "manifest"])
def test_a_list_of_one_organization_says_so(client: TestClient, path: str) -> None:
    """`*` has a meaning elsewhere, so that it is no unknown organization."""
    refused = problem(client.get(f"/v1/orgs/*/{path}"), 409, "NO_ORGANIZATION")
    assert (refused["detail"], refused["help"]) == (
        "`*` does not mean all organizations here", "name the organization",
    )  # fmt: skip


def test_a_request_shows_what_it_would_widen(client: TestClient) -> None:
    """Every tool a star opens, and the level before and after; nothing elsewhere."""
    asked = send(
        client, "/v1/orgs/shop/requests", requester="agent:ann", resources=["tool:rad*"], level="read"
    )
    found = client.get(f"/v1/orgs/shop/requests/{asked['request_id']}/widening").json()
    assert found["request"]["request_id"] == asked["request_id"]
    assert [(each["org_id"], each["resource"], each["action"]) for each in found["widens"]] == [
        ("shop", "tool:radio", "listen"), ("shop", "tool:radar", "use"),
    ]  # fmt: skip
    radio = found["widens"][0]
    assert (radio["level_before"], radio["outcome_before"]) == ("none", "deny")
    assert (radio["level_after"], radio["outcome_after"]) == ("read", "allow")
    assert levels(client, "radio", "listen") == ["deny", "deny"]


def test_an_approval_is_good_for_the_action_that_was_asked_for(
    client: TestClient, store: StoreLocation
) -> None:
    """The level follows from the action."""
    agent = new_key(store, ["request"], agent="ann")
    asked = send(client, "/v1/orgs/shop/requests", agent, resources=["tool:radio"], action="listen")
    assert asked["level"] == "read"
    send(client, f"/v1/orgs/shop/requests/{asked['request_id']}/approve", approval="always")
    assert levels(client, "radio", "listen") == ["allow", "deny"]
    assert levels(client, "radio", "send") == ["deny", "deny"]


def test_once_is_once_in_two_servers(both: Kernel, store: StoreLocation) -> None:
    """Many ask both at the same time; one of them is allowed it."""
    admin, agent = first_key(store), new_key(store, ["read", "report", "request"], agent="ann")
    question = {
        "subject": {"type": "agent", "id": "ann"}, "action": {"name": "listen"}, "resource": {"type": "tool", "id": "radio"},
        "context": {"org": "shop"},
    }  # fmt: skip
    with stored_client(both, store) as one, stored_client(both, store) as other:
        asked = one.post(
            "/v1/orgs/shop/requests", json={"resources": ["tool:radio"], "action": "listen"}, headers=bearer(agent)
        ).json()  # fmt: skip
        approved = one.post(
            f"/v1/orgs/shop/requests/{asked['request_id']}/approve", json={}, headers=bearer(admin)
        )
        assert approved.json()["grant"]["uses_left"] == 1

        def ask(client: TestClient) -> bool:
            answer = client.post("/access/v1/evaluation", json=question, headers=bearer(agent))
            assert answer.status_code == 200, answer.text
            return bool(answer.json()["decision"])

        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(ask, [one, other] * 8))
    assert answers.count(True) == 1
