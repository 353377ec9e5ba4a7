"""The agents of an organization over HTTP: filters, pages and earlier times."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from orgkernel.kernel.kernel import Kernel
from orgkernel.state.audit import drop_old
from orgkernel.state.location import StoreLocation
from tests.api.asking import problem, stored_client
from tests.api.keys import bearer, new_key, opened
from tests.support.trees import TEMPLATES


@pytest.fixture(scope="module")
def starship() -> Kernel:
    """The organization with a crew."""
    return Kernel.open(TEMPLATES / "starship")


@pytest.fixture
def ship(starship: Kernel, file: StoreLocation) -> Iterator[TestClient]:
    """A client on loopback."""
    with stored_client(starship, file) as client:
        yield client


def ids(client: TestClient, query: str) -> list[str]:
    return [each["agent_id"] for each in client.get(f"/v1/orgs/active/agents?{query}").json()["agents"]]


def test_filters(ship: TestClient, file: StoreLocation) -> None:
    """Each filter narrows the list, and a question that means nothing is refused."""
    assert ids(ship, "department=medical&watch=beta") == ["suture", "tincture"]
    assert ids(ship, "intent=repair_agent&rank=lieutenant&tool=vitals_query") == ["suture"]
    assert ids(ship, "skill=scouting&min_level=2") == []
    assert ids(ship, "min_level=2") == []
    problem(ship.get("/v1/orgs/active/agents?skil=scouting"), 422, "INVALID_REQUEST")


def test_pages(ship: TestClient) -> None:
    """The link of a page leads to the next one, and the last has none."""
    found, url = [], "/v1/orgs/active/agents?limit=7"
    while url:
        response = ship.get(url)
        found += [each["agent_id"] for each in response.json()["agents"]]
        url = response.links.get("next", {}).get("url", "")
    assert found == sorted(found)
    assert len(found) == 16
    problem(ship.get("/v1/orgs/active/agents?cursor=nobody"), 409, "BAD_CURSOR")


def test_an_earlier_time(ship: TestClient, file: StoreLocation) -> None:
    """Lists and manifests are answered with the ranks of that time, until their history is dropped."""
    key = bearer(new_key(file, ["rank"], person="captain"))
    promote = {"rank": "commander", "reason": "a board"}
    before = time.time()
    assert ship.post("/v1/orgs/active/agents/kestrel/rank", json=promote, headers=key).status_code == 200
    assert ids(ship, "role=scout&rank=commander") == ["kestrel"]
    assert ids(ship, f"role=scout&rank=commander&as_of={before}") == []
    assert ship.get(f"/v1/orgs/active/agents/kestrel?as_of={before}").json()["rank"]["id"] == "lieutenant"
    assert ship.get(f"/v1/orgs/active/agents/kestrel?as_of={time.time()}").json()["rank"]["id"] == "commander"
    crew = ship.get(f"/api/ontology/crew-manifest?as_of={before}&department=science")
    assert crew.json()["count"] == 5
    with opened(file) as store:
        store.agents.set_rank("kestrel", "ensign", org_id="starship", actor="test")
        drop_old(store.context, store.folder, {"decision": 0.0, "history": -1.0})
    problem(ship.get(f"/v1/orgs/active/agents/kestrel?as_of={before}"), 409, "PAST_UNKNOWN")
