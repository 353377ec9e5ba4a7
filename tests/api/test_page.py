"""The page and its files as answers: public and static, with a strict security policy, and the same for every caller."""

from __future__ import annotations

import gzip
import re

import pytest
from starlette.testclient import TestClient

from manifest_api.page_files import BUILT, COPY_PAGE, COPY_SCRIPT, FILES
from orgkernel.kernel.kernel import Kernel
from orgkernel.state.location import StoreLocation
from tests.api.asking import client_of, problem, stored_client
from tests.api.keys import bearer, first_key, new_key

MOST_BYTES = 120_000


def read_policy(client: TestClient, path: str) -> dict[str, list[str]]:
    """The directives of the security policy of an answer."""
    policy = client.get(path).headers["content-security-policy"]
    return {name: values for name, *values in (each.split() for each in policy.split(";"))}


@pytest.mark.parametrize("path", FILES)
def test_a_file_of_the_page_is_what_was_built(client: TestClient, path: str) -> None:
    """Byte for byte, with its type, and nothing of an organization or a caller in it."""
    name, media_type = FILES[path]
    response = client.get(path)
    assert response.content == (BUILT / name).read_bytes()
    assert response.headers["content-type"].startswith(media_type)
    assert response.headers["cache-control"] == "no-cache"
    assert client.get(path, headers={"If-None-Match": response.headers["etag"]}).status_code == 304
    head = client.head(path)
    assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", response.headers["etag"])


def test_every_built_file_is_served() -> None:
    """None is missing, and none is left over, except those of a copy without a server."""
    served = {name for name, _ in FILES.values()}
    assert {each.name for each in BUILT.iterdir()} == served | {COPY_SCRIPT, COPY_PAGE}


@pytest.mark.parametrize("path", FILES)
def test_the_policy_allows_this_server_only(client: TestClient, path: str) -> None:
    """No inline script or style, no evaluated string, no other host, no frame, no string that becomes markup."""
    policy = read_policy(client, path)
    assert (
        policy["default-src"]
        == policy["base-uri"]
        == policy["form-action"]
        == policy["frame-ancestors"]
        == ["'none'"]
    )
    for name in ("script-src", "style-src", "img-src", "connect-src"):
        assert policy[name] == ["'self'"]
    assert policy["require-trusted-types-for"] == ["'script'"]
    assert policy["trusted-types"] == ["'none'"]
    assert not [
        value
        for values in policy.values()
        for value in values
        if "unsafe" in value or "http" in value or "*" in value
    ]
    headers = client.get(path, headers={"Origin": "https://elsewhere.invalid"}).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == headers["cross-origin-opener-policy"] == "same-origin"
    assert not [name for name in headers if name.startswith("access-control-")]


def test_the_page_has_nothing_inline_and_only_relative_addresses() -> None:
    """It works below any path of a proxy, and under its own policy."""
    html = (BUILT / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", html) == []
    addresses = re.findall(r'(?:src|href)="([^"]*)"', html)
    assert {"page/page.js", "page/page.css", "page/icon.svg"} <= set(addresses)
    assert not [each for each in addresses if each.startswith(("/", "http", "//"))]
    css = (BUILT / "page.css").read_text(encoding="utf-8")
    assert "url(" not in css
    assert "@import" not in css


def test_the_first_load_is_small() -> None:
    """At most 120 kB, compressed as the server does it, with every view. A view that is not opened is not even loaded."""
    files = [path for path in FILES if path != "/page/licenses.txt"]
    assert sum(len(gzip.compress((BUILT / FILES[path][0]).read_bytes(), 3)) for path in files) <= MOST_BYTES
    entry = (BUILT / "page.js").read_text(encoding="utf-8")
    first = set(re.findall(r'from"\./(part-[\w-]+\.js)"', entry))
    later = set(re.findall(r'import\("\./(part-[\w-]+\.js)"\)', entry))
    assert first
    assert len(later) >= 10
    assert not first & later


def test_the_page_needs_no_key_and_everything_else_does(household: Kernel, file: StoreLocation) -> None:
    """Off loopback, behind a proxy, and with `--require-key`: a caller without a key sees the page, which asks for one."""
    secret = first_key(file)
    forwarded = {"X-Forwarded-For": "192.0.2.7"}
    with stored_client(household, file) as client:
        for path in FILES:
            assert client.get(path, headers=forwarded).status_code == 200
            assert client.get(path, headers=forwarded | bearer(secret)).status_code == 200
            problem(client.post(path, json={}, headers=forwarded), 401, "UNAUTHENTICATED")
        problem(client.get("/v1/orgs", headers=forwarded), 401, "UNAUTHENTICATED")
        problem(client.get("/page/other.js", headers=forwarded), 401, "UNAUTHENTICATED")
        problem(client.get("/docs", headers=forwarded), 401, "UNAUTHENTICATED")
        problem(client.get("/", headers=bearer("orgk_" + "A" * 43)), 401, "BAD_CREDENTIAL")
        problem(client.get("/", headers=bearer(new_key(file, ["report"]))), 403, "SCOPE_MISSING")


def test_no_other_file_is_served(client: TestClient) -> None:
    """The names are listed; a path of a request is never opened."""
    for path in (
        "/page",
        "/page/",
        "/page/index.html",
        "/page/../routes/page.py",
        "/page/%2e%2e/routes/page.py",
        "/page/page.js/",
        "/index.html",
    ):
        problem(client.get(path), 404, "UNKNOWN_ROUTE")
    problem(client.post("/", json={}), 405, "METHOD_NOT_ALLOWED")
    problem(client.get("/?org=household"), 422, "INVALID_REQUEST")


def test_the_page_is_compressed_and_the_same_for_every_organization(
    client: TestClient, household: Kernel
) -> None:
    """Only the documents differ, and the page has none of them."""
    answer = client.get("/page/page.js", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    assert client_of(household).get("/page/page.js").content == answer.content
