"""From which version an answer is: tags, the cache, stale and refused organizations, readiness."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from orgkernel.kernel.kernel import Kernel
from tests.api.asking import BAD_LINE, GOOD_LINE, ORG, ORG_FILE, ROLE, ROLE_FILE, client_of, problem
from tests.support.trees import change_line, copy_template

MANIFEST = f"/v1/orgs/{ORG}/manifest"
DISPATCH = f"/v1/orgs/{ORG}/dispatch"


@pytest.mark.parametrize(
    "path",
    [
        "/v1/orgs",
        f"/v1/orgs/{ORG}",
        MANIFEST,
        f"/v1/orgs/{ORG}/roles/{ROLE}",
        "/v1/diagnostics",
        "/v1/snapshot",
    ],
)
def test_etag(client: TestClient, path: str) -> None:
    """A client that already has the answer gets 304; the tag is strong and equal for equal answers."""
    first = client.get(path)
    etag = first.headers["etag"]
    assert etag.startswith('"')
    assert first.headers["cache-control"] == "no-cache"
    for condition in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        again = client.get(path, headers={"if-none-match": condition})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == etag
        assert again.headers["orgkernel-snapshot"] == first.headers["orgkernel-snapshot"]
    assert client.get(path, headers={"if-none-match": '"other"'}).status_code == 200


def test_etags_tell_questions_apart(client: TestClient) -> None:
    """Different answers have different tags."""
    queries = ["", "?limit=1", "?limit=2", "?role_type=executive", "?role_type=commander"]
    assert len({client.get(MANIFEST + query).headers["etag"] for query in queries}) == len(queries)


def test_answers_are_kept_until_a_reload(folder: Path) -> None:
    """The same question is answered from the cache; after a reload from the new version."""
    kernel = Kernel.open(folder)
    client = client_of(kernel)
    path = f"/v1/orgs/{ORG}/roles/{ROLE}"
    cache = client.app.state.answers.cache
    first = client.get(path)
    assert [client.get(path).content for _ in range(3)] == [first.content] * 3
    assert len(cache) == 1
    change_line(folder / ROLE_FILE, "role_name: Codegen Specialist", "role_name: Code Writer")
    kernel.reload()
    second = client.get(path, headers={"if-none-match": first.headers["etag"]})
    assert second.status_code == 200
    assert second.json()["role_name"] == "Code Writer"
    assert second.headers["orgkernel-snapshot"] != first.headers["orgkernel-snapshot"]


def test_refused_requests_fill_no_cache(templates: Kernel) -> None:
    """Only answers are kept: not refusals, not problems, not undocumented paths."""
    client = client_of(templates)
    client.get("/v1/orgs", headers={"host": "example.org"})
    client.get("/v1/orgs/nope")
    client.get("/nope")
    client.get(f"{MANIFEST}?nope=1")
    assert len(client.app.state.answers.cache) == 0


def test_stale_answers_say_so(folder: Path) -> None:
    """After a bad edit the last good version answers and says so; the reason is shown; a good edit ends it."""
    kernel = Kernel.open(folder)
    client = client_of(kernel)
    path = f"/v1/orgs/{ORG}/roles/{ROLE}"
    fresh = client.get(path)
    change_line(folder / ORG_FILE, GOOD_LINE, BAD_LINE)
    kernel.reload()
    stale = client.get(path)
    assert (stale.content, stale.headers["orgkernel-stale"]) == (fresh.content, "true")
    unchanged = client.get(path, headers={"if-none-match": fresh.headers["etag"]})
    assert (unchanged.status_code, unchanged.headers["orgkernel-stale"]) == (304, "true")
    assert client.post(DISPATCH, json={"domain": "bugfix"}).headers["orgkernel-stale"] == "true"
    missing = client.get(f"/v1/orgs/{ORG}/roles/nobody")
    assert (missing.status_code, missing.headers["orgkernel-stale"]) == (404, "true")
    ready = client.get("/readyz")
    assert ready.status_code == 200
    assert ready.json()["status"] == "degraded"
    (standing,) = ready.json()["organizations"]
    assert (standing["standing"], standing["errors"]) == ("stale", 1)
    assert ":7:11 ORG103" in standing["reason"]
    diagnostics = client.get("/v1/diagnostics").json()
    assert diagnostics["not_fresh"] == [standing]
    assert [(each["code"], each["line"], each["column"]) for each in diagnostics["diagnostics"]] == [
        ("ORG103", 7, 11)
    ]
    assert client.get("/v1/snapshot").json()["organizations"][0]["standing"] == "stale"
    change_line(folder / ORG_FILE, BAD_LINE, GOOD_LINE)
    kernel.reload()
    assert "orgkernel-stale" not in client.get(path).headers
    assert client.get("/readyz").json()["status"] == "ready"


def test_organization_with_errors_from_the_start(tmp_path: Path) -> None:
    """An organization that never was in order is 503 with what was found; the rest is served."""
    copy_template(tmp_path / "sigint_alpha", "sigint_alpha")
    copy_template(tmp_path / ORG, ORG)
    change_line(tmp_path / ORG / ORG_FILE, GOOD_LINE, BAD_LINE)
    client = client_of(Kernel.open(tmp_path))
    for response in (
        client.get(f"/v1/orgs/{ORG}"),
        client.get(MANIFEST),
        client.get(f"/v1/orgs/{ORG}/roles/{ROLE}"),
        client.post(DISPATCH, json={"domain": "bugfix"}),
    ):
        said = problem(response, 503, "NOT_SERVED")
        assert [(each["code"], each["line"]) for each in said["diagnostics"]] == [("ORG103", 7)]
    assert client.get("/v1/orgs/sigint_alpha").status_code == 200
    assert client.get("/v1/orgs/active").json()["org_id"] == "sigint_alpha"
    lines = {each["org_id"]: each["standing"] for each in client.get("/v1/orgs").json()["organizations"]}
    assert lines == {"sigint_alpha": "served", ORG: "refused"}
    assert client.get("/readyz").json()["status"] == "degraded"


@pytest.mark.parametrize(
    "text", ["", "org_id: [", "_schema: orgkernel:organization\norg_id: software_dev\n\tx"]
)
def test_unreadable_organization_file(folder: Path, text: str) -> None:
    """An organization whose own file cannot be read is 503, not 404."""
    (folder / "org.yaml").write_text(text, encoding="utf-8")
    client = client_of(Kernel.open(folder))
    said = problem(client.get(f"/v1/orgs/{ORG}"), 503, "NOT_SERVED")
    assert [each["line"] for each in said["diagnostics"]]
    problem(client.get("/readyz"), 503, "NOT_READY")


def test_not_ready(folder: Path) -> None:
    """When nothing can be answered for, readiness is 503 and says why; liveness is not affected."""
    change_line(folder / ORG_FILE, GOOD_LINE, BAD_LINE)
    client = client_of(Kernel.open(folder))
    said = problem(client.get("/readyz"), 503, "NOT_READY")
    assert [(each["org_id"], each["standing"]) for each in said["organizations"]] == [(ORG, "refused")]
    assert [each["code"] for each in said["diagnostics"]] == ["ORG103"]
    assert client.get("/livez").json() == {"status": "alive"}


def test_nothing_there(tmp_path: Path) -> None:
    """A registry without an organization says so everywhere."""
    client = client_of(Kernel.open(tmp_path))
    assert client.get("/v1/orgs").json()["organizations"] == []
    problem(client.get("/v1/orgs/active"), 404, "UNKNOWN_ORGANIZATION")
    problem(client.get("/readyz"), 503, "NOT_READY")
