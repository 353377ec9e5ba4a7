"""Whose credential acts on whom: keys of agents and of people, the person behind an agent, and grants of others."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from orgkernel.state.location import StoreLocation
from tests.api.asking import problem
from tests.api.keys import bearer, first_key, new_key, opened

WANTED = {"requester": "agent:clerk", "resources": ["tool:jira"], "level": "read"}


def use_of(subject: str, resource: str = "jira") -> dict[str, Any]:
    kind, _, name = subject.partition(":")
    return {
        "subject": {"type": kind, "id": name},
        "action": {"name": "use"},
        "resource": {"type": "tool", "id": resource},
        "context": {"peer_kind": "dm"},
    }


def evaluate(client: TestClient, subject: str, secret: str) -> tuple[bool, tuple[str, ...]]:
    """Whether it is allowed, and the codes."""
    said = client.post("/access/v1/evaluation", json=use_of(subject), headers=bearer(secret)).json()
    return said["decision"], tuple(said["context"]["codes"])


def test_a_requester_cannot_approve_the_request(local: TestClient, store: StoreLocation) -> None:
    """The key that made a request for another subject cannot approve it; another key can."""
    both, other = (new_key(store, ["request", "approve"]) for _ in range(2))
    made = local.post("/v1/orgs/active/requests", json=WANTED, headers=bearer(both)).json()
    answer = f"/v1/orgs/active/requests/{made['request_id']}/approve"
    problem(local.post(answer, json={}, headers=bearer(both)), 403, "SELF_GRANT")
    assert local.post(answer, json={}, headers=bearer(other)).status_code == 200


def test_an_owner_answers_what_it_asked_for_in_the_name_of_another(
    local: TestClient, store: StoreLocation
) -> None:
    """For the owner could grant it directly."""
    owner = bearer(new_key(store, ["request", "approve"], person="owner"))
    made = local.post("/v1/orgs/active/requests", json=WANTED, headers=owner).json()
    assert (
        local.post(
            f"/v1/orgs/active/requests/{made['request_id']}/approve", json={}, headers=owner
        ).status_code
        == 200
    )


def test_the_person_who_runs_an_agent_does_not_approve_what_it_asks_for(
    local: TestClient, store: StoreLocation
) -> None:
    """The key of the agent names the person; that person's own key is the same subject. The owner may, as always."""
    agent = bearer(new_key(store, ["request", "grant"], agent="clerk", person="partner"))
    partner, owner = (
        bearer(new_key(store, ["approve", "grant"], person=each)) for each in ("partner", "owner")
    )
    asked = {name: value for name, value in WANTED.items() if name != "requester"}
    made = local.post("/v1/orgs/active/requests", json=asked, headers=agent).json()
    assert made["context"]["person"] == "person:partner"
    answer = f"/v1/orgs/active/requests/{made['request_id']}/approve"
    problem(local.post(answer, json={}, headers=partner), 403, "SELF_GRANT")
    gift = {"subject": "person:partner", "resources": ["tool:jira"]}
    problem(local.post("/v1/orgs/active/grants", json=gift, headers=agent), 403, "SELF_GRANT")
    assert local.post(answer, json={"approval": "day"}, headers=owner).status_code == 200
    row = local.get("/v1/audit?kind=grant", headers=bearer(first_key(store))).json()["rows"][0]["entry"]
    assert row["actor"].startswith("caller:k-")
    assert {name: row["detail"][name] for name in ("as", "right")} == {"as": "person:owner", "right": "owner"}


def test_a_suspended_agent_changes_nothing_with_its_key(local: TestClient, store: StoreLocation) -> None:
    """Whatever the scopes of the key."""
    butler = bearer(new_key(store, ["admin"], agent="butler"))
    rank = {"rank": "commander", "reason": "the review"}
    assert local.post("/v1/orgs/active/agents/clerk/rank", json=rank, headers=butler).status_code == 200
    with opened(store) as state:
        state.agents.add("butler", org_id="household", actor="test", lifecycle="suspended")
    problem(local.post("/v1/orgs/active/agents/clerk/rank", json=rank, headers=butler), 403, "AGENT_INACTIVE")
    problem(
        local.post("/v1/orgs/active/requests", json={"resources": ["tool:jira"]}, headers=butler),
        403,
        "AGENT_INACTIVE",
    )


@pytest.mark.parametrize(
    ("who", "may"),
    [
        ({"agent": "clerk"}, True), ({"agent": "butler"}, True), ({"person": "owner"}, True), ({}, True),
        ({"person": "partner"}, False),
    ],
)  # fmt: skip
def test_a_counted_grant_is_used_up_by_its_holder_and_those_above_it(
    local: TestClient, store: StoreLocation, who: dict[str, str], may: bool
) -> None:
    """Only the holder, its superiors, an owner or an operator consume a use. Other callers get
    `GRANT_OF_ANOTHER`, in searches too.
    """
    with _opened_or_made(store) as state:
        grant = state.grants.issue("agent:clerk", ["tool:jira"], issued_by="person:owner", uses=1).grant_id
    secret = new_key(store, ["report", "read"], **who)
    expected = (True, ("GRANTED",)) if may else (False, ("GRANT_OF_ANOTHER",))
    search = {
        "subject": {"type": "agent"},
        "action": {"name": "use"},
        "resource": {"type": "tool", "id": "jira"},
    }
    search["context"] = {"peer_kind": "dm"}
    found = local.post("/access/v1/search/subject", json=search, headers=bearer(secret)).json()
    assert ({"type": "agent", "id": "clerk"} in found["results"]) == may
    assert evaluate(local, "agent:clerk", secret) == expected
    with opened(store) as state:
        assert len(state.grants.uses(grant)) == int(may)


def test_an_agent_uses_up_nothing_of_those_above_it(local: TestClient, store: StoreLocation) -> None:
    """Although its key reports what it does."""
    with _opened_or_made(store) as state:
        state.grants.issue("agent:butler", ["tool:shell"], issued_by="person:owner", uses=1)
        state.locks.acquire("household", "shell", "agent:butler")
    secret = new_key(store, ["report", "read"], agent="clerk")
    said = local.post(
        "/access/v1/evaluation", json=use_of("agent:butler", "shell"), headers=bearer(secret)
    ).json()
    assert (said["decision"], said["context"]["codes"]) == (False, ["GRANT_OF_ANOTHER"])


def _opened_or_made(store: StoreLocation) -> Any:
    first_key(store)
    return opened(store)
