"""The gateway as an OAuth resource server: it names its authorization server, and takes the tokens that `serve` takes."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp.client.auth import OAuthClientProvider, TokenStorage
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)

from manifest_api.guards.tokens import read_settings
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.settings import find_project
from tests.api.asking import problem, stored_client
from tests.api.keys import bearer
from tests.gateway.authorization_server import Server, serving_tokens
from tests.gateway.gateways import Http, over_http
from tests.gateway.shop import OWN_TOOLS, Shop
from tests.mcp.calling import calling, connect

AUDIENCE = "https://gateway.example/mcp"
SCOPES = "orgkernel:read orgkernel:report orgkernel:request"
BACK = "http://127.0.0.1:1/callback"


def write_settings(shop: Shop, issuer: Server, audience: str) -> None:
    """The settings of the project in the folder of the shop."""
    lines = (
        "[oidc]",
        f'issuer = "{issuer.url}"',
        f'audience = "{audience}"',
        f'jwks = "{issuer.jwks.name}"',
        'algorithms = ["ES256"]',
    )
    (shop.folder / "orgkernel.toml").write_text("\n".join(lines), encoding="utf-8")


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A gateway over HTTP and its authorization server."""
    shop = Shop(tmp_path_factory.mktemp("shop"))
    with serving_tokens(shop.folder) as issuer:
        write_settings(shop, issuer, AUDIENCE)
        with over_http(shop) as http:
            yield SimpleNamespace(http=http, issuer=issuer, shop=shop)


def find_free_port() -> int:
    """A port on loopback that nothing uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def agent(name: str) -> dict[str, str]:
    """The claims of a token of an agent."""
    return {"sub": f"{name}-at-the-issuer", "orgkernel_agent": name, "orgkernel_org": "shop"}


def list_status(http: Http, token: str) -> int:
    """The status of the answer to a list."""
    return http.post(token, {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).status_code


def test_a_token_has_the_role_of_its_agent(gateway: SimpleNamespace) -> None:
    """The gateway lists the tools of the role, decides each call by it, and the audit names the subject of the token."""
    http, issuer = gateway.http, gateway.issuer
    clerk, guest = (issuer.mint(AUDIENCE, SCOPES, **agent(name)) for name in ("ann", "bob"))
    assert http.tools(clerk) == ["box__look", "box__pay", "box__send", "crate__look", *OWN_TOOLS]
    assert http.tools(guest) == ["box__look", *OWN_TOOLS]
    assert http.text(clerk, "box__send") == "send done"
    assert http.text(guest, "box__send").startswith("deny: `agent:bob` `use` `tool:mcp__box__send`")


def test_other_tokens_are_refused_as_by_serve(gateway: SimpleNamespace) -> None:
    """A token for another audience, of another issuer, that has expired, or without a scope gets the same answer from the gateway
    and from `serve`, whose settings are the same file.
    """
    http, issuer, shop = gateway.http, gateway.issuer, gateway.shop
    now = time.time()
    tokens = {
        "good": (issuer.mint(AUDIENCE, SCOPES, **agent("ann")), 200),
        "for another resource": (issuer.mint("https://other.example/mcp", SCOPES, **agent("ann")), 401),
        "of another issuer": (
            issuer.mint(AUDIENCE, SCOPES, **agent("ann"), iss="https://other.example"),
            401,
        ),
        "expired": (issuer.mint(AUDIENCE, SCOPES, **agent("ann"), exp=now - 60), 401),
        "of an operator": (issuer.mint(AUDIENCE, SCOPES, sub="ann"), 403),
        "that only reads": (issuer.mint(AUDIENCE, "orgkernel:read", **agent("ann")), 403),
        "of no organization": (issuer.mint(AUDIENCE, SCOPES, sub="ann", orgkernel_agent="ann"), 403),
        "without scopes": (issuer.mint(AUDIENCE, "other:read", **agent("ann")), 403),
    }
    project = find_project(str(shop.folder))
    assert project.oidc is not None
    settings = read_settings(project.oidc, project.folder)
    with stored_client(Kernel.open(shop.tree), shop.place, tokens=settings) as serve:
        for name, (token, status) in tokens.items():
            assert list_status(http, token) == status, name
            at_serve = serve.get("/v1/orgs/shop/roles/clerk", headers=bearer(token))
            # `serve` answers operators too, and needs no scope for calls.
            assert at_serve.status_code == {"of an operator": 200, "that only reads": 200}.get(
                name, status
            ), name


def test_a_refusal_names_the_metadata_and_the_scopes(gateway: SimpleNamespace) -> None:
    """RFC 9728 and RFC 6750: without a token, with a wrong one and with too few scopes."""
    http, issuer = gateway.http, gateway.issuer
    metadata_url = f"{http.url}/.well-known/oauth-protected-resource/mcp"
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    reading = issuer.mint(AUDIENCE, "orgkernel:read", **agent("ann"))
    challenges = [http.post(token, call).headers["www-authenticate"] for token in ("", "wrong", reading)]
    place = f'resource_metadata="{metadata_url}"'
    assert challenges == [
        f'Bearer realm="orgkernel", scope="{SCOPES}", {place}',
        f'Bearer realm="orgkernel", error="invalid_token", scope="{SCOPES}", {place}',
        f'Bearer realm="orgkernel", error="insufficient_scope", scope="orgkernel:report", {place}',
    ]
    forged = http.post("", call, **{"host": 'evil.example", scope="admin'})
    assert "evil" not in forged.headers.get("www-authenticate", "")
    for path in (metadata_url, f"{http.url}/.well-known/oauth-protected-resource"):
        assert httpx2.get(path, headers={"x-forwarded-for": "192.0.2.1"}).json() == {
            "resource": AUDIENCE, "authorization_servers": [issuer.url], "scopes_supported": SCOPES.split(),
            "bearer_methods_supported": ["header"], "resource_name": "orgkernel",
        }  # fmt: skip


class Tokens(TokenStorage):
    """What the client of the SDK remembers."""

    def __init__(self, client: OAuthClientInformationFull) -> None:
        self.client = client
        self.tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def test_the_official_client_signs_in(tmp_path: Path) -> None:
    """From the URL of the gateway alone it finds the authorization server, gets a code with PKCE and a token for this gateway, and calls."""
    shop = Shop(tmp_path)
    port = find_free_port()
    with serving_tokens(tmp_path) as issuer:
        issuer.add_client("host", "", "authorization_code", redirect_uri=BACK)
        issuer.user = agent("ann")
        write_settings(shop, issuer, f"http://127.0.0.1:{port}/mcp")
        with over_http(shop, "--http", f"127.0.0.1:{port}") as http:
            storage = Tokens(
                OAuthClientInformationFull(
                    client_id="host", redirect_uris=[BACK], token_endpoint_auth_method="none"
                )
            )
            answers: list[str] = []

            async def sign_in(url: str) -> None:
                async with httpx2.AsyncClient() as browser:
                    answers.append((await browser.get(url)).headers["location"])

            async def come_back() -> AuthorizationCodeResult:
                query = parse_qs(urlsplit(answers[-1]).query)
                return AuthorizationCodeResult(code=query["code"][0], state=query["state"][0])

            provider = OAuthClientProvider(
                f"{http.url}/mcp", OAuthClientMetadata(redirect_uris=[BACK]), storage, sign_in, come_back
            )
            with calling(connect(f"{http.url}/mcp", {}, provider)) as calls:
                assert "box__look" in [each.name for each in calls.do("list_tools").tools]
                assert calls.call("box__look").content[0].text == "look done"
            assert issuer.requests[-1]["resource"] == f"{http.url}/mcp"
            assert storage.tokens is not None
            assert storage.tokens.scope == SCOPES


def test_without_an_issuer_there_are_no_metadata(tmp_path: Path) -> None:
    """The place does not exist, a challenge does not name it, and a token is not accepted."""
    with over_http(Shop(tmp_path)) as http:
        problem(
            httpx2.get(f"{http.url}/.well-known/oauth-protected-resource/mcp", headers=bearer(http.key())),
            404,
            "NO_ISSUER",
        )
        answer = http.post("e30.e30.x", {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
        assert answer.headers["www-authenticate"] == 'Bearer realm="orgkernel", error="invalid_token"'
