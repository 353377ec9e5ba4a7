"""Signing in at an identity provider: by code with PKCE in a window of its own, and where the token is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.api.keys import location_of, new_key
from tests.api.running import Server, running
from tests.page.accessibility import find_violations
from tests.page.issuer import AUDIENCE, CLIENT, Issuer, issuing
from tests.page.proxy import proxying
from tests.page.test_keys import PREFIX, expect_problems
from tests.page.test_views import wait_for
from tests.support.browser import Page
from tests.support.trees import TEMPLATES

pytestmark = pytest.mark.browser
_BUTTON = "[...document.querySelectorAll('button')].find(each => each.innerText.startsWith('Sign in at') && !each.disabled)"


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Issuer]:
    """A provider, whose keys are in the folder of the server."""
    with issuing(tmp_path_factory.mktemp("issuer")) as issuer:
        yield issuer


@pytest.fixture(scope="module")
def trusting(issuer: Issuer) -> Iterator[Server]:
    """A server that trusts the provider, and has the page as a client of it."""
    store = issuer.folder / "state.db"
    new_key(location_of(store), ["admin"])
    tokens = json.dumps(issuer.settings)
    with running(issuer.folder, TEMPLATES / "software_dev", store=store, TEST_TOKENS=tokens) as server:
        yield server


@pytest.fixture
def address(trusting: Server, issuer: Issuer) -> Iterator[str]:
    """The page below a path of a proxy, where every request needs a credential."""
    issuer.changed.clear()
    issuer.added.clear()
    issuer.asked.clear()
    issuer.scope = "orgkernel:read"
    with proxying(trusting.url, PREFIX, {"X-Forwarded-For": "192.0.2.7"}) as url:
        yield url + PREFIX


def open_page(page: Page, address: str) -> None:
    page.show_as(1280, 900)
    page.forget()
    page.open("about:blank#")
    page.open(f"{address}#/orgs/software_dev/roles/co")
    wait_for(page, "This server asks for a key")


def start(page: Page, address: str) -> None:
    """Open the page, and sign in by the button."""
    open_page(page, address)
    page.wait(_BUTTON)
    page.run(f"{_BUTTON}.click()")


def test_a_person_signs_in_at_the_provider(page: Page, issuer: Issuer, address: str) -> None:
    """The view of the address is shown, with the rights of the token. The code was asked for with a challenge, and traded once."""
    open_page(page, address)
    page.wait(_BUTTON)
    assert find_violations(page) == []
    page.run(f"{_BUTTON}.focus()")
    page.press("Enter")
    wait_for(page, "Chain of command")
    assert page.run("location.hash") == "#/orgs/software_dev/roles/co"
    asked, traded = issuer.asked
    assert {name: asked[name] for name in ("response_type", "client_id", "scope", "audience", "code_challenge_method", "response_mode")} == {
        "response_type": "code", "client_id": CLIENT, "scope": "openid orgkernel:read", "audience": AUDIENCE,
        "code_challenge_method": "S256", "response_mode": "fragment",
    }  # fmt: skip
    assert asked["redirect_uri"] == f"{address}page/signed-in.html"
    assert len(asked["state"]) >= 43
    assert len(traded["code_verifier"]) >= 43
    assert "code_verifier" not in asked
    expect_problems(page, 401)


def test_the_token_is_kept_in_memory_only(page: Page, issuer: Issuer, trusting: Server, address: str) -> None:
    """No token, code or verifier is in an address, a storage or the log of the server; a reload forgets the token."""
    start(page, address)
    wait_for(page, "Chain of command")
    asked, traded = issuer.asked
    hidden = (issuer.tokens[-1], traded["code"], traded["code_verifier"], asked["state"])
    kept = page.run(
        "JSON.stringify([location.href, document.cookie, {...localStorage}, {...sessionStorage}, history.state, document.documentElement.outerHTML])"
    )
    assert json.loads(kept)[1:4] == ["", {}, {}]
    for each in hidden:
        assert each not in kept
        assert each not in trusting.log
        assert [url for url in page.requested if each in url] == []
    page.run("location.reload()")
    wait_for(page, "This server asks for a key")
    expect_problems(page, 401)


@pytest.mark.parametrize(
    ("changed", "added", "words"),
    [
        ({"issuer": "https://other.example"}, {}, "another name than the one in the settings"),
        ({"token_endpoint": "http://127.0.0.1:1/token"}, {}, "gives tokens at another host"),
        ({"code_challenge_methods_supported": ["plain"]}, {}, "does not support PKCE"),
        ({"authorization_endpoint": "javascript:alert(1)"}, {}, "without TLS"),
        ({}, {"iss": "https://other.example"}, "comes from another identity provider"),
        ({}, {"code": "", "error": "access_denied", "error_description": "<b>no</b>"}, "refused: <b>no</b>"),
        ({}, {"code": "forged"}, "answers with status 400"),
    ],
)
def test_a_provider_that_is_not_the_one_is_refused(
    page: Page, issuer: Issuer, address: str, changed: dict[str, str], added: dict[str, str], words: str
) -> None:
    """The reason is shown as text, and the person is not signed in."""
    issuer.changed.update(changed)
    issuer.added.update(added)
    if changed:
        open_page(page, address)
    else:
        start(page, address)
    wait_for(page, words)
    assert page.run("document.querySelectorAll('main b').length") == 0
    assert "This server asks for a key" in page.text()
    expect_problems(page, 401, 400)


def test_an_answer_with_another_state_is_ignored(page: Page, issuer: Issuer, address: str) -> None:
    """A page of this origin cannot be signed in with the code of another attempt."""
    issuer.added["state"] = "another"
    start(page, address)
    wait_for(page, "Sign in in the other window")
    page.wait("true")
    page.run("new Promise(done => setTimeout(done, 1500))")
    assert "This server asks for a key" in page.text()
    assert len(issuer.asked) == 1
    expect_problems(page, 401)


def test_a_token_with_few_rights_is_explained(page: Page, issuer: Issuer, address: str) -> None:
    """The missing scope is named, as for a key."""
    issuer.scope = "openid"
    start(page, address)
    wait_for(page, "Your key may not do this")
    expect_problems(page, 401, 403)


def test_only_the_provider_may_be_asked(page: Page, issuer: Issuer, trusting: Server, address: str) -> None:
    """The security policy names its origin exactly; every other host is refused by the browser."""
    policy = trusting.get("/").headers["content-security-policy"]
    assert f"connect-src 'self' {issuer.url};" in policy
    open_page(page, address)
    assert page.run("fetch('http://127.0.0.1:1/').then(() => 'asked', error => error.name)") == "TypeError"
    assert any("Content Security Policy" in each for each in page.problems)
    page.forget()
