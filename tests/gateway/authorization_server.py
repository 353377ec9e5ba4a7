"""An authorization server on loopback, built with Authlib, and served by uvicorn: codes with PKCE, client credentials and
token exchange (RFC 8693), metadata (RFC 8414), resource indicators (RFC 8707), and JSON Web Tokens (RFC 9068).
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import jwt
import pytest
import uvicorn
from authlib.oauth2.rfc6749 import AuthorizationServer, OAuth2Request, TokenEndpointMixin, grants
from authlib.oauth2.rfc6749.errors import InvalidGrantError, InvalidRequestError, UnauthorizedClientError
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from cryptography.hazmat.primitives.asymmetric import ec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support.patience import until

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"


class RegisteredClient:
    """A client that the server knows."""

    def __init__(
        self, client_id: str, secret: str, grant_types: set[str], redirect_uri: str, audience: str
    ) -> None:
        self.client_id = client_id
        self.grant_types = grant_types
        self.audience = audience
        """The audience of the tokens that it may exchange."""
        self._secret = secret
        self._redirect_uri = redirect_uri

    def check_client_secret(self, secret: str) -> bool:
        return bool(self._secret) and secrets.compare_digest(secret, self._secret)

    def check_endpoint_auth_method(self, method: str, _: str) -> bool:
        return method != "none" if self._secret else method == "none"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in self.grant_types

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_redirect_uri(self, uri: str) -> bool:
        return uri == self._redirect_uri

    def get_default_redirect_uri(self) -> str:
        return self._redirect_uri

    def get_allowed_scope(self, scope: str | None) -> str:
        return scope or ""


class CodeGrant(grants.AuthorizationCodeGrant):
    """A code for the person who is signed in, for one resource."""

    TOKEN_ENDPOINT_AUTH_METHODS: ClassVar = ["none", "client_secret_basic", "client_secret_post"]

    def save_authorization_code(self, code: str, request: OAuth2Request) -> None:
        data = request.payload.data
        self.server.codes[code] = SimpleNamespace(
            code=code, client_id=data["client_id"], user=request.user, resource=data.get("resource"),
            code_challenge=data.get("code_challenge"), code_challenge_method=data.get("code_challenge_method"),
            get_redirect_uri=lambda: data["redirect_uri"], get_scope=lambda: data.get("scope", ""),
        )  # fmt: skip

    def query_authorization_code(self, code: str, client: RegisteredClient) -> Any:
        known = self.server.codes.get(code)
        return known if known is not None and known.client_id == client.client_id else None

    def delete_authorization_code(self, authorization_code: Any) -> None:
        del self.server.codes[authorization_code.code]

    def authenticate_user(self, authorization_code: Any) -> Any:
        if self.request.payload.data.get("resource") != authorization_code.resource:
            raise InvalidRequestError("The code is for another resource.")
        return authorization_code.user


class ClientGrant(grants.ClientCredentialsGrant):
    """A token for the client itself."""

    TOKEN_ENDPOINT_AUTH_METHODS: ClassVar = ["client_secret_basic", "client_secret_post"]


class ExchangeGrant(grants.BaseGrant, TokenEndpointMixin):
    """Another token for the subject of a token (RFC 8693), for clients that the token was issued to be used at."""

    GRANT_TYPE = EXCHANGE
    TOKEN_ENDPOINT_AUTH_METHODS: ClassVar = ["client_secret_basic", "client_secret_post"]

    def validate_token_request(self) -> None:
        client = self.authenticate_token_endpoint_client()
        if not client.check_grant_type(self.GRANT_TYPE):
            raise UnauthorizedClientError("The client may not exchange tokens.")
        data = self.request.payload.data
        if data.get("subject_token_type") != ACCESS_TOKEN:
            raise InvalidRequestError("The type of the subject token is not supported.")
        try:
            claims = jwt.decode(
                data.get("subject_token", ""), self.server.key.public_key(), ["ES256"],
                audience=client.audience, issuer=self.server.url,
            )  # fmt: skip
        except jwt.PyJWTError as error:
            raise InvalidGrantError(f"The subject token is not valid: {error}") from None
        self.request.client = client
        self.request.user = {"sub": claims["sub"], "act": {"sub": client.client_id}}

    def create_token_response(self) -> Any:
        token = self.generate_token(user=self.request.user, scope=self.request.payload.scope)
        return 200, token | {"issued_token_type": ACCESS_TOKEN}, self.TOKEN_RESPONSE_HEADER


class Server(AuthorizationServer):
    """The server, what it was asked, and what it issued."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.key = ec.generate_private_key(ec.SECP256R1())
        public = jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        self.jwks = folder / "issuer-keys.json"
        self.jwks.write_text(
            json.dumps({"keys": [{**public, "kid": "one", "alg": "ES256"}]}), encoding="utf-8"
        )
        self.url = ""
        self.clients: dict[str, RegisteredClient] = {}
        self.codes: dict[str, Any] = {}
        self.user: dict[str, Any] = {"sub": "ann"}
        """The claims of the person who is signed in."""
        self.seconds = 600
        """The lifetime of its tokens."""
        self.requests: list[dict[str, str]] = []
        """The forms that came to the token endpoint."""
        self.changed: dict[str, Any] = {}
        """Other values in the answers of the token endpoint."""
        self.is_down = False
        self.register_grant(CodeGrant, [CodeChallenge(required=True)])
        self.register_grant(ClientGrant)
        self.register_grant(ExchangeGrant)

    def add_client(
        self, client_id: str, secret: str, *grant_types: str, redirect_uri: str = "", audience: str = ""
    ) -> None:
        """Register a client. Without a secret it is a public one."""
        self.clients[client_id] = RegisteredClient(
            client_id, secret, set(grant_types), redirect_uri, audience
        )

    def mint(self, audience: str, scope: str = "", **claims: Any) -> str:
        """A token."""
        now = int(time.time())
        content = {
            "iss": self.url, "aud": audience, "iat": now, "exp": now + self.seconds, "jti": secrets.token_hex(8),
            "scope": scope, **claims,
        }  # fmt: skip
        return jwt.encode(content, self.key, "ES256", {"kid": "one", "typ": "at+jwt"})

    def query_client(self, client_id: str) -> RegisteredClient | None:
        return self.clients.get(client_id)

    def save_token(self, token: Any, request: Any) -> None:
        """Tokens are not kept: they are signed."""

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Nothing listens."""

    def generate_token(
        self, grant_type: str, client: RegisteredClient, user: Any = None, scope: str | None = None, **_: Any
    ) -> dict[str, Any]:
        form = self.requests[-1]
        audience = form.get("resource") or form.get("audience", "")
        token = self.mint(
            audience, scope or "", client_id=client.client_id, **(user or {"sub": client.client_id})
        )
        return {
            "access_token": token,
            "token_type": "Bearer",
            "expires_in": self.seconds,
            "scope": scope or "",
        }

    def create_oauth2_request(self, request: OAuth2Request) -> OAuth2Request:
        return request

    def handle_response(self, status: int, body: Any, headers: Any) -> Response:
        if isinstance(body, dict):
            return JSONResponse(body | (self.changed if status == 200 else {}), status, dict(headers))
        return Response(body, status, dict(headers))

    def describe(self) -> dict[str, Any]:
        """The metadata (RFC 8414)."""
        metadata = AuthorizationServerMetadata(
            issuer=self.url, authorization_endpoint=f"{self.url}/authorize", token_endpoint=f"{self.url}/token",
            response_types_supported=["code"], code_challenge_methods_supported=["S256"],
            grant_types_supported=["authorization_code", "client_credentials", EXCHANGE],
            token_endpoint_auth_methods_supported=["none", "client_secret_basic", "client_secret_post"],
        )  # fmt: skip
        metadata.validate_token_endpoint_auth_methods_supported()
        return dict(metadata)

    async def answer_metadata(self, _: Request) -> Response:
        return JSONResponse(self.describe())

    async def answer_authorization(self, request: Request) -> Response:
        """Sign the person in at once."""
        question = _Question(request, dict(request.query_params))
        grant = self.get_consent_grant(question, self.user)
        response: Response = self.create_authorization_response(question, self.user, grant)
        return response

    async def answer_token(self, request: Request) -> Response:
        form = {name: str(value) for name, value in (await request.form()).items()}
        self.requests.append(form)
        if self.is_down:
            return Response("down", 503)
        response: Response = self.create_token_response(_Question(request, form))
        return response


class _Question(OAuth2Request):
    def __init__(self, request: Request, data: dict[str, str]) -> None:
        super().__init__(
            request.method, str(request.url), headers=dict(request.headers) | _name_as_authlib(request)
        )
        self.payload = BasicOAuth2Payload(data)
        self._data = data

    @property
    def args(self) -> dict[str, str]:
        return self._data

    @property
    def form(self) -> dict[str, str]:
        return self._data


def _name_as_authlib(request: Request) -> dict[str, str]:
    """Authlib looks a header up by its usual spelling."""
    value = request.headers.get("authorization")
    return {} if value is None else {"Authorization": value}


@contextmanager
def serving_tokens(folder: Path) -> Iterator[Server]:
    """A running authorization server, whose public keys are in the folder."""
    server = Server(folder)
    app = Starlette(
        routes=[
            Route("/.well-known/oauth-authorization-server", server.answer_metadata),
            Route("/authorize", server.answer_authorization),
            Route("/token", server.answer_token, methods=["POST"]),
        ]
    )
    runner = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=runner.run)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")  # it is on loopback
        thread.start()
        try:
            until(lambda: runner.started, bool)
            server.url = f"http://127.0.0.1:{runner.servers[0].sockets[0].getsockname()[1]}"
            yield server
        finally:
            runner.should_exit = True
            thread.join()
