"""`context.access_request` of an evaluation: the request that waits for an answer, or the one that could be made."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from orgkernel.kernel.kernel import Kernel
from orgkernel.state.location import StoreLocation
from tests.api.asking import stored_client
from tests.api.keys import bearer, first_key, new_key

AGENT = {"type": "agent", "id": "clerk"}


def evaluate(client: TestClient, key: str, tool: str, subject: Any = AGENT) -> Any:
    asked = {"subject": subject, "action": {"name": "use"}, "resource": {"type": "tool", "id": tool}}
    response = client.post("/access/v1/evaluation", json=asked, headers=bearer(key))
    assert response.status_code == 200, response.text
    return response.json()


@pytest.fixture
def client(household: Kernel, file: StoreLocation) -> Any:
    with stored_client(household, file) as opened:
        yield opened


def test_what_is_offered_can_be_posted_and_is_then_named(client: TestClient, file: StoreLocation) -> None:
    """The offered request can be posted, and the next answer names its id. Nothing is allowed before the approval."""
    admin, key = first_key(file), new_key(file, ["read", "request"], agent="clerk")
    offered = evaluate(client, key, "web_search")
    offer = offered["context"]["access_request"]
    assert offered["decision"] is False
    assert offer["request"]["requester"] == "agent:clerk"
    assert offer["request"]["resources"] == ["tool:web_search"]
    path = f"/v1/orgs/{offer['org_id']}/requests"
    made = client.post(path, json=offer["request"], headers=bearer(key)).json()
    again = evaluate(client, key, "web_search")
    assert again["decision"] is False
    assert again["context"]["access_request"]["request_id"] == made["request_id"]
    assert "request" not in again["context"]["access_request"]
    approved = client.post(
        f"/v1/orgs/active/requests/{made['request_id']}/approve",
        json={"approval": "day"},
        headers=bearer(admin),
    )
    assert approved.status_code == 200, approved.text
    allowed = evaluate(client, key, "web_search")
    assert allowed["decision"] is True
    assert "access_request" not in allowed["context"]


def test_nothing_is_offered_that_could_not_be_asked_for(client: TestClient, file: StoreLocation) -> None:
    """To keys without the scope, for others, and for what no grant opens."""
    admin, own = first_key(file), new_key(file, ["read", "request"], agent="clerk")
    reading = new_key(file, ["read"], agent="clerk")
    other, nobody = {"type": "agent", "id": "butler"}, {"type": "agent", "id": "nobody"}
    for key, tool, subject in (
        (admin, "send_email", AGENT), (reading, "send_email", AGENT), (own, "send_email", other),
        (own, "no_such_tool", AGENT), (own, "send_email", nobody),
    ):  # fmt: skip
        answer = evaluate(client, key, tool, subject)
        assert "access_request" not in answer["context"], (tool, subject, answer)
