"""Access tokens for a server behind the gateway (OAuth 2.0): in the name of the gateway, or of the caller.

A token is requested at the token endpoint that the settings of the server name, and nowhere else: nothing that the server answers
changes where the secret of the gateway and the token of a caller go. Tokens are kept in memory until they end.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote as escape

import msgspec
from httpx2 import AsyncBaseTransport, AsyncClient, HTTPError, Request, Response

from orgkernel.diagnostics.wording import quote
from orgkernel.toolbox.adapters.limited_http import LimitedTransport
from orgkernel.toolbox.failures import describe_failure
from orgkernel.toolbox.providers import ServerAuthorization

_EXCHANGE: Final = "urn:ietf:params:oauth:grant-type:token-exchange"
_ACCESS_TOKEN: Final = "urn:ietf:params:oauth:token-type:access_token"
_USABLE_TYPES: Final = (_ACCESS_TOKEN, "urn:ietf:params:oauth:token-type:jwt")
"""What a token that was exchanged can be, so that it can be sent as a bearer token (RFC 8693, section 3)."""
_BEARER: Final = re.compile(r"[A-Za-z0-9._~+/-]{1,16384}=*")
"""A token that can be sent in a header (RFC 6750, section 2.1)."""
_ERROR: Final = re.compile(r"[a-z_]{1,40}")
_MAX_BYTES: Final = 65_536
_SECONDS: Final = 10.0
"""How long a token endpoint has to answer."""
_DEFAULT_LIFETIME: Final = 60.0
"""Seconds for which a token is used whose lifetime is not known."""
_MAX_MARGIN: Final = 30.0
"""Seconds before its end at which a token is replaced; a tenth of its lifetime, if that is less."""
_FAILED_SECONDS: Final = 1.0
"""Seconds for which a failed request is not repeated."""


class TokenRefused(HTTPError):
    """There is no token for a server. The message is a part of a sentence."""


class AccessTokens:
    """The tokens for one server and one caller. Used from one event loop."""

    def __init__(
        self,
        authorization: ServerAuthorization,
        resource: str,
        subject_token: str | None,
        on_new: Callable[[str], None],
    ) -> None:
        """`resource` is the URL of the server. `on_new` is called with each token, before it is used.

        `subject_token` is the token of the caller, which is exchanged. It is empty for a caller that has none, and None for what the
        gateway does in its own name: lists and reviews.
        """
        self._authorization = authorization
        self._resource = resource
        self._subject_token = subject_token
        self._on_new = on_new
        self._lock = asyncio.Lock()
        self._token = ""
        self._ends_at = 0.0
        self._failure = ""
        self._failed_at = float("-inf")

    async def get(self, refused: str = "") -> str:
        """A valid token, but not the one that the server has `refused`. Raises `TokenRefused`."""
        async with self._lock:
            now = asyncio.get_running_loop().time()
            if self._token not in ("", refused) and now < self._ends_at:
                return self._token
            if now - self._failed_at < _FAILED_SECONDS:
                raise TokenRefused(self._failure)
            try:
                token, seconds = _read_answer(await self._request(), self._subject_token)
            except TokenRefused as error:
                self._failure, self._failed_at = str(error), asyncio.get_running_loop().time()
                raise
            self._on_new(token)
            self._token = token
            self._ends_at = now + seconds - min(_MAX_MARGIN, seconds / 10)
            return token

    async def _request(self) -> Response:
        authorization = self._authorization
        if self._subject_token == "" and authorization.grant == "token_exchange":
            raise TokenRefused(
                "it is called in the name of the caller, with a token of the identity provider, and this caller has none"
            )
        form, headers = _build_request(authorization, self._resource, self._subject_token)
        try:
            async with AsyncClient(transport=LimitedTransport(_MAX_BYTES), timeout=_SECONDS) as http:
                async with asyncio.timeout(_SECONDS):
                    return await http.post(authorization.token_endpoint, data=form, headers=headers)
        except TimeoutError:
            message = f"the token endpoint did not answer within {_SECONDS:g} seconds"
            raise TokenRefused(message) from None
        except HTTPError as error:
            raise TokenRefused(f"the token endpoint cannot be used: {describe_failure(error)}") from None


class AuthorizedTransport(AsyncBaseTransport):
    """Sends a token with each request. If the server refuses it, the request is sent once more with another one."""

    def __init__(self, transport: AsyncBaseTransport, tokens: AccessTokens) -> None:
        self._transport = transport
        self._tokens = tokens

    async def handle_async_request(self, request: Request) -> Response:
        """The answer of the server. Raises `TokenRefused` if there is no token; then nothing was sent."""
        token = await self._tokens.get()
        response = await self._send(request, token)
        if response.status_code != 401:
            return response
        await response.aclose()
        return await self._send(request, await self._tokens.get(refused=token))

    async def _send(self, request: Request, token: str) -> Response:
        request.headers["authorization"] = f"Bearer {token}"
        return await self._transport.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()


def _build_request(
    authorization: ServerAuthorization, resource: str, subject_token: str | None
) -> tuple[dict[str, str], dict[str, str]]:
    """The form and the headers of a request for a token (RFC 6749, section 2.3.1; RFC 8693, section 2.1; RFC 8707)."""
    # Without a caller there is nothing to exchange, so the gateway asks in its own name.
    is_exchange = authorization.grant == "token_exchange" and subject_token is not None
    form = {"grant_type": _EXCHANGE if is_exchange else "client_credentials"}
    if is_exchange:
        form |= {
            "subject_token": subject_token or "",
            "subject_token_type": _ACCESS_TOKEN,
            "requested_token_type": _ACCESS_TOKEN,
        }
    named = {"scope": authorization.scope, "audience": authorization.audience}
    # A token is always for one server: for the audience that the settings name, or for its URL.
    named["resource"] = authorization.resource or ("" if authorization.audience else resource)
    form |= {name: value for name, value in named.items() if value}
    headers = {"accept": "application/json"}
    if authorization.client_authentication == "basic":
        pair = f"{escape(authorization.client_id, safe='')}:{escape(authorization.client_secret, safe='')}"
        headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        form |= {"client_id": authorization.client_id, "client_secret": authorization.client_secret}
    return form, headers


def _read_answer(response: Response, subject_token: str | None) -> tuple[str, float]:
    """The token of an answer, and for how many seconds it is valid. Raises `TokenRefused`."""
    try:
        answer: Any = msgspec.json.decode(response.content)
    except (msgspec.DecodeError, RecursionError):
        answer = None
    fields: Mapping[str, Any] = answer if isinstance(answer, dict) else {}
    if response.status_code != 200:
        code = fields.get("error")
        named = f": {quote(code)}" if isinstance(code, str) and _ERROR.fullmatch(code) else ""
        raise TokenRefused(f"the token endpoint answered with HTTP status {response.status_code}{named}")
    token, kind = fields.get("access_token"), fields.get("token_type")
    is_bearer = isinstance(kind, str) and kind.lower() == "bearer"
    if not is_bearer or not isinstance(token, str) or not _BEARER.fullmatch(token):
        raise TokenRefused("the answer of the token endpoint has no bearer token")
    if fields.get("issued_token_type", _ACCESS_TOKEN) not in _USABLE_TYPES:
        raise TokenRefused("the token endpoint gave a token of another type")
    if token == subject_token:  # a server must never see the token with which its caller can call the gateway
        raise TokenRefused("the token endpoint returned the token of the caller instead of another one")
    seconds = fields.get("expires_in", _DEFAULT_LIFETIME)
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    return token, max(0.0, float(seconds)) if is_number else _DEFAULT_LIFETIME
