"""The log of hand-offs over HTTP; what is written down and refused is in the corpus of operations."""

from __future__ import annotations

from starlette.testclient import TestClient

from orgkernel.state.location import StoreLocation
from tests.api.asking import problem
from tests.api.keys import bearer, first_key, new_key
from tests.support.contracts import as_text, changed

PLAIN = {"audit_gates": [], "spec.scope.destructive": []}


def test_handoffs_are_listed_by_who_and_where(local: TestClient, store: StoreLocation) -> None:
    """In pages. A key without the scope `report` hands nothing down, and a hand-off that is refused says why."""
    assert local.get("/v1/orgs/household/handoffs").json() == {"handoffs": [], "next": None}
    admin = bearer(first_key(store))
    asked = {"from": "agent:butler", "to": "record_keeper", "depth": 0}
    with_brief = asked | {
        "brief": as_text(changed("brief", PLAIN)),
        "session": "s-1",
        "holder": "agent:clerk",
    }
    made = [
        local.post("/v1/orgs/household/handoffs", json=body, headers=admin).json()
        for body in (asked, with_brief)
    ]
    assert [each["token"] for each in made] == [None, 1]
    lists = "/v1/orgs/household/handoffs"
    assert local.get(lists).json() == {"handoffs": made, "next": None}
    assert local.get(f"{lists}?limit=1").json() == {"handoffs": made[:1], "next": made[0]["handoff_id"]}
    for query in ("receiver=agent:clerk", "session=s-1", "running=true", f"brief={made[1]['brief']}"):
        assert local.get(f"{lists}?{query}").json()["handoffs"] == made[1:], query
    assert local.get(f"{lists}?sender=agent:clerk").json()["handoffs"] == []
    claim = local.get("/v1/orgs/household/claims").json()["claims"][0]
    assert (claim["holder"], claim["brief"]) == ("agent:clerk", made[1]["brief"])
    said = problem(
        local.post("/v1/orgs/household/handoffs", json=with_brief, headers=admin), 409, "HANDOFF_DUPLICATE"
    )
    assert "`s-1`" in said["detail"]
    other = with_brief | {"brief": changed("brief", PLAIN | {"id": "0b8f6f3e-52b6-4c0a-9d0c-6a1f6c1f7a56"})}
    problem(local.post("/v1/orgs/household/handoffs", json=other, headers=admin), 409, "CLAIM_CONFLICT")
    checked = local.post("/v1/orgs/household/handoffs/check", json={"from": "agent:butler", "to": "record_keeper", "brief": other["brief"]}).json()  # fmt: skip
    assert (checked["outcome"], checked["code"]) == ("deny", "CLAIM_CONFLICT")
    reader = bearer(new_key(store, ["read"]))
    problem(local.post("/v1/orgs/household/handoffs", json=asked, headers=reader), 403, "SCOPE_MISSING")
    problem(
        local.post("/v1/orgs/household/handoffs", json=asked | {"depth": -1}, headers=admin),
        422,
        "INVALID_REQUEST",
    )
