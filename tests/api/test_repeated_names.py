"""A body in which an object has a name twice is refused on every route, because two readers could read two questions."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from tests.api.asking import problem

JSON = {"content-type": "application/json"}
AUTHZEN = '"subject": {"type": "role", "id": "co"}, "action": {"name": "use"}, "resource": {"type": "tool", "id": "x"}'
BODIES = {
    "/access/v1/evaluation": f'{{{AUTHZEN}, "subject": {{"type": "role", "id": "x"}}}}',
    "/access/v1/evaluations": f'{{{AUTHZEN}, "evaluations": [{{"resource": {{"type": "tool", "type": "role"}}}}]}}',
    "/access/v1/search/subject": f'{{{AUTHZEN}, "context": {{"a": {{"b": 1, "\\u0062": 2}}}}}}',
    "/access/v1/search/resource": f'{{{AUTHZEN}, "page": {{"limit": 1, "limit": 2}}}}',
    "/access/v1/search/action": f'{{{AUTHZEN}, "ignored": [{{"a": 1, "a": 1}}]}}',
}


@pytest.mark.parametrize("path", BODIES)
def test_authzen_refuses_repeated_names(client: TestClient, path: str) -> None:
    """At any depth, after escapes are read, and also where nothing is read."""
    response = client.post(path, content=BODIES[path], headers=JSON)
    found = problem(response, 400, "BAD_EVALUATION")
    assert "more than once" in found["detail"]


@pytest.mark.parametrize(
    "path",
    [
        "/v1/orgs/software_dev/why",
        "/v1/orgs/software_dev/who-can",
        "/v1/orgs/software_dev/what-can",
        "/v1/orgs/software_dev/dispatch",
    ],
)
def test_our_own_routes_refuse_them_too(client: TestClient, path: str) -> None:
    """With the status of a body that does not fit."""
    bodies = {
        "/v1/orgs/software_dev/why": '"subject": "role:co", "action": "use", "resource": "tool:x", "action": "read"',
        "/v1/orgs/software_dev/who-can": '"action": "use", "resource": "tool:x", "resource": "tool:y"',
        "/v1/orgs/software_dev/what-can": '"subject": "role:co", "subject": "role:xo"',
    }
    body = bodies.get(path, '"domain": "bugfix", "domain": "codegen"')
    problem(client.post(path, content=f"{{{body}}}", headers=JSON), 422, "INVALID_REQUEST")


def test_a_long_number_is_read_as_text(client: TestClient) -> None:
    """Looking for names never fails on what the body may hold."""
    body = f'{{{AUTHZEN}, "context": {{"org": "software_dev", "n": {"9" * 5000}}}}}'
    assert client.post("/access/v1/evaluation", content=body, headers=JSON).status_code in (200, 400)
