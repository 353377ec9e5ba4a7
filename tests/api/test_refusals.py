"""What is refused, in process: requests that do not fit, requests from elsewhere, faults of ours."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from manifest_api.guards.limits import MAX_BODY
from manifest_api.problems import KINDS
from orgkernel.kernel.kernel import Kernel
from tests.api.asking import ORG, ROLE, client_of, problem

MANIFEST = f"/v1/orgs/{ORG}/manifest"
DISPATCH = f"/v1/orgs/{ORG}/dispatch"


def test_bad_cursor(client: TestClient) -> None:
    """A cursor that is no role of the organization is refused."""
    problem(client.get(MANIFEST, params={"cursor": "nobody"}), 409, "BAD_CURSOR")


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ("limit=0", "query.limit"), ("limit=201", "query.limit"), ("limit=x", "query.limit"),
        ("role_type=wizard", "query.role_type"), ("tol=x", "query.tol"), ("tool=a&tool=b", "query.tool"),
        ("domain=", "query.domain"), (f"plan={'x' * 201}", "query.plan"),
    ],
)  # fmt: skip
def test_bad_query(client: TestClient, query: str, where: str) -> None:
    """A parameter that is unknown, repeated or of the wrong kind is refused, and named."""
    said = problem(client.get(f"{MANIFEST}?{query}"), 422, "INVALID_REQUEST")
    assert [error["where"] for error in said["errors"]] == [where]


def test_misspelled_parameter_has_a_suggestion(client: TestClient) -> None:
    """A misspelled filter is not ignored: the answer would be of another question."""
    said = problem(client.get(f"{MANIFEST}?tol=x"), 422, "INVALID_REQUEST")
    assert said["errors"] == [{"where": "query.tol", "message": "is not known; did you mean `tool`?"}]


@pytest.mark.parametrize(
    "path", ["/api/ontology/crew-manifest", "/v1/orgs/active", "/v1/orgs/active/manifest"]
)
def test_ambiguous_active(client: TestClient, path: str) -> None:
    """With several organizations and none active, they are listed."""
    said = problem(client.get(path), 409, "AMBIGUOUS_ACTIVE")
    assert [each["org_id"] for each in said["organizations"]] == [
        "blank", "household", "omega", "sigint_alpha", "software_dev", "starship",
    ]  # fmt: skip


def test_unknown_names_have_suggestions(client: TestClient) -> None:
    """A misspelled id is 404 and says what it may have meant."""
    said = problem(client.get("/v1/orgs/sofware_dev"), 404, "UNKNOWN_ORGANIZATION")
    assert said["help"] == "did you mean `software_dev`?"
    said = problem(client.get(f"/v1/orgs/{ORG}/roles/codegn_specialist"), 404, "UNKNOWN_ROLE")
    assert said["help"] == "did you mean `codegen_specialist`?"


@pytest.mark.parametrize(
    "name",
    [
        "a%2Fb", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "..%2Forg.yaml", "org.yaml", "r%C3%B4le", "%00", "%F0%9F%A6%84", "%ED%A0%80",
        "x" * 200, "x" * 10_000, "%0A", " ", "active/", "'; drop table roles",
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/v1/orgs/{}", f"/v1/orgs/{ORG}/roles/{{}}", "/v1/orgs/{}/manifest"])
def test_hostile_id(client: TestClient, path: str, name: str) -> None:
    """Whatever stands where an id should, the answer is a clean 404 that says little of it."""
    response = client.get(path.format(name))
    assert response.status_code == 404, response.text
    said = problem(response, 404, response.json()["code"])
    assert said["code"] in ("UNKNOWN_ORGANIZATION", "UNKNOWN_ROLE", "UNKNOWN_ROUTE")
    assert len(response.content) < 800


@pytest.mark.parametrize(
    ("body", "where", "message"),
    [
        ("{}", "body", "does not have exactly one of `domain`, `intent` and `text`"),
        (
            '{"domain": "a", "text": "b"}',
            "body",
            "does not have exactly one of `domain`, `intent` and `text`",
        ),
        ('{"text": 1}', "body.text", "expected a string, got a number"),
        ('{"domain": 1}', "body.domain", "expected a string, got a number"),
        ('{"domain": null}', "body.domain", "expected a string, got `null`"),
        ('{"domain": ""}', "body.domain", "expected a string of at least 1 character"),
        ('{"domain": "a", "needs": "b"}', "body.needs", "expected a list, got a string"),
        ('{"domain": "a", "needs": ["b", 3]}', "body.needs[1]", "expected a string, got a number"),
        (
            '{"domain": "a", "all_considered": 1}',
            "body.all_considered",
            "expected true or false, got a number",
        ),
        ('{"domain": "a", "org": "b"}', "body", "has the unknown field `org`"),
        ("[]", "body", "expected an object, got a list"),
    ],
)
def test_dispatch_body_is_strict(client: TestClient, body: str, where: str, message: str) -> None:
    """A body that does not fit is refused with the place that does not."""
    response = client.post(DISPATCH, content=body, headers={"content-type": "application/json"})
    said = problem(response, 422, "INVALID_REQUEST")
    assert said["errors"] == [{"where": where, "message": message}]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"nope", b'{"domain": "\xff"}', b'{"domain": "\\ud800"}', b"[" * 60_000]
)
def test_dispatch_body_is_not_json(client: TestClient, body: bytes) -> None:
    """A body that is not JSON is refused as such, however deep it is."""
    response = client.post(DISPATCH, content=body, headers={"content-type": "application/json"})
    assert response.status_code in (400, 422), response.text
    problem(response, response.status_code, "BAD_JSON" if response.status_code == 400 else "INVALID_REQUEST")


@pytest.mark.parametrize(
    "media_type", ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonp"]
)
def test_dispatch_body_is_not_said_to_be_json(client: TestClient, media_type: str) -> None:
    """A body of another media type is refused, so that a form on a web page cannot send one."""
    response = client.post(DISPATCH, content='{"domain": "bugfix"}', headers={"content-type": media_type})
    problem(response, 415, "NOT_JSON")


def test_body_too_large(client: TestClient) -> None:
    """A body over the limit is refused, by its announced length or by what arrives."""
    large = b'{"domain": "' + b"x" * MAX_BODY + b'"}'
    headers = {"content-type": "application/json"}
    problem(client.post(DISPATCH, content=large, headers=headers), 413, "BODY_TOO_LARGE")
    problem(client.post(DISPATCH, content=iter([large]), headers=headers), 413, "BODY_TOO_LARGE")
    problem(client.request("GET", "/v1/orgs", content=large), 413, "BODY_TOO_LARGE")


def test_query_too_long(client: TestClient) -> None:
    """A query string over the limit is refused."""
    problem(client.get(f"/v1/orgs?x={'y' * 5000}"), 414, "QUERY_TOO_LONG")


@pytest.mark.parametrize(
    "path", ["/v1", "/v1/orgs/", "/v2/orgs", "/v1/orgs/a/b/c/d", "/docs/", "/../etc/passwd"]
)
def test_unknown_route(client: TestClient, path: str) -> None:
    """An unknown path is answered with a problem document."""
    problem(client.get(path), 404, "UNKNOWN_ROUTE")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("POST", "/v1/orgs", "GET, HEAD"), ("DELETE", f"/v1/orgs/{ORG}", "GET, HEAD"), ("GET", DISPATCH, "POST"),
     ("HEAD", DISPATCH, "POST"), ("OPTIONS", "/livez", "GET, HEAD")],
)  # fmt: skip
def test_wrong_method(client: TestClient, method: str, path: str, allowed: str) -> None:
    """A method the path does not have is refused with those it has."""
    response = client.request(method, path)
    assert (response.status_code, response.headers["allow"]) == (405, allowed)
    if method != "HEAD":
        problem(response, 405, "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize(
    "address", ["10.0.0.1", "192.168.1.5", "::2", "testclient", "::ffff:10.0.0.1", "0.0.0.0"]
)
def test_other_machines_may_not_ask(templates: Kernel, address: str) -> None:
    """A connection from elsewhere is refused, whatever it says."""
    problem(client_of(templates, address).get("/v1/orgs"), 403, "NOT_LOOPBACK")


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.8.7", "::1", "::ffff:127.0.0.1"])
def test_this_machine_may_ask(templates: Kernel, address: str) -> None:
    """Every loopback address may ask."""
    assert client_of(templates, address).get("/v1/orgs").status_code == 200


@pytest.mark.parametrize(
    "name", ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "x-forwarded-anything", "X-Real-IP", "Via"]
)
def test_forwarded_requests_are_refused(client: TestClient, name: str) -> None:
    """What a proxy hands on may come from anywhere."""
    problem(client.get("/v1/orgs", headers={name: "127.0.0.1"}), 403, "FORWARDED")


@pytest.mark.parametrize(
    "host",
    ["example.org", "example.org:8000", "localhost.example.org", "127.0.0.1.example.org", "10.0.0.1", "0.0.0.0", "[::2]", "",
     "localhost:x", "user@localhost", "localhost,example.org", "::1", "127.0.0.1:8000:1", "2130706433"],
)  # fmt: skip
def test_foreign_hosts_are_refused(client: TestClient, host: str) -> None:
    """A Host that is not this machine is refused: a page could have pointed its own name here."""
    problem(client.get("/v1/orgs", headers={"host": host}), 403, "FOREIGN_HOST")


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1", "127.1.2.3:8000", "[::1]", "[::1]:8000"]
)
def test_own_hosts_are_accepted(client: TestClient, host: str) -> None:
    """Every name of the loopback interface is accepted, with any port."""
    assert client.get("/v1/orgs", headers={"host": host}).status_code == 200


def test_security_headers(client: TestClient) -> None:
    """Every response forbids guessing its type and being embedded or read by other sites."""
    for response in (
        client.get("/v1/orgs"),
        client.get("/nope"),
        client.get("/v1/orgs", headers={"host": "a.b"}),
    ):
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["content-security-policy"].startswith("default-src 'none'")
        assert response.headers["cross-origin-resource-policy"] == "same-origin"
        assert not [name for name in response.headers if name.startswith("access-control-")]


def test_fault_is_logged_and_not_told(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A fault of ours is 500 without a word of what it was; the log has it whole."""

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the secret is in the cellar")

    monkeypatch.setattr(Kernel, "manifest_bytes", fail)
    response = client.get(f"/v1/orgs/{ORG}/roles/{ROLE}")
    problem(response, 500, "INTERNAL")
    assert "cellar" not in response.text
    assert "Traceback" not in response.text
    assert "the secret is in the cellar" in caplog.text


@pytest.mark.parametrize("code", sorted(KINDS))
def test_problem_codes_are_explained(client: TestClient, code: str) -> None:
    """The type of every problem leads to an explanation."""
    assert client.get(f"/problems/{code}").json()["code"] == code


def test_unknown_problem_code(client: TestClient) -> None:
    """An unknown problem code is answered with 404 and a suggestion."""
    said = problem(client.get("/problems/unknown_rol"), 404, "UNKNOWN_PROBLEM")
    assert said["help"] == "did you mean `UNKNOWN_ROLE`?"
