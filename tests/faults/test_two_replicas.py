"""Two servers on one store, attacked at the same moment: one answer wins, and each of them slows down who guesses."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from orgkernel.kernel.stored import open_store
from orgkernel.operations.upkeep import verify
from orgkernel.state.location import StoreLocation
from orgkernel.state.requests import RequestLimits
from orgkernel.state.store import Store
from tests.api.keys import bearer, new_key
from tests.api.running import Server, running
from tests.state.opening import sqlite_at
from tests.support.patience import PATIENCE
from tests.support.trees import copy_template, write_tree

REQUESTS, CALLERS = 12, 4
"""Requests that are answered, and callers that answer each one at the same moment."""
GUESSES = 30


class Pair:
    """Two servers in processes of their own."""

    def __init__(self, place: StoreLocation, one: Server, other: Server) -> None:
        self.place = place
        self.servers = (one, other)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> StoreLocation:
    if request.param == "sqlite":
        return sqlite_at(tmp_path)
    found: StoreLocation = request.getfixturevalue("postgres_place")
    return found


@pytest.fixture
def pair(place: StoreLocation, tmp_path: Path) -> Iterator[Pair]:
    copy_template(tmp_path / "household", "household")
    open_store(place).close()
    store = place.path or place.url.replace("+psycopg", "")
    with ExitStack() as ends:
        one, other = (
            ends.enter_context(running(tmp_path, tmp_path / "household", store=store)) for _ in range(2)
        )
        yield Pair(place, one, other)


def make_requests(place: StoreLocation) -> list[str]:
    limits = RequestLimits(pending=REQUESTS, cooldown=0, denials=REQUESTS)
    with Store(place, clock=time.time, tokens=os.urandom, limits=limits) as store:
        return [
            store.requests.create("agent:butler", ["tool:github"], reason=f"job {number}", org_id="household").request_id
            for number in range(REQUESTS)
        ]  # fmt: skip


def test_of_two_answers_to_a_request_one_wins(pair: Pair) -> None:
    """Approvals and denials of the same request, half of them at each server: one is stored, and every other caller is told."""
    names, secret = make_requests(pair.place), new_key(pair.place, ["approve"])
    for name in names:
        gate = threading.Barrier(CALLERS)

        def answer(
            number: int, name: str = name, gate: threading.Barrier = gate
        ) -> tuple[str, int, dict[str, Any]]:
            act = ("approve", "deny")[number // 2 % 2]
            url = f"{pair.servers[number % 2].url}/v1/orgs/household/requests/{name}/{act}"
            body = {"approval": "day"} if act == "approve" else {}
            gate.wait(PATIENCE)
            done = httpx2.post(url, json=body, headers=bearer(secret), timeout=PATIENCE)
            return act, done.status_code, done.json()

        with ThreadPoolExecutor(CALLERS) as pool:
            answers = list(pool.map(answer, range(CALLERS)))
        ((act, _, _),) = [each for each in answers if each[1] == 200]
        status = {"approve": "approved", "deny": "denied"}[act]
        for _, code, problem in (each for each in answers if each[1] != 200):
            assert (code, problem["code"]) == (409, "NOT_PENDING"), problem
            assert problem["detail"] == f"the request `{name}` is {status}"
        with open_store(pair.place) as store:
            stored = store.requests.get(name)
            assert stored is not None
            assert stored.status == status
            grants = [each for each in store.grants.list("agent:butler") if each.request_id == name]
            assert len(grants) == (1 if act == "approve" else 0)
    with open_store(pair.place) as store:
        assert Counter(each.status for each in store.requests.list()).total() == REQUESTS
        assert verify(store).findings == ()


BANK = """
_schema: orgkernel:organization
org_id: bank
hierarchy: {chief: {subordinates: [clerk]}}
---
_schema: orgkernel:tool_catalog
tools: {close: {type: remote_api, side_effects: destructive}}
---
_schema: orgkernel:crew_roster
agents: {cas: {assignments: [{role: clerk}]}}
---
_schema: orgkernel:directory
people: {ann: {relationship: owner}, ben: {relationship: owner}, eva: {relationship: owner}}
---
_schema: orgkernel:access_policies
policies: {three-close: {effect: ask, match: {principal: {role: clerk}}, permissions: {tools: [close]}, approvals: {count: 3, by: ["relationship:owner"]}}}
---
_schema: orgkernel:role_profile
role_id: chief
role_type: executive
---
_schema: orgkernel:role_profile
role_id: clerk
capabilities: {tools_primary: [close]}
"""


def test_each_of_several_approvers_counts_once_at_both_servers(place: StoreLocation, tmp_path: Path) -> None:
    """Three owners approve at the same moment, each at both servers: each counts once, and there is one grant."""
    write_tree(tmp_path / "bank", {"org.yaml": BANK})
    with open_store(place) as state:
        name = state.requests.create("agent:cas", ["tool:close"], org_id="bank").request_id
        owners = [
            state.keys.create(who, ["approve"], created_by="test", person_id=who, org_ids=["bank"])[1]
            for who in ("ann", "ben", "eva")
        ]
    store = place.path or place.url.replace("+psycopg", "")
    calls = [(owner, number) for owner in owners for number in range(2)]
    gate = threading.Barrier(len(calls))
    with ExitStack() as ends:
        servers = [ends.enter_context(running(tmp_path, tmp_path / "bank", store=store)) for _ in range(2)]

        def approve(call: tuple[str, int]) -> tuple[int, str]:
            secret, number = call
            gate.wait(PATIENCE)
            url = f"{servers[number].url}/v1/orgs/bank/requests/{name}/approve"
            done = httpx2.post(url, json={}, headers=bearer(secret), timeout=PATIENCE)
            return done.status_code, done.json().get("code", "")

        with ThreadPoolExecutor(len(calls)) as pool:
            answers = Counter(pool.map(approve, calls))
    assert answers.pop((200, "")) == 3
    assert {code for code, _ in answers} == {409}
    assert {code for _, code in answers} <= {"ALREADY_APPROVED", "NOT_PENDING"}
    with open_store(place) as state:
        request = state.requests.get(name)
        assert request is not None
        assert request.status == "approved"
        assert sorted(each.approver for each in request.approvals) == [
            "person:ann",
            "person:ben",
            "person:eva",
        ]
        (grant,) = state.grants.list("agent:cas")
        assert sorted(grant.approved_by) == ["person:ann", "person:ben", "person:eva"]
        assert verify(state).findings == ()


def test_a_guessed_key_learns_nothing_at_any_server(pair: Pair) -> None:
    """Unknown, nearly right, revoked and expired keys get one answer; each server refuses after twenty, and no right key."""
    right, revoked = (new_key(pair.place, ["read"]) for _ in range(2))
    expired = new_key(pair.place, ["read"], seconds=0.5)
    with open_store(pair.place) as store:
        (number,) = [each.key_id for each in store.keys.list()][1:2]
        store.keys.revoke(number, actor="test")
    threading.Event().wait(0.6)
    near = right[:-1] + ("A" if right[-1] != "A" else "B")
    shown = [
        revoked, expired, near, right[:-1], right + "A", right.lower(), right.upper(), "orgk_" + "A" * 43, "orgk_",
        "A" * 43, "é" * 20, "orgk_" + "é" * 43,
    ]  # fmt: skip
    for server in pair.servers:
        answers = {
            (done.status_code, hide_id(done.json())) for done in (ask(server, secret) for secret in shown)
        }
        assert len(answers) == 1, answers
        ((status, _),) = answers
        assert status == 401
        statuses = Counter(ask(server, f"orgk_{number:043}").status_code for number in range(GUESSES))
        assert statuses[401] < GUESSES
        refused = ask(server, near)
        assert (refused.status_code, refused.json()["code"]) == (429, "TOO_MANY_FAILURES")
        assert int(refused.headers["Retry-After"]) >= 1
        assert ask(server, right).status_code == 200


def ask(server: Server, secret: str) -> httpx2.Response:
    return httpx2.get(
        f"{server.url}/v1/orgs", headers={"Authorization": f"Bearer {secret}".encode("latin-1")}, timeout=PATIENCE
    )  # fmt: skip


def hide_id(problem: dict[str, Any]) -> str:
    """The problem without what differs in every answer."""
    return repr(
        sorted((name, value) for name, value in problem.items() if name not in ("instance", "request_id"))
    )
