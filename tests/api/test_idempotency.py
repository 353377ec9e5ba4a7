"""`Idempotency-Key`: a repeated change is answered again and made once, on every route that changes something."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from textwrap import dedent

import pytest
from starlette.testclient import TestClient

from manifest_api.openapi import build_openapi
from orgkernel.kernel.kernel import Kernel
from orgkernel.state.location import StoreLocation
from tests.api.asking import problem, stored_client
from tests.api.keys import bearer, first_key, new_key, opened
from tests.decisions.test_six_connections import FILES
from tests.support.trees import write_tree

RESULT = {"qualification": "theory", "score": 0.9}
PATH = "/v1/orgs/active/agents/ann/results"


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    return Kernel.open(
        write_tree(tmp_path_factory.mktemp("ship"), {name: dedent(text) for name, text in FILES.items()})
    )


@pytest.fixture
def ship(documents: Kernel, file: StoreLocation) -> Iterator[TestClient]:
    with stored_client(documents, file) as client:
        yield client


def count_results(file: StoreLocation) -> int:
    with opened(file) as store:
        return len(store.read_view("ship").results.get("ann", ()))


def with_key(secret: str, key: str) -> dict[str, str]:
    return {**bearer(secret), "Idempotency-Key": key}


def test_a_repeated_change_is_made_once(ship: TestClient, file: StoreLocation) -> None:
    """The second answer is the first one with the header Idempotency-Replayed, and nothing is recorded again."""
    headers = with_key(first_key(file), "a7")
    first = ship.post("/v1/orgs/active/agents/ann/results", json=RESULT, headers=headers)
    again = ship.post("/v1/orgs/active/agents/ann/results", json=RESULT, headers=headers)
    assert first.status_code == again.status_code == 201, first.text
    assert (again.json(), again.headers["Content-Type"]) == (first.json(), first.headers["Content-Type"])
    assert ("Idempotency-Replayed" in first.headers, again.headers["Idempotency-Replayed"]) == (False, "true")
    assert count_results(file) == 1


def test_a_key_stands_for_one_request(ship: TestClient, file: StoreLocation) -> None:
    """Another body or another path with the same key is refused, and changes nothing."""
    headers = with_key(first_key(file), "a7")
    assert ship.post(PATH, json=RESULT, headers=headers).status_code == 201
    problem(ship.post(PATH, json={**RESULT, "score": 0.5}, headers=headers), 422, "IDEMPOTENCY_KEY_REUSED")
    exercise = "/v1/orgs/active/agents/ann/skills"
    problem(ship.post(exercise, json={"skill": "maps"}, headers=headers), 422, "IDEMPOTENCY_KEY_REUSED")
    assert count_results(file) == 1


def test_callers_do_not_share_keys(ship: TestClient, file: StoreLocation) -> None:
    """Two callers may choose the same key: neither sees the response of the other."""
    first, second = first_key(file), new_key(file, ["rank"], agent="eve")
    assert ship.post(PATH, json={**RESULT, "run": "r1"}, headers=with_key(first, "1")).status_code == 201
    other = ship.post(PATH, json={**RESULT, "score": 0.8, "run": "r2"}, headers=with_key(second, "1"))
    assert (other.status_code, "Idempotency-Replayed" in other.headers) == (201, False)


def test_a_refusal_is_answered_again(ship: TestClient, file: StoreLocation) -> None:
    """The first response counts, even if the change would be possible now."""
    headers = with_key(first_key(file), "p")
    skills = "/v1/orgs/active/agents/ann/skills"
    problem(ship.post(skills, json={"skill": "helm"}, headers=headers), 409, "PREREQUISITE_MISSING")
    again = ship.post(skills, json={"skill": "helm"}, headers=headers)
    problem(again, 409, "PREREQUISITE_MISSING")
    assert again.headers["Idempotency-Replayed"] == "true"


def test_a_request_that_runs_is_not_run_beside_itself(ship: TestClient, file: StoreLocation) -> None:
    """Of simultaneous repetitions, exactly one makes the change. The others get its answer, or 409 while it is
    running.
    """
    headers, gate = with_key(first_key(file), "race"), threading.Barrier(6)

    def send(_: int) -> int:
        gate.wait()
        return ship.post(PATH, json=RESULT, headers=headers).status_code

    with ThreadPoolExecutor(6) as threads:
        statuses = list(threads.map(send, range(6)))
    assert set(statuses) <= {201, 409}
    assert 201 in statuses
    assert count_results(file) == 1


def test_a_request_without_a_response_is_not_run_again(ship: TestClient, file: StoreLocation) -> None:
    """If a server was killed before it stored a response, the outcome is unknown, so a repetition is refused."""
    from orgkernel.operations.idempotency import digest_request

    secret = first_key(file)
    sent = ship.build_request("POST", PATH, json=RESULT)
    with opened(file) as store:
        caller = f"caller:{store.keys.list()[0].key_id}"
        store.idempotency_keys.begin(caller, "dead", digest_request("POST", PATH, b"", sent.read()))
    problem(ship.post(PATH, json=RESULT, headers=with_key(secret, "dead")), 409, "IDEMPOTENCY_KEY_IN_USE")
    assert count_results(file) == 0


@pytest.mark.parametrize("key", ["", "with space", "é", "x" * 256])
def test_a_key_that_is_not_one_is_refused(ship: TestClient, file: StoreLocation, key: str) -> None:
    """A client that believes itself protected must not be."""
    headers = {**bearer(first_key(file)), "Idempotency-Key": key.encode("latin-1")}
    problem(ship.post(PATH, json=RESULT, headers=headers), 400, "BAD_REQUEST")
    assert count_results(file) == 0


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_a_method_that_a_route_does_not_have_is_refused_as_such(
    ship: TestClient, file: StoreLocation, method: str
) -> None:
    """A key that another request used changes nothing about it: only POST changes something."""
    headers = with_key(first_key(file), "a7")
    assert ship.post(PATH, json=RESULT, headers=headers).status_code == 201
    assert ship.request(method, PATH, json=RESULT, headers=headers).status_code == 405
    assert count_results(file) == 1


def test_every_change_is_a_post() -> None:
    """Keys are looked at for no other method."""
    assert {method for operations in build_openapi()["paths"].values() for method in operations} == {
        "get",
        "post",
    }
