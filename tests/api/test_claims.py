"""Claims of files are listed over HTTP; that they are made and refused is in the corpus of operations."""

from __future__ import annotations

from starlette.testclient import TestClient

from orgkernel.state.location import StoreLocation
from tests.api.asking import problem
from tests.api.keys import bearer, first_key, new_key


def test_claims_are_listed_by_organization_and_path(local: TestClient, store: StoreLocation) -> None:
    """In pages; a key without the scope `report` changes nothing, and a conflict names the holder and the end."""
    assert local.get("/v1/orgs/active/claims").json() == {"claims": [], "next": None}
    admin = bearer(first_key(store))
    asked = {"holder": "agent:clerk", "seconds": 60}
    made = [
        local.post("/v1/orgs/active/claims", json=asked | {"paths": [path]}, headers=admin).json()
        for path in ("src/**", "docs")
    ]
    assert local.get("/v1/orgs/household/claims").json() == {"claims": made, "next": None}
    problem(local.get("/v1/orgs/nobody/claims"), 404, "UNKNOWN_ORGANIZATION")
    assert local.get("/v1/orgs/*/claims").json() == {"claims": made, "next": None}
    assert local.get("/v1/orgs/active/claims?path=SRC/a.py").json()["claims"] == made[:1]
    assert local.get("/v1/orgs/active/claims?limit=1").json() == {"claims": made[:1], "next": "household/1"}
    assert local.get("/v1/orgs/active/claims?cursor=household/1").json()["claims"] == made[1:]
    said = problem(
        local.post("/v1/orgs/active/claims", json=asked | {"paths": ["src/a.py"]}, headers=admin),
        409,
        "CLAIM_CONFLICT",
    )
    assert "`agent:clerk`" in said["detail"]
    assert said["help"].startswith("claim 1 ends at ")
    reader = bearer(new_key(store, ["read"]))
    problem(
        local.post("/v1/orgs/active/claims", json=asked | {"paths": ["a"]}, headers=reader),
        403,
        "SCOPE_MISSING",
    )
    problem(
        local.post("/v1/orgs/active/claims", json=asked | {"paths": []}, headers=admin),
        422,
        "INVALID_REQUEST",
    )
