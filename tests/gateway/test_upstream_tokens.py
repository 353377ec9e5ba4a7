"""In whose name the gateway calls a server: its own, or that of the caller, and never with the caller's token."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jwt
import pytest
from starlette.types import Message, Receive, Scope, Send

from orgkernel.toolbox.server_files import read_server_files
from tests.gateway.authorization_server import EXCHANGE, Server, serving_tokens
from tests.gateway.gateways import over_http
from tests.gateway.shop import Shop
from tests.gateway.test_oauth import AUDIENCE, SCOPES, agent, write_settings
from tests.toolbox import upstream_server
from tests.toolbox.serving import serving

SECRET = "s3cret/of+the gateway"


class Desk:
    """An MCP server that takes tokens for its own URL, and everything that reached it."""

    def __init__(self, issuer: Server) -> None:
        self.url = ""
        self.requests: list[bytes] = []
        """The headers and the body of each request."""
        self.claims: list[dict[str, Any]] = []
        """The claims of the tokens that it accepted."""
        self.revoked: set[str] = set()
        self._issuer = issuer
        self._app = upstream_server.build().streamable_http_app()

    @property
    def subjects(self) -> list[str]:
        """In whose names it was called last, without repetitions."""
        return list(dict.fromkeys(each["sub"] for each in self.claims))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        headers = dict(scope["headers"])
        self.requests.append(repr((scope["path"], scope["query_string"], headers)).encode())
        token = headers.get(b"authorization", b"").removeprefix(b"Bearer ").decode()
        try:
            claims = jwt.decode(
                token, self._issuer.key.public_key(), ["ES256"], audience=self.url, issuer=self._issuer.url
            )
        except jwt.PyJWTError:
            claims = None
        if claims is None or claims["jti"] in self.revoked:
            await send({"type": "http.response.start", "status": 401, "headers": []})
            return await send({"type": "http.response.body", "body": b"no"})
        self.claims.append(claims)

        async def note() -> Message:
            message = await receive()
            self.requests.append(message.get("body", b""))
            return message

        return await self._app(scope, note, send)


def declare(shop: Shop, desk: Desk, issuer: Server, grant: str, **more: str) -> None:
    """Declare the desk as the server `crate`, of which the clerk may use everything."""
    authorization = {
        "grant": grant, "token_endpoint": f"{issuer.url}/token", "client_id": "gate way", "client_secret": SECRET, **more,
    }  # fmt: skip
    crate = {"url": desk.url, "orgkernel": {"authorization": authorization}}
    shop.declare({"box": shop.box.command, "crate": crate})


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., SimpleNamespace]]:
    """Start a gateway before a desk, with a grant."""
    shop = Shop(tmp_path)
    with serving_tokens(tmp_path) as issuer:
        issuer.add_client("gate way", SECRET, EXCHANGE, "client_credentials", audience=AUDIENCE)
        write_settings(shop, issuer, AUDIENCE)
        desk = Desk(issuer)
        with serving(desk) as url:
            desk.url = f"{url}/mcp"
            gateways: list[Any] = []

            def begin(grant: str, **more: str) -> SimpleNamespace:
                declare(shop, desk, issuer, grant, **more)
                gateways.append(over_http(shop))
                return SimpleNamespace(http=gateways[-1].__enter__(), issuer=issuer, desk=desk)

            yield begin
            for each in gateways:
                each.__exit__(None, None, None)


def test_tokens_of_the_gateway_are_shared_and_replaced(start: Callable[..., SimpleNamespace]) -> None:
    """All callers share one token. It is replaced when it ends or is refused, and masked where the server repeats it."""
    running = start("client_credentials", scope="desk:use", client_authentication="post")
    http, issuer, desk = running.http, running.issuer, running.desk
    ann, amy = (issuer.mint(AUDIENCE, SCOPES, **agent(name)) for name in ("ann", "amy"))
    for caller in (ann, amy, http.key("ann")):
        assert http.text(caller, "crate__key") == "Bearer ***"
    (form,) = issuer.requests
    assert (form["scope"], form["resource"], form["client_secret"]) == ("desk:use", desk.url, SECRET)
    assert desk.subjects == ["gate way"]
    desk.revoked.add(desk.claims[-1]["jti"])
    assert http.text(ann, "crate__echo", text="again") == "again"
    assert len(issuer.requests) == 2
    issuer.seconds = 0
    desk.revoked.add(desk.claims[-1]["jti"])
    issuer.requests.clear()
    for _ in range(2):  # a token that has ended is not used again
        http.text(ann, "crate__echo", text="again")
    assert len(issuer.requests) > 1


def list_spellings(token: str) -> list[bytes]:
    """A token as it is, and its parts."""
    whole = token.encode()
    return [whole, base64.b64encode(whole), *whole.split(b".")[1:]]


def test_no_server_gets_the_token_of_its_caller(start: Callable[..., SimpleNamespace]) -> None:
    """Each caller gets a token of its own in exchange, which names it and the gateway. The token of a caller is in nothing that the
    server receives, and so is the secret of the gateway. A newer token of the same caller is exchanged anew.
    """
    running = start("token_exchange")
    http, issuer, desk = running.http, running.issuer, running.desk
    ann, amy = (issuer.mint(AUDIENCE, SCOPES, **agent(name)) for name in ("ann", "amy"))
    assert "crate__key" in http.tools(ann)
    assert desk.subjects == ["gate way"]  # lists are read in the name of the gateway
    for caller, name in ((ann, "ann"), (amy, "amy"), (ann, "ann")):
        desk.claims.clear()
        assert http.text(caller, "crate__key") == "Bearer ***"
        assert desk.subjects == [f"{name}-at-the-issuer"]
        assert desk.claims[-1]["act"] == {"sub": "gate way"}
    exchanged = [each["subject_token"] for each in issuer.requests if each["grant_type"] == EXCHANGE]
    assert exchanged == [ann, amy]
    newer = issuer.mint(AUDIENCE, SCOPES, **agent("ann"))
    assert http.text(newer, "crate__echo", text="new") == "new"
    assert issuer.requests[-1]["subject_token"] == newer
    desk.claims.clear()
    message = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "notes://all"}}
    assert "all notes" in http.post(ann, message).text
    assert desk.claims[-1]["sub"] == "ann-at-the-issuer"
    received = b"\n".join(desk.requests)
    for token in (ann, amy, newer):
        assert not [each for each in list_spellings(token) if each in received]
    assert SECRET.encode() not in received


def test_without_a_token_in_exchange_nothing_is_called(start: Callable[..., SimpleNamespace]) -> None:
    """A caller with an API key has no token to exchange. An issuer that refuses, is down, or returns the token of the caller, gives
    none. The answer says which, and the server is not called.
    """
    running = start("token_exchange")
    http, issuer, desk = running.http, running.issuer, running.desk
    ann, amy, lea = (issuer.mint(AUDIENCE, SCOPES, **agent(name)) for name in ("ann", "amy", "ann"))
    assert "crate__echo" in http.tools(ann)
    desk.claims.clear()
    assert "this caller has none" in http.text(http.key("ann"), "crate__echo", text="a")
    issuer.changed = {"access_token": ann}
    assert "returned the token of the caller" in http.text(ann, "crate__echo", text="a")
    issuer.changed = {"token_type": "N_A"}
    assert "has no bearer token" in http.text(amy, "crate__echo", text="a")
    issuer.changed, issuer.is_down = {}, True
    assert "answered with HTTP status 503" in http.text(lea, "crate__echo", text="a")
    issuer.is_down = False
    issuer.clients["gate way"].audience = "https://other.example"
    another = issuer.mint(AUDIENCE, SCOPES, **agent("amy"), jti="another")
    assert "HTTP status 400: `invalid_grant`" in http.text(another, "crate__echo", text="a")
    assert desk.claims == []
    assert http.text(ann, "box__look") == "look done"


OF_DESK = {
    "grant": "token_exchange", "token_endpoint": "https://login.example/token", "client_id": "gateway", "client_secret": "${SECRET}",
}  # fmt: skip


@pytest.mark.parametrize(
    ("server", "settings", "error"),
    [
        ({}, {"grant": "authorization_code"}, "is `authorization_code`; it can be `client_credentials`, `token_exchange`"),
        ({}, {"client_secret": None}, "its `orgkernel.authorization` lacks `client_secret`"),
        ({}, {"client_secret": "${OTHER}"}, "it needs the variable `OTHER`; pass it with --env OTHER"),
        ({}, {"client_id": "${SECRET}"}, "variables are filled in only in `client_secret`"),
        ({}, {"issuer": "https://login.example"}, "has the unknown setting `issuer`"),
        ({}, {"scope": ["desk"]}, "its setting `orgkernel.authorization.scope` is not a string"),
        ({}, {"token_endpoint": "http://login.example/token"}, "its `orgkernel.authorization.token_endpoint` is neither an https URL nor"),
        ({"url": "http://desk.example/mcp"}, {}, "its `url` is neither an https URL nor on loopback"),
        ({"headers": {"authorization": "Bearer x"}}, {}, "it has both `orgkernel.authorization` and a header `Authorization`"),
        ({"type": "sse"}, {}, "needs Streamable HTTP"),
        ({"url": None, "command": "desk"}, {}, "is for a `url`; a command gets its credentials in `env`"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_kept_are_refused(
    tmp_path: Path, server: dict[str, Any], settings: dict[str, Any], error: str
) -> None:
    """The server is not used, and the answer names the setting."""
    authorization = {name: value for name, value in (OF_DESK | settings).items() if value is not None}
    declared = {"url": "https://desk.example/mcp", "orgkernel": {"authorization": authorization}} | server
    path = tmp_path / "mcp.json"
    written = {name: value for name, value in declared.items() if value is not None}
    path.write_text(json.dumps({"mcpServers": {"desk": written}}), encoding="utf-8")
    desk = read_server_files([str(path)], {"SECRET": "word"})["desk"]
    assert desk.provider is None
    assert error in desk.error


def test_the_secret_comes_from_the_environment(tmp_path: Path) -> None:
    """It is filled in like a header, is masked, and is not shown with the settings."""
    path = tmp_path / "mcp.json"
    path.write_text(
        json.dumps(
            {
                "mcpServers": {
                    "desk": {"url": "https://desk.example/mcp", "orgkernel": {"authorization": OF_DESK}}
                }
            }
        ),
        encoding="utf-8",
    )
    desk = read_server_files([str(path)], {"SECRET": "word-of-the-gateway"})["desk"]
    assert desk.provider is not None
    assert desk.provider.authorization is not None
    assert desk.provider.authorization.client_secret == "word-of-the-gateway"
    assert desk.secrets == {"SECRET": "word-of-the-gateway"}
    assert "word-of" not in repr(desk.provider)
    assert b"word-of" not in desk.declaration
