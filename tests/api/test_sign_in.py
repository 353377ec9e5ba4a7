"""Where a person signs in: what is public about the identity provider, and the settings."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from manifest_api.app import create_app
from manifest_api.guards.tokens import PAGE_SCOPE, read_origin, read_settings
from orgkernel.errors import BadProject
from orgkernel.kernel.kernel import Kernel
from tests.api.asking import client_of, stored_client
from tests.api.keys import first_key, location_of
from tests.page.issuer import Issuer
from tests.support.trees import TEMPLATES

NOTHING = {"issuer": None, "client_id": None, "scope": None, "audience": None}


def test_the_provider_of_the_page_is_public(tmp_path: Path) -> None:
    """The provider is public at every address, because a page reads it before it has a credential. The policy
    of the page allows its origin and no other.
    """
    issuer = Issuer(tmp_path)
    issuer.url = "https://login.example/realms/one"
    settings = read_settings({**issuer.settings, "issuer": issuer.url}, str(tmp_path))
    store = location_of(tmp_path / "state.db")
    first_key(store)
    kernel = Kernel.open(str(TEMPLATES / "software_dev"))
    with stored_client(kernel, store, "192.0.2.7", tokens=settings) as client:
        assert client.get("/v1/orgs").status_code == 401
        assert client.get("/v1/sign-in").json() == {
            "issuer": issuer.url, "client_id": "registry-page", "scope": "openid orgkernel:read", "audience": "https://registry.example",
        }  # fmt: skip
        for path in ("/", "/page/signed-in.html", "/page/signed-in.html?code=a&state=b&whatever=c"):
            answer = client.get(path)
            assert answer.status_code == 200, path
            assert "connect-src 'self' https://login.example;" in answer.headers["content-security-policy"]
        assert client.post("/v1/sign-in").status_code in (401, 405)


def test_without_a_client_nothing_is_told(tmp_path: Path) -> None:
    """A server that only accepts tokens does not name their issuer, and the page asks this server only."""
    table = {name: value for name, value in Issuer(tmp_path).settings.items() if not name.startswith("page_")}
    settings = read_settings({**table, "issuer": "https://login.example"}, str(tmp_path))
    kernel = Kernel.open(str(TEMPLATES / "software_dev"))
    with_tokens = TestClient(
        create_app(kernel, tokens=settings), base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50_000)
    )
    for client in (with_tokens, client_of(kernel)):
        with client:
            assert client.get("/v1/sign-in").json() == NOTHING
            assert "connect-src 'self';" in client.get("/").headers["content-security-policy"]


@pytest.mark.parametrize(
    "issuer",
    [
        "http://login.example", "https://login.example; script-src *", "https://login.example'", "https://", "https://a@b.example",
        "javascript:alert(1)", "http://127.0.0.1.example", "https://login.example/?a=b", "https://login.example:999999",
    ],
)  # fmt: skip
def test_an_issuer_that_would_open_the_policy_is_refused(tmp_path: Path, issuer: str) -> None:
    """A setting cannot add a directive or a host to the security policy of the page."""
    with pytest.raises(BadProject, match="cannot sign in"):
        read_settings({**Issuer(tmp_path).settings, "issuer": issuer}, str(tmp_path))


def test_the_settings_of_the_page_are_words(tmp_path: Path) -> None:
    """A client id is not empty; the scopes have a default."""
    table = {**Issuer(tmp_path).settings, "issuer": "https://login.example:8443/one"}
    assert read_origin(str(table["issuer"])) == "https://login.example:8443"
    for name, value in (("page_client", ""), ("page_client", 7), ("page_scope", "a\nb"), ("page_scope", "")):
        with pytest.raises(BadProject, match=name):
            read_settings({**table, name: value}, str(tmp_path))
    del table["page_scope"]
    assert read_settings(table, str(tmp_path)).page_scope == PAGE_SCOPE
