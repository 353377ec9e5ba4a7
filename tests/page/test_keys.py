"""Keys: a server that asks for one, what a key with few rights shows, and where a key is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.keys import location_of, new_key
from tests.api.running import Server, running
from tests.page.accessibility import find_violations
from tests.page.proxy import proxying
from tests.page.test_views import wait_for
from tests.support.browser import Page
from tests.support.trees import TEMPLATES

pytestmark = pytest.mark.browser
PREFIX = "/tools/registry/"


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Path]]:
    """A server of one organization with a store."""
    folder = tmp_path_factory.mktemp("keys")
    store = folder / "state.db"
    new_key(location_of(store), ["admin"])
    with running(folder, TEMPLATES / "software_dev", store=store) as server:
        yield server, store


@pytest.fixture(scope="module")
def proxied(stored: tuple[Server, Path]) -> Iterator[str]:
    """The page behind a proxy below a path, so that every request needs a key."""
    with proxying(stored[0].url, PREFIX, {"X-Forwarded-For": "192.0.2.7"}) as url:
        yield url + PREFIX


def sign_in(page: Page, secret: str) -> None:
    """Type a key, as a user does, again if the page drew the field again meanwhile."""
    field = "document.querySelector('input[type=password]')"
    page.wait(field)
    for _ in range(10):
        page.run(f"{field}.value = ''; {field}.focus()")
        page.type(secret)
        if page.run(f"{field}.value") == secret:
            break
    page.press("Enter")


def expect_problems(page: Page, *statuses: int) -> None:
    """The console shows what the server refused, and nothing else."""
    unexpected = [
        each for each in page.problems if not any(f"status of {status}" in each for status in statuses)
    ]
    page.forget()
    assert unexpected == []


def test_a_key_opens_the_page_behind_a_proxy(page: Page, stored: tuple[Server, Path], proxied: str) -> None:
    """The page is public and asks for a key. With one, a deep link below the path is shown, and signing out closes it."""
    page.forget()
    page.open(f"{proxied}#/orgs/software_dev/roles/co")
    wait_for(page, "This server asks for a key")
    assert find_violations(page) == []
    sign_in(page, new_key(location_of(stored[1]), ["read"]))
    wait_for(page, "Chain of command")
    assert "Commanding Officer" in page.text()
    own = proxied.removesuffix(PREFIX)
    assert {each for each in page.requested if not each.startswith(own + PREFIX)} == set()
    page.run("[...document.querySelectorAll('button')].find(each => each.innerText === 'Sign out').click()")
    wait_for(page, "This server asks for a key")
    assert "Commanding Officer" not in page.text()
    expect_problems(page, 401)


def test_a_key_is_kept_in_memory_only(page: Page, stored: tuple[Server, Path], proxied: str) -> None:
    """It is in no address, no storage and no field, and a reload forgets it. It goes to this server only."""
    secret = new_key(location_of(stored[1]), ["read"])
    page.forget()
    page.open(f"{proxied}#/orgs/software_dev/organization?view=table")
    sign_in(page, secret)
    wait_for(page, "Codegen Specialist")
    kept = page.run(
        "JSON.stringify([location.href, document.cookie, {...localStorage}, {...sessionStorage}, history.state, document.documentElement.outerHTML,"
        " [...document.querySelectorAll('input')].map(each => each.value), performance.getEntriesByType('resource').map(each => each.name)])"
    )
    assert secret not in kept
    assert json.loads(kept)[1:4] == ["", {}, {}]
    assert page.run("indexedDB.databases().then(each => each.length)") == 0
    assert page.run("window.caches ? caches.keys().then(each => each.length) : 0") == 0
    assert [each for each in page.requested if secret in each] == []
    page.run("location.reload()")
    wait_for(page, "This server asks for a key")
    expect_problems(page, 401)


def test_a_wrong_key_is_explained(page: Page, proxied: str) -> None:
    """The problem of the API is shown with its remedy, and the form is still there."""
    page.forget()
    page.open("about:blank#")
    page.open(proxied)
    sign_in(page, "orgk_" + "A" * 43)
    wait_for(page, "unknown, expired or revoked")
    assert "orgkernel key list" in page.text()
    assert page.run("Boolean(document.querySelector('input[type=password]'))")
    expect_problems(page, 401)


def test_a_missing_right_is_named(page: Page, stored: tuple[Server, Path], proxied: str) -> None:
    """A key without the scope `read` opens nothing, and the page names the scope."""
    page.forget()
    page.open("about:blank#")
    page.open(proxied)
    sign_in(page, new_key(location_of(stored[1]), ["report"]))
    wait_for(page, "Your key may not do this")
    assert "use a credential with the scope read" in page.text()
    assert find_violations(page) == []
    expect_problems(page, 401, 403)


def test_the_only_organization_is_shown_at_once(page: Page, stored: tuple[Server, Path]) -> None:
    """Without a key on loopback, and without a chooser. The back button does not come back to an empty start."""
    page.forget()
    page.open("about:blank#")
    page.open(f"{stored[0].url}/")
    wait_for(page, "Commanding Officer")
    assert page.run("location.hash") == "#/orgs/software_dev/organization"
    assert page.run("document.querySelectorAll('.top select').length") == 0
    expect_problems(page)
