"""A credential is good for the organizations that it names: a worker's key of one is no chief's key of another that names its agent
alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from starlette.testclient import TestClient

from orgkernel.errors import Conflict, Refused
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.context import Context, build_actor
from orgkernel.operations.keys import bind_keys, create_key
from orgkernel.state.location import StoreLocation
from tests.api.asking import problem, stored_client
from tests.api.keys import bearer, first_key, new_key, opened
from tests.support.trees import write_tree

ROLE = "_schema: orgkernel:role_profile\nrole_id: {role}\nrole_type: {kind}\ncapabilities: {{tools: [{{tool: radio, level: full}}]}}\n"
TOOLS = '{_schema: "orgkernel:tool_catalog", tools: {radio: {type: browser}, laser: {type: browser}}}\n'
RANKS = '{_schema: "orgkernel:rank_ladder", ranks: [{id: junior}, {id: senior}]}\n'
PEOPLE = '{_schema: "orgkernel:directory", people: {pat: {relationship: %s}}}\n'


def write_organization(folder: Path, org: str, chief: str, worker: str, relationship: str) -> None:
    """An organization of two agents, in which one commands the other."""
    agents = f"{chief}: {{rank: senior, assignments: [{{role: co}}]}}, {worker}: {{rank: junior, assignments: [{{role: hand}}]}}"
    write_tree(
        folder / org,
        {
            "org.yaml": f'{{_schema: "orgkernel:organization", org_id: {org}, hierarchy: {{co: {{subordinates: [hand]}}, hand: {{}}}}}}\n',
            "roles/co.yaml": ROLE.format(role="co", kind="commander"),
            "roles/hand.yaml": ROLE.format(role="hand", kind="specialist"),
            "crew.yaml": f'{{_schema: "orgkernel:crew_roster", agents: {{{agents}}}}}\n',
            "tools.yaml": TOOLS,
            "ranks.yaml": RANKS,
            "people.yaml": PEOPLE % relationship,
        },
    )


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    """`ann` is the worker of the shop and the chief of the yard; `pat` owns the yard and is a friend of the shop."""
    write_organization(tmp_path / "both", "shop", chief="bob", worker="ann", relationship="friend")
    write_organization(tmp_path / "both", "yard", chief="ann", worker="bob", relationship="owner")
    return Kernel.open(tmp_path / "both")


@pytest.fixture
def client(kernel: Kernel, store: StoreLocation) -> Iterator[TestClient]:
    first_key(store)
    with stored_client(kernel, store) as client:
        yield client


SCOPES = ["read", "grant", "approve", "rank", "lock", "report", "request"]
ACTS: list[tuple[str, dict[str, Any]]] = [
    ("grants", {"subject": "agent:bob", "resources": ["tool:radio"]}),
    ("restrictions", {"subject": "agent:bob", "resources": ["tool:radio"]}),
    ("agents/bob/lifecycle", {"lifecycle": "suspended"}),
    ("agents/bob/rank", {"rank": "junior"}),
    ("requests", {"resources": ["tool:laser"]}),
    ("why", {"subject": "agent:ann", "action": "use", "resource": "tool:radio"}),
    ("dispatch", {"domain": "x"}),
]


@pytest.mark.parametrize("who", [{"agent": "ann"}, {"person": "pat"}])
def test_a_key_of_one_organization_opens_nothing_in_another(
    client: TestClient, store: StoreLocation, who: dict[str, str]
) -> None:
    """Although the other declares the same name, as the chief or the owner."""
    key = bearer(new_key(store, SCOPES, orgs=["shop"], **who))
    for path, body in ACTS:
        for org in ("yard", "*"):
            answer = client.post(f"/v1/orgs/{org}/{path}", json=body, headers=key)
            refused = problem(answer, 403, "WRONG_ORGANIZATION")
            assert refused["detail"] == "the credential is good for `shop`, not for `yard`"


def test_the_chief_of_the_organization_of_its_key_acts_there(
    client: TestClient, store: StoreLocation
) -> None:
    """So the refusals above do not come from something else."""
    ann, pat = (
        bearer(new_key(store, SCOPES, orgs=["yard"], **who)) for who in ({"agent": "ann"}, {"person": "pat"})
    )
    # A chief without `may_grant` grants nothing.
    for path, key in (("grants", pat), ("restrictions", ann), ("agents/bob/lifecycle", ann)):
        body = dict(ACTS)[path]
        assert client.post(f"/v1/orgs/yard/{path}", json=body, headers=key).is_success, path
        problem(client.post(f"/v1/orgs/shop/{path}", json=body, headers=key), 403, "WRONG_ORGANIZATION")


def test_a_key_reads_its_own_organization(client: TestClient, store: StoreLocation) -> None:
    """A second time too, when the answer is in the cache; an operator's key and a key of both read all."""
    operator = bearer(new_key(store, ["read"]))
    both = bearer(new_key(store, ["read"], agent="ann", orgs=["shop", "yard"]))
    bound = bearer(new_key(store, ["read"], agent="ann", orgs=["shop"]))
    for path in (
        "/v1/orgs/yard", "/v1/orgs/yard/manifest", "/v1/orgs/yard/roles/co", "/v1/orgs/yard/grants", "/v1/orgs/*/grants",
        "/v1/audit", "/v1/audit/verification", "/v1/diagnostics",
    ):  # fmt: skip
        for key in (operator, both):
            assert client.get(path, headers=key).is_success, path
        for _ in range(2):
            problem(client.get(path, headers=bound), 403, "WRONG_ORGANIZATION")
    for own in ("/v1/orgs", "/v1/orgs/shop/manifest", "/v1/snapshot"):
        assert client.get(own, headers=bound).is_success, own


def test_an_operators_key_can_be_bound_too(client: TestClient, store: StoreLocation) -> None:
    """It has no rights of an agent; only where it is good for is limited."""
    with opened(store) as state:
        secret = state.keys.create("ops", ["admin"], created_by="test", org_ids=["shop"])[1]
    body = {"subject": "agent:bob", "resources": ["tool:radio"]}
    assert client.post("/v1/orgs/shop/grants", json=body, headers=bearer(secret)).is_success
    problem(client.post("/v1/orgs/yard/grants", json=body, headers=bearer(secret)), 403, "WRONG_ORGANIZATION")


def ask(org: str) -> dict[str, Any]:
    """A question of AuthZEN about `ann` in an organization."""
    return {
        "subject": {"type": "agent", "id": "ann"}, "action": {"name": "use"}, "resource": {"type": "tool", "id": "radio"},
        "context": {"org": org},
    }  # fmt: skip


def test_questions_of_authzen_name_an_organization_of_the_key(
    client: TestClient, store: StoreLocation
) -> None:
    """Single, several and searched ones."""
    key = bearer(new_key(store, ["read"], agent="ann", orgs=["shop"]))
    for org, status in (("shop", 200), ("yard", 403)):
        question = ask(org)
        for path, body in (
            ("evaluation", question),
            ("search/subject", {**question, "subject": {"type": "agent"}}),
            ("search/resource", {**question, "resource": {"type": "tool"}}),
            ("search/action", {each: question[each] for each in ("subject", "resource", "context")}),
        ):
            answer = client.post(f"/access/v1/{path}", json=body, headers=key)
            assert answer.status_code == status, (path, answer.text)
    several = {"evaluations": [ask("shop"), ask("yard")]}
    first, second = client.post("/access/v1/evaluations", json=several, headers=key).json()["evaluations"]
    assert first["decision"] is True
    assert (second["decision"], second["context"]["code"]) == (False, "WRONG_ORGANIZATION")


def test_a_key_from_before_is_good_for_none(client: TestClient, store: StoreLocation) -> None:
    """Until an operator states its organization; once stated, it does not change."""
    secret = new_key(store, ["read", "request"], agent="ann", orgs=["shop"])
    with opened(store) as state:
        state.context.change(
            lambda transaction: transaction.connection.execute(text("UPDATE api_keys SET org_ids = '[]'"))
        )
        state.keys.create(
            "other", ["read"], created_by="test"
        )  # a change, so that the server reads the keys again
        (key_id,) = [key.key_id for key in state.keys.list() if key.is_unbound]
    for path in ("/v1/orgs", "/v1/orgs/shop", "/v1/orgs/yard/manifest", "/v1/audit", "/v1/snapshot"):
        refused = problem(client.get(path, headers=bearer(secret)), 403, "UNBOUND_CREDENTIAL")
        assert f"orgkernel key bind {key_id} --org ORG" in refused["help"]
    problem(
        client.post("/access/v1/evaluation", json=ask("shop"), headers=bearer(secret)),
        403,
        "UNBOUND_CREDENTIAL",
    )
    with opened(store) as state:
        state.keys.bind({key_id: ["shop"]}, actor="test")
        with pytest.raises(Conflict, match="is bound to `shop` already"):
            state.keys.bind({key_id: ["yard"]}, actor="test")
    assert client.get("/v1/orgs/shop", headers=bearer(secret)).is_success
    problem(client.get("/v1/orgs/yard", headers=bearer(secret)), 403, "WRONG_ORGANIZATION")


def test_a_new_key_gets_the_only_organization_that_declares_its_owner(
    kernel: Kernel, store: StoreLocation, tmp_path: Path
) -> None:
    """Where several do, or none, it has to be named, and it has to exist."""
    write_organization(tmp_path / "both", "mill", chief="mia", worker="max", relationship="friend")
    three = Kernel.open(tmp_path / "both")
    first_key(store)
    with opened(store) as state:
        context = Context(three, state, build_actor("system:cli"))
        assert create_key(context, "k", ["read"], agent_id="max")[0].org_ids == ("mill",)
        assert create_key(context, "k", ["read"], agent_id="ann", org_ids=["yard", "shop"])[0].org_ids == (
            "shop",
            "yard",
        )
        assert create_key(context, "k", ["read"])[0].bound_to is None
        for wanted, code, said in (
            ({"agent_id": "ann"}, "NO_ORGANIZATION", "`shop`, `yard` declare `agent:ann`"),
            ({"agent_id": "zoe"}, "NO_ORGANIZATION", "no organization here declares `agent:zoe`"),
            ({"agent_id": "ann", "org_ids": ["shpo"]}, "UNKNOWN_NAME", "there is no organization `shpo`"),
            ({"agent_id": "ann", "org_ids": ["*"]}, "UNKNOWN_NAME", "there is no organization `*`"),
        ):
            with pytest.raises(Refused, match=said.replace("*", r"\*")) as caught:
                create_key(context, "k", ["read"], **wanted)
            assert caught.value.code == code
        with pytest.raises(Refused, match="there is no organization"):
            bind_keys(context, {"k-1": ["nowhere"]})
        with pytest.raises(Refused, match=r"cannot be bound to `\*`"):
            create_key(Context(None, state, context.actor), "k", ["read"], agent_id="ann", org_ids=["*"])


def test_a_successor_has_the_organizations_of_the_key(store: StoreLocation) -> None:
    """A rotation does not open another organization."""
    new_key(store, ["read"], agent="ann", orgs=["shop"])
    with opened(store) as state:
        (old,) = state.keys.list()
        assert state.keys.rotate(old.key_id, actor="test", overlap=60)[0].org_ids == ("shop",)


def test_an_agent_asks_for_nothing_where_it_is_suspended(client: TestClient, store: StoreLocation) -> None:
    """Its key still works in the other organization, where it is at work."""
    ann = bearer(new_key(store, SCOPES, agent="ann", orgs=["shop", "yard"]))
    with opened(store) as state:
        state.agents.add("ann", org_id="shop", actor="test", lifecycle="suspended")
    wanted = {"resources": ["tool:laser"]}
    problem(client.post("/v1/orgs/shop/requests", json=wanted, headers=ann), 403, "AGENT_INACTIVE")
    assert client.post("/v1/orgs/yard/requests", json=wanted, headers=ann).status_code == 201
