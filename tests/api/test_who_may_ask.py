"""Who may ask and who may change something (docs/authentication.md): what a request says of itself never counts."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from starlette.testclient import TestClient

from manifest_api.guards.tokens import TokenSettings, TokenVerifier, UnfitToken
from orgkernel.engines import EnginesOff
from orgkernel.kernel.kernel import Kernel
from orgkernel.state.location import StoreLocation
from tests.api.asking import problem, stored_client
from tests.api.keys import bearer, first_key, new_key, opened
from tests.api.test_paths import QUESTIONS, posts
from tests.state.opening import Clock
from tests.support.trees import TEMPLATES

GRANT = {"subject": "person:partner", "resources": ["tool:github"], "reason": "to help"}
USE = {
    "subject": {"type": "person", "id": "partner"},
    "action": {"name": "use"},
    "resource": {"type": "tool", "id": "github"},
    "context": {"peer_kind": "dm"},
}
ISSUER, AUDIENCE = "https://issuer.invalid", "orgkernel"


@pytest.fixture
def file_only(household: Kernel, file: StoreLocation) -> Iterator[TestClient]:
    """A client where it does not matter, or has to be a file."""
    with stored_client(household, file) as client:
        yield client


def test_without_a_key_loopback_asks_and_makes_no_store(file_only: TestClient, file: StoreLocation) -> None:
    """Questions are answered, nothing is remembered, and every change wants a key."""
    assert file_only.get("/v1/orgs/active/grants").json() == {"grants": [], "next": None}
    assert file_only.get("/v1/orgs/active/decisions").json() == {"entries": [], "markdown": ""}
    problem(file_only.get("/v1/orgs/nobody/decisions"), 404, "UNKNOWN_ORGANIZATION")
    assert file_only.post("/access/v1/evaluation", json=USE).json()["decision"] is False
    assert file_only.get("/v1/audit").json()["rows"] == []
    for path, body in (
        ("/v1/orgs/active/grants", GRANT),
        ("/v1/orgs/active/grants/g-1/revoke", {}),
        ("/v1/orgs/active/requests", {"resources": ["tool:github"]}),
        ("/v1/orgs/active/requests/r-1/approve", {}),
        ("/v1/orgs/active/requests/r-1/deny", {}),
        ("/v1/orgs/active/agents/butler/rank", {"rank": "ensign"}),
        ("/v1/orgs/active/agents/butler/lifecycle", {"lifecycle": "suspended"}),
    ):
        response = file_only.post(path, json=body)
        problem(response, 401, "KEY_REQUIRED")
        assert response.headers["www-authenticate"].startswith("Bearer")
    assert not os.path.exists(file.path)


IN_PATHS = {"{org}": "household", "{agent}": "clerk", "{token}": "1", "{result}": "1"}


@pytest.mark.parametrize("path", sorted(posts()))
def test_every_post_needs_a_scope(local: TestClient, store: StoreLocation, path: str) -> None:
    """A change is refused without a key and with one that only reads, and a question with a key that cannot read."""
    reading, requesting = (bearer(new_key(store, [scope])) for scope in ("read", "request"))
    body = posts()[path]["requestBody"]["content"]["application/json"]["example"]
    filled = re.sub(r"{\w+}", lambda found: IN_PATHS.get(found[0], "any"), path)
    if path in QUESTIONS:
        problem(local.post(filled, json=body, headers=requesting), 403, "SCOPE_MISSING")
        return
    problem(local.post(filled, json=body), 401, "KEY_REQUIRED")
    problem(local.post(filled, json=body, headers=reading), 403, "SCOPE_MISSING")


def test_a_key_made_while_the_server_runs_is_known_at_once(local: TestClient, store: StoreLocation) -> None:
    """The store is found when it appears; who gave a grant is the key."""
    problem(
        local.post("/v1/orgs/active/grants", json=GRANT, headers=bearer("orgk_" + "A" * 43)),
        401,
        "BAD_CREDENTIAL",
    )
    secret = first_key(store)
    response = local.post("/v1/orgs/active/grants", json=GRANT, headers=bearer(secret))
    assert response.status_code == 201, response.text
    assert response.json()["issued_by"].startswith("caller:k-")
    assert local.post("/access/v1/evaluation", json=USE).json()["decision"] is True


def test_a_revoked_key_opens_nothing_from_then_on(local: TestClient, store: StoreLocation) -> None:
    """Also one that was used a moment ago."""
    secret = new_key(store, ["read"])
    assert local.get("/v1/orgs", headers=bearer(secret)).status_code == 200
    with opened(store) as state:
        state.keys.revoke(state.keys.list()[0].key_id, actor="test")
    problem(local.get("/v1/orgs", headers=bearer(secret)), 401, "BAD_CREDENTIAL")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that the clock is ahead: before a store is opened, so that it takes this clock."""
    ahead, real = [0.0], time.time
    monkeypatch.setattr(time, "time", lambda: real() + ahead[0])
    return ahead


def test_an_expired_key_opens_nothing(clock: list[float], local: TestClient, store: StoreLocation) -> None:
    """Expiry is looked at with every request."""
    secret = new_key(store, ["read"], seconds=3_600)
    assert local.get("/v1/orgs", headers=bearer(secret)).status_code == 200
    clock[0] = 3_601
    problem(local.get("/v1/orgs", headers=bearer(secret)), 401, "BAD_CREDENTIAL")


@pytest.mark.parametrize(
    ("scopes", "path", "body"),
    [
        (["read", "approve"], "/v1/orgs/active/grants", GRANT),
        (["read", "grant"], "/v1/orgs/active/agents/butler/rank", {"rank": "ensign"}),
        (["grant", "approve"], "/access/v1/evaluation", USE),
        (
            ["grant"],
            "/v1/orgs/active/why",
            {"subject": "role:steward", "action": "use", "resource": "tool:weather"},
        ),
    ],
)
def test_a_key_opens_its_scopes_only(
    local: TestClient, store: StoreLocation, scopes: list[str], path: str, body: dict[str, Any]
) -> None:
    """Anything else is 403, questions included."""
    problem(local.post(path, json=body, headers=bearer(new_key(store, scopes))), 403, "SCOPE_MISSING")


def test_a_key_without_read_does_not_read_from_the_cache_either(
    local: TestClient, store: StoreLocation
) -> None:
    """What was answered to others is not answered to it."""
    assert local.get("/v1/orgs").status_code == 200
    problem(local.get("/v1/orgs", headers=bearer(new_key(store, ["grant"]))), 403, "SCOPE_MISSING")


@pytest.mark.parametrize(
    ("address", "host", "headers"),
    [
        ("192.0.2.7", "127.0.0.1:8000", {}),
        ("127.0.0.1", "registry.invalid", {}),
        ("127.0.0.1", "127.0.0.1:8000", {"X-Forwarded-For": "192.0.2.7"}),
        ("127.0.0.1", "127.0.0.1:8000", {"Forwarded": "for=192.0.2.7"}),
    ],
)
def test_off_loopback_everything_needs_a_key(
    household: Kernel, store: StoreLocation, address: str, host: str, headers: dict[str, str]
) -> None:
    """A foreign Host or a forwarded request counts as off loopback; with a key it is answered."""
    secret = new_key(store, ["read"])
    with stored_client(household, store, address, host) as client:
        problem(client.get("/v1/orgs", headers=headers), 401, "UNAUTHENTICATED")
        problem(client.get("/livez", headers=headers), 401, "UNAUTHENTICATED")
        assert client.get("/v1/orgs", headers={**headers, **bearer(secret)}).status_code == 200


@pytest.mark.parametrize(
    "shown",
    [
        "Bearer", "Bearer ", "Basic b3JnazpvcmdrCg==", "orgk_x", "Bearer orgk_", "Bearer a.b.c", "Bearer orgk_\u00e9",
        "Bearer " + "x" * 3000,
    ],
)  # fmt: skip
def test_a_credential_that_is_none_is_refused_where_none_was_needed(
    file_only: TestClient, shown: str
) -> None:
    """A malformed credential is refused even where no credential is needed."""
    problem(
        file_only.get("/v1/orgs", headers={"Authorization": shown.encode("latin-1")}), 401, "BAD_CREDENTIAL"
    )


def test_two_credentials_are_none(local: TestClient, store: StoreLocation) -> None:
    """A request with two credentials is refused, because it is unclear which one applies."""
    secret = first_key(store)
    headers = [("Authorization", f"Bearer {secret}"), ("Authorization", f"Bearer {secret}")]
    problem(local.get("/v1/orgs", headers=headers), 401, "BAD_CREDENTIAL")


@pytest.mark.parametrize("subject", ["agent:butler", "role:steward", "role:errand_runner"])
def test_an_agent_gives_itself_nothing(local: TestClient, store: StoreLocation, subject: str) -> None:
    """Neither to itself nor to a role it fills, whatever its key opens."""
    secret = new_key(store, ["grant", "rank", "read"], agent="butler")
    response = local.post(
        "/v1/orgs/active/grants", json={**GRANT, "subject": subject}, headers=bearer(secret)
    )
    problem(response, 403, "SELF_GRANT")
    for path, body in (("rank", {"rank": "senior"}), ("lifecycle", {"lifecycle": "active"})):
        problem(
            local.post(f"/v1/orgs/active/agents/butler/{path}", json=body, headers=bearer(secret)),
            403,
            "SELF_GRANT",
        )


def test_an_agent_gives_others_what_its_roles_may_give(tmp_path: Path, store: StoreLocation) -> None:
    """As far as `may_grant` goes, no further than what it has itself at this moment, and nothing else."""
    folder = tmp_path / "home"
    shutil.copytree(TEMPLATES / "household", folder)
    with (folder / "roles" / "errand_runner.yaml").open("a", encoding="utf-8") as role:
        role.write("may_grant: [{tool: github, level: write}]\n")
    agent = bearer(new_key(store, ["admin"], agent="butler"))
    person = bearer(new_key(store, ["request"]))
    gift = {"subject": "agent:clerk", "resources": ["tool:github"], "level": "write"}
    with stored_client(Kernel.open(folder), store) as local:
        for other in (
            {"level": "full"}, {"resources": ["tool:jira"]}, {"resources": ["tool:git*"]},
            {"resources": ["credential:github"]}, {"resources": ["tool:github", "tool:jira"]}, {"waives": ["rank"]},
        ):  # fmt: skip
            problem(
                local.post("/v1/orgs/active/grants", json=gift | other, headers=agent), 403, "MAY_NOT_GRANT"
            )
        assert local.post("/v1/orgs/active/grants", json=gift, headers=agent).status_code == 201
        asked = {"requester": "agent:clerk", "resources": ["tool:jira"]}
        wanted = local.post("/v1/orgs/active/requests", json=asked, headers=person).json()["request_id"]
        problem(
            local.post(f"/v1/orgs/active/requests/{wanted}/approve", json={}, headers=agent),
            403,
            "MAY_NOT_GRANT",
        )
        asked = {"requester": "agent:clerk", "resources": ["tool:github"], "level": "read"}
        wanted = local.post("/v1/orgs/active/requests", json=asked, headers=person).json()["request_id"]
        assert (
            local.post(f"/v1/orgs/active/requests/{wanted}/approve", json={}, headers=agent).status_code
            == 200
        )
        with opened(store) as state:
            state.restrictions.issue("agent:butler", ["tool:github"], issued_by="person:owner", level="read")
        problem(local.post("/v1/orgs/active/grants", json=gift, headers=agent), 403, "MAY_NOT_GRANT")


def test_an_agent_asks_for_itself_and_never_approves_it(local: TestClient, store: StoreLocation) -> None:
    """The requester is the agent of the key, and the agent has access only after another subject approves."""
    agent = bearer(new_key(store, ["read", "request", "approve"], agent="clerk"))
    person = bearer(new_key(store, ["approve"]))
    asked = {"resources": ["tool:github"], "reason": "an issue"}
    problem(
        local.post("/v1/orgs/active/requests", json={**asked, "requester": "agent:butler"}, headers=agent),
        403,
        "OTHER_REQUESTER",
    )
    created = local.post("/v1/orgs/active/requests", json=asked, headers=agent)
    assert created.status_code == 201, created.text
    assert created.json()["requester"] == "agent:clerk"
    approve = f"/v1/orgs/active/requests/{created.json()['request_id']}/approve"
    problem(local.post(approve, json={"approval": "always"}, headers=agent), 403, "SELF_GRANT")
    done = local.post(approve, json={"approval": "always"}, headers=person)
    assert done.json()["request"]["status"] == "approved"
    problem(local.post(approve, json={}, headers=person), 409, "NOT_PENDING")
    asking = {**USE, "subject": {"type": "agent", "id": "clerk"}}
    assert local.post("/access/v1/evaluation", json=asking, headers=agent).json()["decision"] is True


def test_a_counted_grant_is_used_by_the_caller_that_reports(local: TestClient, store: StoreLocation) -> None:
    """An evaluation with a key of the scope `report` consumes the use. Other callers get `ask`, and the use remains."""
    admin = bearer(first_key(store))
    reader = bearer(new_key(store, ["read"]))
    grant = local.post("/v1/orgs/active/grants", json={**GRANT, "uses": 1}, headers=admin).json()["grant_id"]
    for headers in ({}, reader, {}):
        asked = local.post("/access/v1/evaluation", json=USE, headers=headers).json()
        assert (asked["decision"], asked["context"]["outcome"]) == (False, "ask")
        assert asked["context"]["codes"] == ["GRANT_NEEDS_REPORT"]
        assert [each["code"] for each in asked["context"]["reasons"]] == ["GRANT_NEEDS_REPORT"]
        assert asked["context"]["obligations"] == [f"approval:tool:{USE['resource']['id']}"]
        row = local.get("/v1/audit?kind=decision", headers=admin).json()["rows"][0]
        assert (row["row"], row["entry"]["activity"]) == (asked["context"]["audit"], "ask")
    used = local.post("/access/v1/evaluation", json=USE, headers=admin).json()
    assert used["decision"] is True
    assert f"consume_grant:{grant}" not in used["context"]["obligations"]
    assert local.post("/access/v1/evaluation", json=USE, headers=admin).json()["decision"] is False
    with opened(store) as state:
        assert [use.audit_id for use in state.grants.uses(grant)] == [used["context"]["audit"]]


def test_a_search_without_the_scope_report_asks_like_an_evaluation(
    local: TestClient, store: StoreLocation
) -> None:
    """A search lists what depends on a counted grant as allowed for callers that can consume the use, and as `ask` for
    others.
    """
    admin = bearer(first_key(store))
    local.post("/v1/orgs/active/grants", json={**GRANT, "uses": 1}, headers=admin)
    kind = {"type": USE["subject"]["type"]}
    tool = {"type": "tool"}
    questions = {
        "subject": ({**USE, "subject": kind}, USE["subject"], f"{kind['type']}:{USE['subject']['id']}"),
        "resource": ({**USE, "resource": tool}, USE["resource"], f"tool:{USE['resource']['id']}"),
        "action": (
            {key: USE[key] for key in ("subject", "resource", "context")},
            USE["action"],
            USE["action"]["name"],
        ),
    }
    for name, (question, found, text) in questions.items():
        path = f"/access/v1/search/{name}"
        keyless = local.post(path, json=question).json()
        reporting = local.post(path, json=question, headers=admin).json()
        assert found not in keyless["results"]
        assert found in reporting["results"]
        assert any(text in each for each in keyless["context"]["ask"])
        assert not any(text in each for each in reporting["context"]["ask"])


def test_every_decision_is_written_before_it_is_told(local: TestClient, store: StoreLocation) -> None:
    """The audit row that an answer names exists and contains the credential of the caller."""
    secret = first_key(store)
    rows = [
        local.post("/access/v1/evaluation", json=USE, headers=headers).json()["context"]["audit"]
        for headers in ({}, bearer(secret))
    ]
    for path in ("why", "who-can"):
        example = posts()["/v1/orgs/{org}/" + path]["requestBody"]["content"]["application/json"]["example"]
        local.post(f"/v1/orgs/active/{path}", json=example, headers=bearer(secret))
    assert local.get("/v1/orgs/active/manifest", headers=bearer(secret)).status_code == 200
    written = local.get("/v1/audit").json()["rows"]
    assert len([each for each in written if each["entry"]["kind"] == "decision"]) == len(rows)
    found = {line["row"]: line["entry"] for line in local.get("/v1/audit?kind=decision").json()["rows"]}
    assert [found[row]["actor"].partition("-")[0] for row in rows] == ["loopback", "caller:k"]
    assert {found[row]["activity"] for row in rows} == {"deny"}


def test_a_caller_does_not_choose_the_time(
    clock: list[float], local: TestClient, store: StoreLocation
) -> None:
    """A grant that has run out stays so, whatever the context says; what is not read is named."""
    admin = bearer(first_key(store))
    local.post("/v1/orgs/active/grants", json={**GRANT, "expires_at": time.time() + 3_600}, headers=admin)
    assert local.post("/access/v1/evaluation", json=USE).json()["decision"] is True
    clock[0] = 3_601
    answer = local.post(
        "/access/v1/evaluation", json={**USE, "context": USE["context"] | {"now": 1.0, "chanel": "x"}}
    ).json()
    assert answer["decision"] is False
    assert answer["context"]["ignored"] == ["now", "chanel"]


def test_what_is_kept_ends_with_a_change_and_with_time(
    clock: list[float], local: TestClient, store: StoreLocation
) -> None:
    """A manifest from the cache is never older than a grant, nor than its end."""
    admin = bearer(first_key(store))

    def has_github() -> bool:
        # A manifest states no circumstance, and in a group the policy for groups denies the tool.
        tools = local.get("/v1/orgs/active/agents/clerk").json()["tools"]
        return any(tool["id"] == "github" and tool["conditional_actions"] for tool in tools)

    assert not has_github()
    draft = {**GRANT, "subject": "agent:clerk", "expires_at": time.time() + 3_600}
    assert local.post("/v1/orgs/active/grants", json=draft, headers=admin).status_code == 201
    assert has_github()
    clock[0] = 3_601
    assert not has_github()


def test_too_many_wrong_credentials(local: TestClient, store: StoreLocation) -> None:
    """An address that guesses is slowed down; a valid key from it still opens."""
    secret = first_key(store)
    statuses = [local.get("/v1/orgs", headers=bearer(f"orgk_{n}")).status_code for n in range(25)]
    assert statuses[0] == 401
    assert statuses[-1] == 429
    assert local.get("/v1/orgs", headers=bearer(secret)).status_code == 200


def until_refused(ask: Callable[[], Any]) -> list[Any]:
    """Answers up to the first refusal: a machine that is held up may take long for some, which are then allowed."""
    found = [ask()]
    while found[-1].status_code == 200 and len(found) < 100:
        found.append(ask())
    return found


def test_a_key_may_not_ask_too_often(household: Kernel, store: StoreLocation) -> None:
    """Twice the rate at once, then the rate; others are not held up."""
    mine, other = new_key(store, ["read"]), new_key(store, ["read"])
    with stored_client(household, store, rate=1.0) as client:
        found = until_refused(lambda: client.get("/v1/orgs", headers=bearer(mine)))
        assert [each.status_code for each in found[:2]] == [200, 200]
        problem(found[-1], 429, "RATE_LIMITED")
        assert int(found[-1].headers["retry-after"]) >= 1
        assert client.get("/v1/orgs", headers=bearer(other)).status_code == 200


def test_callers_without_a_key_may_not_ask_too_often(household: Kernel, store: StoreLocation) -> None:
    """They are limited by address. A key from the same address is not held up, and neither is a supervisor."""
    mine = new_key(store, ["read"])
    with stored_client(household, store, rate=1.0) as client:
        found = until_refused(lambda: client.get("/v1/orgs"))
        assert [each.status_code for each in found[:2]] == [200, 200]
        problem(found[-1], 429, "RATE_LIMITED")
        assert client.get("/v1/orgs", headers=bearer(mine)).status_code == 200
        assert client.get("/livez").status_code == 200


def test_a_store_that_cannot_be_read_is_no_empty_one(household: Kernel, file: StoreLocation) -> None:
    """If the store cannot be read, the request is not decided, because restrictions are unknown. The answer
    does not contain the place of the store.
    """
    Path(file.path).write_bytes(b"not a database" * 1000)
    with stored_client(household, file) as client:
        response = client.post("/access/v1/evaluation", json=USE)
        problem(response, 503, "BAD_STORE")
        assert file.path not in response.text


def test_names_that_are_not_declared_are_not_granted(local: TestClient, store: StoreLocation) -> None:
    """A misspelt subject, tool or organization is refused with a suggestion."""
    admin = bearer(first_key(store))
    for change in ({"subject": "agent:buttler"}, {"resources": ["tool:githup"]}):
        problem(local.post("/v1/orgs/active/grants", json=GRANT | change, headers=admin), 409, "UNKNOWN_NAME")
    elsewhere = problem(
        local.post("/v1/orgs/househole/grants", json=GRANT, headers=admin), 404, "UNKNOWN_ORGANIZATION"
    )
    assert elsewhere["help"] == "did you mean `household`?"
    asked = {"requester": "agent:clerk", "resources": ["tool:githup"]}
    assert problem(local.post("/v1/orgs/active/requests", json=asked, headers=admin), 409, "UNKNOWN_NAME")[
        "help"
    ] == ("did you mean `tool:github`?")


def test_the_envelope_of_a_sender_needs_no_store(file_only: TestClient, file: StoreLocation) -> None:
    """The envelope contains the session and the tools of a sender under the stated circumstances, and lists unknown
    fields as ignored.
    """
    asked = {"subject": "sender:signal//owner-phone", "context": {"peer_kind": "group", "mood": "good"}}
    found = file_only.post("/v1/orgs/active/envelope", json=asked).json()
    assert found["ignored"] == ["mood"]
    assert found["envelope"]["subject"] == "person:owner"
    assert found["envelope"]["routing"]["session_key"] == "unknown:group:unknown"
    assert [row["resource"] for row in found["envelope"]["tools"]] == [
        "tool:web_search", "tool:weather", "tool:read_file",
    ]  # fmt: skip
    assert not os.path.exists(file.path)


# -- tokens ----------------------------------------------------------------------------------------------------------

KEY, OTHER_KEY = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))


def token(
    key: Any = KEY, headers: dict[str, Any] | None = None, algorithm: str = "ES256", **claims: Any
) -> str:
    said = {
        "iss": ISSUER, "aud": AUDIENCE, "sub": "worker", "exp": time.time() + 60, "scope": "orgkernel:read openid",
    }  # fmt: skip
    said = {name: value for name, value in (said | claims).items() if value is not None}
    return jwt.encode(said, key, algorithm, headers={"kid": "one"} | (headers or {}))


def _part(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


@pytest.fixture
def issuer_settings(tmp_path: Path) -> TokenSettings:
    public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(KEY.public_key())) | {"kid": "one", "use": "sig"}
    (tmp_path / "jwks.json").write_text(json.dumps({"keys": [public]}), encoding="utf-8")
    return TokenSettings(ISSUER, AUDIENCE, str(tmp_path / "jwks.json"), ("ES256",))


@pytest.fixture
def trusting(household: Kernel, file: StoreLocation, issuer_settings: TokenSettings) -> Iterator[TestClient]:
    with stored_client(household, file, "192.0.2.7", tokens=issuer_settings) as client:
        yield client


def test_a_clock_that_was_ahead_refuses_no_token_for_good(issuer_settings: TokenSettings) -> None:
    """A token that was refused as expired is verified anew when the clock is right; a valid one after the clock was set back."""
    clock = Clock(time.time())
    verifier, lasting = TokenVerifier(issuer_settings, clock), token()
    assert verifier.recall(lasting) is None
    clock.now += 400 * 86_400
    with pytest.raises(UnfitToken):
        asyncio.run(verifier.identify(lasting))
    assert isinstance(verifier.recall(lasting), UnfitToken)
    clock.now -= 400 * 86_400
    assert verifier.recall(lasting) is None
    assert asyncio.run(verifier.identify(lasting)).credential == "oidc:worker"
    assert verifier.recall(lasting) is not None
    clock.now -= 3_600
    assert verifier.recall(lasting) is None


def test_a_token_of_the_issuer_opens_its_scopes(trusting: TestClient, file: StoreLocation) -> None:
    """Words of other services open nothing."""
    assert trusting.get("/v1/orgs", headers=bearer(token())).status_code == 200
    problem(
        trusting.post("/v1/orgs/active/grants", json=GRANT, headers=bearer(token())), 403, "SCOPE_MISSING"
    )
    problem(trusting.get("/v1/orgs", headers=bearer(token(scope="read admin"))), 403, "SCOPE_MISSING")
    first_key(file)
    granting = bearer(token(scope="orgkernel:grant"))
    assert (
        trusting.post("/v1/orgs/active/grants", json=GRANT, headers=granting).json()["issued_by"]
        == "oidc:worker"
    )


def test_a_token_of_an_agent_gives_that_agent_nothing(trusting: TestClient, file: StoreLocation) -> None:
    """Its claim says whose it is; `admin` in it does not count."""
    first_key(file)
    agent = bearer(
        token(scope="orgkernel:grant orgkernel:admin", orgkernel_agent="butler", orgkernel_org="household")
    )
    problem(
        trusting.post("/v1/orgs/active/grants", json={**GRANT, "subject": "agent:butler"}, headers=agent),
        403,
        "SELF_GRANT",
    )
    problem(
        trusting.post("/v1/orgs/active/agents/clerk/rank", json={"rank": "senior"}, headers=agent),
        403,
        "SCOPE_MISSING",
    )


@pytest.mark.parametrize(("person", "status"), [("owner", 200), ("partner", 403)])
def test_a_token_of_a_person_has_the_rights_of_that_person(
    trusting: TestClient, file: StoreLocation, person: str, status: int
) -> None:
    """A token whose claim names a declared person has the rights of that person; a token without the claim belongs to an
    operator.
    """
    first_key(file)
    said = bearer(token(scope="orgkernel:rank", orgkernel_person=person, orgkernel_org=["household", "shop"]))
    answer = trusting.post(
        "/v1/orgs/active/agents/clerk/rank", json={"rank": "senior", "reason": "review"}, headers=said
    )
    assert answer.status_code == status, answer.text


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ({}, "UNBOUND_CREDENTIAL"), ({"orgkernel_org": []}, "UNBOUND_CREDENTIAL"), ({"orgkernel_org": "shop"}, "WRONG_ORGANIZATION"),
    ],
)  # fmt: skip
def test_a_token_of_a_person_is_good_for_the_organizations_it_names(
    trusting: TestClient, file: StoreLocation, claims: dict[str, Any], code: str
) -> None:
    """Without one for none; a token that names neither an agent nor a person is good for all, unless it names some."""
    first_key(file)
    owner = bearer(token(scope="orgkernel:rank orgkernel:read", orgkernel_person="owner", **claims))
    problem(
        trusting.post("/v1/orgs/active/agents/clerk/rank", json={"rank": "senior"}, headers=owner), 403, code
    )
    problem(trusting.get("/v1/orgs/household/manifest", headers=owner), 403, code)
    operator = bearer(token(**claims))
    expected = 403 if claims.get("orgkernel_org") else 200
    assert trusting.get("/v1/orgs/household/manifest", headers=operator).status_code == expected


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://other.invalid"}, {"aud": "another"}, {"aud": None}, {"exp": time.time() - 120}, {"exp": None},
        {"sub": None}, {"sub": ""}, {"sub": "x" * 300}, {"nbf": time.time() + 86_400}, {"exp": "soon"}, {"iss": None},
        {"orgkernel_agent": 7}, {"orgkernel_person": 7}, {"orgkernel_person": ""}, {"orgkernel_org": 7}, {"orgkernel_org": [7]},
        {"orgkernel_org": ""}, {"orgkernel_org": {"shop": True}}, {"exp": True},
        {"exp": 10**400}, {"exp": 1e300}, {"exp": float("inf")}, {"nbf": -(10**400)}, {"nbf": float("nan")},
    ],
)  # fmt: skip
def test_a_token_with_other_claims_opens_nothing(trusting: TestClient, claims: dict[str, Any]) -> None:
    """Issuer, audience, subject and time have to fit, all of them."""
    try:
        shown = token(**claims)
    except TypeError:  # PyJWT itself refuses to make it
        return
    problem(trusting.get("/v1/orgs", headers=bearer(shown)), 401, "BAD_CREDENTIAL")


@pytest.mark.parametrize(("ended", "status"), [(20, 200), (40, 401)])
def test_clocks_may_differ_by_thirty_seconds(trusting: TestClient, ended: float, status: int) -> None:
    """A token that ended a moment ago, or begins in a moment, is accepted for half a minute."""
    for claims in ({"exp": time.time() - ended}, {"nbf": time.time() + ended}):
        assert trusting.get("/v1/orgs", headers=bearer(token(**claims))).status_code == status


@pytest.mark.parametrize(
    "ends",
    [
        "1e999",
        "-1e999",
        "1e308",
        "9" * 400,
        "9" * 5_000,
        "NaN",
        "Infinity",
        "true",
        '"4102444800"',
        "[4102444800]",
        "null",
        "{}",
    ],
    ids=lambda ends: ends[:12],
)
@pytest.mark.parametrize("claim", ["exp", "nbf"])
def test_a_time_that_no_clock_reaches_opens_nothing(trusting: TestClient, claim: str, ends: str) -> None:
    """The numbers are in the token as they are written here, which PyJWT itself would not make."""
    claims = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "worker",
        "exp": time.time() + 60,
        "scope": "orgkernel:read",
    }
    text = json.dumps({name: value for name, value in claims.items() if name != claim})
    shown = jwt.PyJWS().encode(
        f'{text[:-1]}, "{claim}": {ends}}}'.encode(), KEY, "ES256", headers={"kid": "one", "typ": "JWT"}
    )
    problem(trusting.get("/v1/orgs", headers=bearer(shown)), 401, "BAD_CREDENTIAL")


@pytest.mark.parametrize(
    "headers", [{"crit": ["zzz"], "zzz": 1}, {"crit": ["exp"]}, {"crit": "exp"}, {"crit": []}, {"typ": None}, {"typ": ["JWT"]}],
    ids=str,
)  # fmt: skip
def test_a_header_that_is_not_understood_opens_nothing(trusting: TestClient, headers: dict[str, Any]) -> None:
    """RFC 7515, section 4.1.11: a token with a critical header that the reader does not know is refused."""
    payload = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "worker",
        "exp": time.time() + 60,
        "scope": "orgkernel:read",
    }
    head, body = (_part(part) for part in ({"alg": "ES256", "kid": "one", **headers}, payload))
    signature = jwt.algorithms.ECAlgorithm(hashes.SHA256).sign(f"{head}.{body}".encode(), KEY)
    shown = f"{head}.{body}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"
    problem(trusting.get("/v1/orgs", headers=bearer(shown)), 401, "BAD_CREDENTIAL")


def test_a_token_signed_otherwise_opens_nothing(trusting: TestClient) -> None:
    """Another key, no signature, a shared secret made of the public key, an unknown key id."""
    public = KEY.public_key()
    der = public.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    # PyJWT refuses to sign like this, so it is done by hand.
    head, body, _ = token().split(".")
    head = _part({"alg": "HS256", "typ": "JWT", "kid": "one"})
    mac = hmac.new(der, f"{head}.{body}".encode(), "sha256").digest()
    confused = f"{head}.{body}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"
    for shown in (
        token(OTHER_KEY), token(None, algorithm="none"), confused, token(headers={"kid": "two"}),
        token() + "x", token(headers={"typ": "dpop+jwt"}), token(headers={"typ": "logout+jwt"}),
    ):  # fmt: skip
        problem(trusting.get("/v1/orgs", headers=bearer(shown)), 401, "BAD_CREDENTIAL")


def test_a_token_of_a_type_that_gives_access_opens(trusting: TestClient) -> None:
    """With the types of both RFCs, in any case, and without one."""
    for kind in ("JWT", "at+jwt", "AT+JWT", "application/at+jwt"):
        assert trusting.get("/v1/orgs", headers=bearer(token(headers={"typ": kind}))).status_code == 200


def test_the_fast_path_answers_as_the_framework_does(household: Kernel, file: StoreLocation) -> None:
    """The same status, headers and body, whether the framework looked for the route or not (ADR 0011)."""
    path = "/access/v1/evaluation"
    bodies = [
        {"json": USE}, {"json": {**USE, "context": {"org": "nobody"}}}, {"json": {"subject": 1}}, {"content": b"{"},
        {"json": {**USE, "context": {"via": 1}}}, {"content": b"x" * 70_000}, {"json": USE, "params": {"a": "b"}},
    ]  # fmt: skip
    client = stored_client(household, file)
    with EnginesOff("fast_path"):
        other_client = stored_client(household, file)
    fast, usual = (
        [each.post(path, headers={"X-Request-ID": "one"}, **body) for body in bodies]
        for each in (client, other_client)
    )
    assert [each.status_code for each in fast] == [200, 404, 400, 400, 400, 413, 400]
    for one, other in zip(fast, usual, strict=True):
        assert (one.status_code, one.content) == (other.status_code, other.content)
        assert dict(one.headers) == dict(other.headers)


def test_the_registry_reports_where_the_store_differs_from_the_roster(local: TestClient, store: Path) -> None:
    """After what is found in the documents, as soon as it is stored; a page goes on from there."""
    first_key(store)
    assert local.get("/v1/diagnostics").json()["count"] == 0
    with opened(store) as state:
        state.agents.add("typist", org_id="household", actor="test")
        state.agents.add("clerk", org_id="household", actor="test", lifecycle="suspended")
    found = local.get("/v1/diagnostics").json()
    assert [(each["code"], each["subject"]) for each in found["diagnostics"]] == [
        ("ORG608", "agent:typist"),
        ("ORG609", "agent:clerk"),
        ("ORG620", "role:record_keeper"),
    ]
    assert (found["count"], found["errors"], found["warnings"]) == (3, 0, 2)
    first = local.get("/v1/diagnostics?limit=1").json()
    rest = local.get(f"/v1/diagnostics?limit=2&cursor={first['next']}").json()
    assert first["diagnostics"] + rest["diagnostics"] == found["diagnostics"]
    with opened(store) as state:
        state.agents.move("typist", "decommissioned", org_id="household", actor="test")
        state.agents.move("clerk", "active", org_id="household", actor="test")
    assert local.get("/v1/diagnostics").json()["count"] == 0
