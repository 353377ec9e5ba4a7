"""Skills, tests and promotions of agents over HTTP: what is asked, what is kept, and who may change it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from textwrap import dedent

import pytest
from starlette.testclient import TestClient

from orgkernel.decisions.evidence.skill_levels import SkillTerms
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.stored import open_store
from orgkernel.runtime.utc import as_utc
from orgkernel.state.location import StoreLocation
from tests.api.asking import problem, stored_client
from tests.api.keys import bearer, new_key
from tests.decisions.test_six_connections import FILES
from tests.support.trees import write_tree


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    return Kernel.open(
        write_tree(tmp_path_factory.mktemp("ship"), {name: dedent(text) for name, text in FILES.items()})
    )


@pytest.fixture
def ship(documents: Kernel, file: StoreLocation) -> Iterator[TestClient]:
    with stored_client(documents, file) as client:
        yield client


def test_from_the_first_skill_to_a_rank(ship: TestClient, file: StoreLocation) -> None:
    """Skills, evidence and the decision, each answer as it is now and as it was before."""
    key = bearer(new_key(file, ["rank"], agent="eve"))
    before = time.time()

    def post(path: str, body: dict[str, object], status: int = 200) -> dict[str, object]:
        response = ship.post(f"/v1/orgs/active/agents/ann/{path}", json=body, headers=key)
        assert response.status_code == status, response.text
        return response.json()

    first = ship.get("/v1/orgs/active/agents/ann/skills")
    assert [each["skill"] for each in first.json()["gaps"]][-2:] == ["helm", "maps"]
    again = ship.get("/v1/orgs/active/agents/ann/skills", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304
    problem(
        ship.post("/v1/orgs/active/agents/ann/skills", json={"skill": "helm"}, headers=key),
        409,
        "PREREQUISITE_MISSING",
    )
    post("skills", {"skill": "maps", "level": 3}, 201)
    post("skills", {"skill": "helm"}, 201)
    post("skills/helm/assess", {"level": 2, "reason": "saw it"})
    changed = ship.get("/v1/orgs/active/agents/ann/skills", headers={"If-None-Match": first.headers["ETag"]})
    assert [(each["skill"], each["level"]) for each in changed.json()["role"]] == [("helm", 2), ("maps", 3)]
    problem(ship.post("/v1/orgs/active/agents/ann/promotion", json={}, headers=key), 409, "NOT_ELIGIBLE")
    post("results", {"qualification": "theory", "score": 0.9}, 201)
    done = post("results", {"qualification": "helm_test", "score": 0.9, "digests": {"model": "m1"}}, 201)
    standings = ship.get("/v1/orgs/active/agents/ann/results").json()["qualifications"]
    assert [(each["qualification"], each["code"]) for each in standings] == [
        ("theory", "PASSED"),
        ("helm_test", "PASSED"),
    ]
    paths = ship.get("/v1/orgs/active/agents/ann/promotion").json()["paths"]
    assert [(path["rank"], path["outcome"]) for path in paths] == [("lieutenant", "eligible")]
    assert post("promotion", {"reason": "the review"})["rank"] == "lieutenant"
    post(f"results/{done['result_id']}/invalidate", {"reason": "leaked"})
    standings = ship.get("/v1/orgs/active/agents/ann/results").json()["qualifications"]
    assert standings[1]["code"] == "ALL_INVALID"
    page = ship.get("/v1/orgs/active/agents/ann/skill-history?limit=3").json()
    assert [(each["skill"], each["activity"]) for each in page["changes"]] == [
        ("maps", "acquired"),
        ("helm", "acquired"),
        ("helm", "assessed"),
    ]
    rest = ship.get(f"/v1/orgs/active/agents/ann/skill-history?limit=3&after={page['next']}").json()[
        "changes"
    ]
    assert [(each["skill"], each["activity"], each["proficiency"]) for each in rest] == [
        ("helm", "raised", 3),
        ("helm", "lowered", 2),
    ]
    was = ship.get(f"/v1/orgs/active/agents/ann/promotion?as_of={before}").json()
    assert (was["rank"], was["paths"][0]["outcome"]) == ("ensign", "not_eligible")


def test_an_expired_result_lifts_no_skill(ship: TestClient, file: StoreLocation) -> None:
    """The profile and the list of holders answer with the level without it, also from a cache."""
    terms = SkillTerms("maps", 90)
    with open_store(file) as store:
        store.skills.acquire("ann", terms, org_id="ship", actor="a", level=3)
        store.results.record(
            "ann", "theory", score=0.9, passed=True, org_id="ship", actor="a",
            expires_at=time.time() + 1.5, raises=[(terms, 7)],
        )  # fmt: skip

    def read_levels() -> tuple[int, int, int]:
        skills = ship.get("/v1/orgs/active/agents/ann/skills").json()
        (held,) = skills["role"]
        holders = ship.get("/v1/orgs/active/agents?skill=maps&min_level=4").json()["agents"]
        return held["level"], skills["depth"], len(holders)

    assert read_levels() == (4, 4, 1)
    (held,) = ship.get("/v1/orgs/active/agents/ann/skills").json()["role"]
    assert held["decays_at"] <= as_utc(time.time() + 2)
    time.sleep(1.6)
    assert read_levels() == (3, 3, 0)


def test_an_agent_cannot_certify_its_own_skill(ship: TestClient, file: StoreLocation) -> None:
    """Neither with the scope nor without it, and a level is a level."""
    own, reading = bearer(new_key(file, ["rank"], agent="ann")), bearer(new_key(file, ["read"]))
    for path, body in (
        ("skills", {"skill": "maps"}),
        ("skills/maps/assess", {"level": 7}),
        ("results", {"qualification": "theory", "score": 1}),
        ("promotion", {"override": "me"}),
    ):
        problem(ship.post(f"/v1/orgs/active/agents/ann/{path}", json=body, headers=own), 403, "SELF_GRANT")
        problem(
            ship.post(f"/v1/orgs/active/agents/ann/{path}", json=body, headers=reading), 403, "SCOPE_MISSING"
        )
    key = bearer(new_key(file, ["rank"]))
    for level in (0, 8, "high"):
        problem(
            ship.post("/v1/orgs/active/agents/ann/skills/maps/assess", json={"level": level}, headers=key),
            422,
            "INVALID_REQUEST",
        )
    problem(ship.get("/v1/orgs/active/agents/nobody/skills"), 404, "UNKNOWN_AGENT")
