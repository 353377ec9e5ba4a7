"""Exclusive tools are locked, released and broken over HTTP, restrictions lower levels, and the audit is verified."""

from __future__ import annotations

import sqlite3
from typing import Any

from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from manifest_api import build_openapi
from orgkernel.kernel.kernel import Kernel
from orgkernel.state.location import StoreLocation
from tests.api.asking import problem, stored_client
from tests.api.keys import bearer, first_key, new_key

TAKEN = {"tool": "shell", "holder": "person:owner", "reason": "an update", "context": {"peer_kind": "dm"}}
LESS = {"subject": "person:owner", "resources": ["tool:github"], "level": "read"}


def outcome(client: TestClient, subject: str, tool: str, action: str = "use") -> str:
    """What an evaluation says."""
    kind, _, name = subject.partition(":")
    question = {
        "subject": {"type": kind, "id": name}, "action": {"name": action}, "resource": {"type": "tool", "id": tool},
    }  # fmt: skip
    question = {"context": {"peer_kind": ""}, **question}
    said: str = client.post("/access/v1/evaluation", json=question).json()["context"]["outcome"]
    return said


def fits(shape: str, said: Any) -> bool:
    """Whether an answer is what the OpenAPI document says."""
    return Draft202012Validator({**build_openapi(), "$ref": f"#/components/schemas/{shape}"}).is_valid(said)


def test_a_tool_is_taken_held_and_given_back(local: TestClient, store: StoreLocation) -> None:
    """Only the holder of a lock may use the tool and releases it with the token, and every step is in the audit log."""
    admin = bearer(first_key(store))
    assert outcome(local, "person:owner", "shell") == "deny"
    taken = local.post("/v1/orgs/active/locks", json=TAKEN, headers=admin)
    assert taken.status_code == 201, taken.text
    lock = taken.json()
    assert fits("ToolLock", lock)
    assert (lock["org_id"], lock["holder"], lock["token"]) == ("household", "person:owner", 1)
    assert lock["expires_at"] - lock["acquired_at"] == 600  # what the tool declares
    assert outcome(local, "person:owner", "shell") == "allow"
    assert local.get("/v1/orgs/active/locks").json() == {"locks": [lock], "next": None}
    problem(local.get("/v1/orgs/nobody/locks"), 404, "UNKNOWN_ORGANIZATION")
    back = "/v1/orgs/active/locks/shell/release"
    problem(local.post(back, json={"token": 2, "holder": "person:owner"}, headers=admin), 409, "STALE_TOKEN")
    problem(local.post(back, json={"token": 1, "holder": "agent:clerk"}, headers=admin), 409, "STALE_TOKEN")
    assert local.post(back, json={"token": 1, "holder": "person:owner"}, headers=admin).json() == lock
    assert outcome(local, "person:owner", "shell") == "deny"
    assert local.get("/v1/orgs/active/locks").json()["locks"] == []
    rows = local.get("/v1/audit?kind=lock", headers=admin).json()["rows"]
    assert [row["entry"]["activity"] for row in rows] == ["released", "acquired"]


def test_a_list_of_grants_says_what_they_lift(local: TestClient, store: StoreLocation) -> None:
    """With the level up to which they do."""
    admin = bearer(first_key(store))
    give = {"subject": "agent:clerk", "resources": ["tool:shell"], "level": "read"}
    for waives in ([], ["rank"]):
        given = local.post("/v1/orgs/active/grants", json={**give, "waives": waives}, headers=admin)
        assert given.status_code == 201
    shown = local.get("/v1/orgs/active/grants", headers=admin).json()["grants"]
    assert sorted(grant["lifts"] for grant in shown) == ["", "waives rank up to level read"]


def test_a_held_lock_cannot_be_taken_but_can_be_broken(local: TestClient, store: StoreLocation) -> None:
    """A held lock cannot be taken. Breaking it needs the key scope `lock`, and the old token is then invalid."""
    admin = bearer(first_key(store))
    breaking = bearer(new_key(store, ["lock"]))
    agent = bearer(new_key(store, ["report"], agent="clerk"))
    give = {"subject": "agent:clerk", "resources": ["tool:shell"]}
    assert local.post("/v1/orgs/active/grants", json=give, headers=admin).status_code == 201
    taken = local.post(
        "/v1/orgs/active/locks",
        json={"tool": "shell", "seconds": 30, "context": {"peer_kind": ""}},
        headers=agent,
    ).json()
    assert (taken["holder"], taken["expires_at"] - taken["acquired_at"]) == ("agent:clerk", 30)
    said = problem(local.post("/v1/orgs/active/locks", json=TAKEN, headers=admin), 409, "TOOL_LOCKED")
    assert "agent:clerk" in said["detail"]
    problem(local.post("/v1/orgs/household/locks/shell/break", json={}, headers=agent), 403, "SCOPE_MISSING")
    broken = local.post("/v1/orgs/household/locks/shell/break", json={"reason": "gone"}, headers=breaking)
    assert broken.json() == taken
    problem(
        local.post("/v1/orgs/household/locks/shell/break", json={}, headers=breaking), 404, "UNKNOWN_RECORD"
    )
    release = {"token": taken["token"]}
    problem(
        local.post("/v1/orgs/household/locks/shell/release", json=release, headers=agent), 409, "STALE_TOKEN"
    )
    assert (
        local.post("/v1/orgs/active/locks", json=TAKEN, headers=admin).json()["token"] == taken["token"] + 1
    )


def test_who_may_not_have_a_tool_does_not_hold_it(local: TestClient, store: StoreLocation) -> None:
    """Taking a lock is decided like a use and audited, and an agent cannot take a lock for another subject."""
    agent = bearer(new_key(store, ["report", "read"], agent="clerk"))
    admin = bearer(first_key(store))
    refused = problem(
        local.post("/v1/orgs/active/locks", json={"tool": "shell"}, headers=agent), 403, "MAY_NOT_LOCK"
    )
    assert "`agent:clerk` may not lock `shell`" in refused["detail"]
    assert refused["help"]
    row = local.get("/v1/audit?kind=decision", headers=agent).json()["rows"][0]["entry"]
    assert (row["subject"], row["action"], row["activity"]) == ("agent:clerk", "lock", "deny")
    problem(local.post("/v1/orgs/active/locks", json=TAKEN, headers=agent), 403, "OTHER_REQUESTER")
    problem(
        local.post("/v1/orgs/active/locks", json={"tool": "shell"}, headers=admin), 403, "OTHER_REQUESTER"
    )
    problem(local.post("/v1/orgs/active/locks", json=TAKEN), 401, "KEY_REQUIRED")
    for change, code in (
        ({"tool": "shel"}, "UNKNOWN_NAME"), ({"tool": "github"}, "UNKNOWN_NAME"), ({"holder": "role:steward"}, "INVALID_REQUEST"),
        ({"seconds": 0}, "INVALID_REQUEST"), ({"context": {"mood": "good"}}, "INVALID_REQUEST"),
    ):  # fmt: skip
        said = local.post("/v1/orgs/active/locks", json=TAKEN | change, headers=admin)
        problem(said, 409 if code == "UNKNOWN_NAME" else 422, code)
    assert local.get("/v1/orgs/active/locks").json()["locks"] == []


def test_a_restriction_applies_until_it_is_lifted(local: TestClient, store: StoreLocation) -> None:
    """It holds from the next question on, is listed, and its history stays."""
    admin = bearer(new_key(store, ["grant", "read"]))
    assert outcome(local, "person:owner", "github") == "allow"
    made = local.post("/v1/orgs/active/restrictions", json=LESS, headers=admin)
    assert made.status_code == 201, made.text
    assert fits("Restriction", made.json())
    assert made.json()["issued_by"].startswith("caller:k-")
    number = made.json()["restriction_id"]
    assert outcome(local, "person:owner", "github") == "deny"
    assert local.get(f"/v1/orgs/active/restrictions/{number}").json() == made.json()
    assert local.get("/v1/orgs/active/restrictions?subject=person:owner").json() == {
        "restrictions": [made.json()],
        "next": None,
    }
    lifted = local.post(f"/v1/orgs/active/restrictions/{number}/lift", json={"reason": "over"}, headers=admin)
    assert lifted.json()["revoked_at"] is not None
    assert outcome(local, "person:owner", "github") == "allow"
    assert local.get("/v1/orgs/active/restrictions").json()["restrictions"] == []
    assert local.get("/v1/orgs/active/restrictions?all=true").json()["restrictions"] == [lifted.json()]
    problem(
        local.post(f"/v1/orgs/active/restrictions/{number}/lift", json={}, headers=admin),
        409,
        "ALREADY_REVOKED",
    )
    problem(
        local.post("/v1/orgs/active/restrictions/x-0/lift", json={}, headers=admin), 404, "UNKNOWN_RECORD"
    )
    problem(local.get("/v1/orgs/active/restrictions/x-0"), 404, "UNKNOWN_RECORD")
    for change in ({"subject": "agent:nobody"}, {"resources": ["tool:githup"]}):
        problem(
            local.post("/v1/orgs/active/restrictions", json=LESS | change, headers=admin), 409, "UNKNOWN_NAME"
        )
    problem(local.post("/v1/orgs/nobody/restrictions", json=LESS, headers=admin), 404, "UNKNOWN_ORGANIZATION")
    problem(local.post("/v1/orgs/active/restrictions", json=LESS), 401, "KEY_REQUIRED")


def test_an_agent_lifts_nothing_that_holds_itself(local: TestClient, store: StoreLocation) -> None:
    """An agent cannot lift a restriction on itself, or one on others beyond what its roles may grant. It can
    restrict only its subordinates.
    """
    admin = bearer(first_key(store))
    agent = bearer(new_key(store, ["grant"], agent="butler"))
    for subject, code in (
        ("agent:butler", "SELF_GRANT"), ("role:steward", "SELF_GRANT"), ("agent:clerk", "MAY_NOT_GRANT"),
        ("person:owner", "NO_AUTHORITY"), ("person:partner", "MAY_NOT_GRANT"),
    ):  # fmt: skip
        made = local.post(
            "/v1/orgs/active/restrictions", json=LESS | {"subject": subject}, headers=admin
        ).json()
        path = f"/v1/orgs/active/restrictions/{made['restriction_id']}/lift"
        problem(local.post(path, json={}, headers=agent), 403, code)
        restricted = local.post(
            "/v1/orgs/active/restrictions", json=LESS | {"subject": subject}, headers=agent
        )
        if subject == "agent:clerk":
            assert restricted.status_code == 201, restricted.text
        else:
            problem(restricted, 403, "NO_AUTHORITY" if code == "MAY_NOT_GRANT" else code)
        assert local.get(path.removesuffix("/lift")).json()["revoked_at"] is None


def test_pages_of_restrictions_and_locks(local: TestClient, store: StoreLocation) -> None:
    """One after the other, and no row twice; a cursor of no row is refused."""
    admin = bearer(first_key(store))
    made = [
        local.post("/v1/orgs/active/restrictions", json=LESS, headers=admin).json()["restriction_id"]
        for _ in range(3)
    ]
    found, cursor = [], ""
    while True:
        page = local.get(f"/v1/orgs/active/restrictions?limit=1{cursor}").json()
        found += [each["restriction_id"] for each in page["restrictions"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert sorted(found) == sorted(made)
    problem(local.get("/v1/orgs/active/restrictions?cursor=x-0"), 409, "BAD_CURSOR")
    problem(local.get("/v1/orgs/active/locks?cursor=household%2Fshell"), 409, "BAD_CURSOR")


def test_the_audit_is_verified(local: TestClient, store: StoreLocation) -> None:
    """The verification checks every row, and its answer does not contain the place of the store."""
    first_key(store)
    outcome(local, "person:owner", "github")
    found = local.get("/v1/audit/verification")
    assert fits("AuditVerification", found.json())
    assert (found.json()["is_whole"], found.json()["rows"], found.json()["findings"]) == (True, 2, [])
    assert "/tmp" not in found.text


def test_a_row_that_was_changed_is_found(household: Kernel, file: StoreLocation) -> None:
    """And named, as by `orgkernel audit verify`."""
    first_key(file)
    connection = sqlite3.connect(file.path)
    with connection:
        connection.execute("UPDATE audit SET body = replace(body, 'created', 'deleted')")
    connection.close()
    with stored_client(household, file) as client:
        said = client.get("/v1/audit/verification").json()
    assert said["is_whole"] is False
    assert [each["problem"] for each in said["findings"]] == ["changed"]


def test_before_there_is_a_store_there_is_nothing_to_verify(household: Kernel, file: StoreLocation) -> None:
    """And nothing locked or restricted; asking makes no store."""
    with stored_client(household, file) as client:
        assert client.get("/v1/audit/verification").json()["rows"] == 0
        assert client.get("/v1/orgs/active/locks").json() == {"locks": [], "next": None}
        assert client.get("/v1/orgs/active/restrictions").json() == {"restrictions": [], "next": None}
        problem(client.get("/v1/orgs/active/restrictions/x-0"), 404, "UNKNOWN_RECORD")
