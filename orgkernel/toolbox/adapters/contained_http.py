"""An HTTP transport whose errors fail one request instead of the connection that all calls share.

The SDK ends its whole transport when a request raises: if one server is slow to accept a connection, or one answer is
too long, all other calls of the same upstream would fail. So an error becomes an answer to its own request, with a
mark that the server cannot know.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator
from typing import Any, Final, Literal

from httpx2 import (
    AsyncBaseTransport,
    AsyncByteStream,
    AsyncHTTPTransport,
    ConnectError,
    ConnectTimeout,
    HTTPError,
    Limits,
    PoolTimeout,
    Request,
    Response,
    StreamError,
)
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, METHOD_NOT_FOUND
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from orgkernel.toolbox.adapters.access_tokens import AccessTokens, AuthorizedTransport, TokenRefused
from orgkernel.toolbox.adapters.limited_http import LimitedTransport, RefusedRedirect
from orgkernel.toolbox.adapters.tls import build_tls_context
from orgkernel.toolbox.adapters.upstream_limits import UpstreamLimits
from orgkernel.toolbox.failures import describe_failure

_VERSION_HEADER: Final = "mcp-protocol-version"
_BRIEF_SECONDS: Final = 3.0
"""Seconds that a server has to answer a notification. Other messages wait behind it."""


BreakageKind = Literal["unreachable", "forgotten", "broken"]
"""`unreachable`: the request was not sent. `forgotten`: the server does not know the session. `broken`: the connection
broke when the server may have begun.
"""


class Breakage:
    """The transport's description of a request that it could not complete."""

    def __init__(self) -> None:
        self._secret = secrets.token_hex(8)

    def data(self, kind: BreakageKind) -> dict[str, str]:
        """The data of the error."""
        return {"mark": self._secret, "kind": kind}

    def classify(self, error: BaseException) -> BreakageKind | None:
        """The kind of a breakage in an error. None if the error came from the server or another source."""
        data = error.error.data if isinstance(error, MCPError) else None
        if isinstance(data, dict) and data.get("mark") == self._secret:
            kind: BreakageKind = data["kind"]
            return kind
        return None


class ContainedTransport(AsyncBaseTransport):
    """Limits the size of answers, and answers for a server that cannot be reached or breaks off."""

    def __init__(
        self, limits: UpstreamLimits, breakage: Breakage, tokens: AccessTokens | None = None
    ) -> None:
        """`tokens` are sent with each request."""
        connections = Limits(
            # Notifications, lists and the stream of announcements need connections too, while all calls are under way.
            max_connections=limits.most_calls_at_once + 8,
            max_keepalive_connections=limits.most_calls_at_once + 8,
        )
        limited = LimitedTransport(
            limits.max_bytes, AsyncHTTPTransport(verify=build_tls_context(), limits=connections)
        )
        self._transport = limited if tokens is None else AuthorizedTransport(limited, tokens)
        self._limits = limits
        self._breakage = breakage
        self.longest_answer = limits.call_seconds
        """Seconds to wait for an answer."""

    async def handle_async_request(self, request: Request) -> Response:
        """The answer of the server, or one in its place."""
        # A request that follows a redirect has the stream of the first one.
        awaits_answer = request.method == "POST" and _is_request(await request.aread())
        is_brief = request.method != "GET" and not awaits_answer
        # A version with a handshake leaves the request open when its call is given up. Later ones end it.
        is_left_open = awaits_answer and request.headers.get(_VERSION_HEADER) not in MODERN_PROTOCOL_VERSIONS
        request.extensions["timeout"] = {
            "connect": self._limits.start_seconds,
            "pool": self._limits.call_seconds,
            "write": _BRIEF_SECONDS if is_brief else self._limits.call_seconds,
            # Later than the time of the call, so a slow answer is reported as a timeout and not as a broken connection.
            "read": _BRIEF_SECONDS if is_brief else self.longest_answer + 5 if is_left_open else None,
        }
        try:
            response = await self._transport.handle_async_request(request)
        except RefusedRedirect as error:
            return _answer(request, INTERNAL_ERROR, str(error), None)
        except TokenRefused as error:
            return self._build_failure(request, f"there is no access token for it: {error}", "unreachable")
        except (ConnectError, ConnectTimeout, PoolTimeout) as error:
            failure = f"it cannot be reached: {describe_failure(error)}"
            return self._build_failure(request, failure, "unreachable")
        except HTTPError as error:
            failure = f"its connection broke: {describe_failure(error)}"
            return self._build_failure(request, failure, "broken")
        if awaits_answer and response.status_code >= 400:
            if response.status_code == 404 and "mcp-session-id" in request.headers:
                await response.aclose()
                return self._build_failure(request, "it no longer knows the session", "forgotten")
            if not response.headers.get("content-type", "").lower().startswith("application/json"):
                await response.aclose()
                code = METHOD_NOT_FOUND if response.status_code == 404 else INTERNAL_ERROR
                return _answer(request, code, f"it answered with HTTP status {response.status_code}", None)
        if awaits_answer and response.status_code == 200 and not _is_readable(response):
            await response.aclose()
            return _answer(request, INTERNAL_ERROR, "its answer is neither JSON nor an event stream", None)
        assert isinstance(response.stream, AsyncByteStream)
        response.stream = _ContainedStream(response.stream)
        return response

    def _build_failure(self, request: Request, message: str, kind: BreakageKind) -> Response:
        return _answer(request, INTERNAL_ERROR, message, self._breakage.data(kind))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()


class _ContainedStream(AsyncByteStream):
    """Raises the only kind of error that the SDK takes as an error of this request."""

    def __init__(self, stream: AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._stream:
                yield chunk
        except HTTPError as error:
            raise StreamError(describe_failure(error)) from None

    async def aclose(self) -> None:
        await self._stream.aclose()


def _answer(request: Request, code: int, message: str, data: Any) -> Response:
    error = {"code": code, "message": message, **({} if data is None else {"data": data})}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    return Response(502, headers={"content-type": "application/json"}, content=body, request=request)


def _is_request(body: bytes) -> bool:
    """Whether a message is a request, and no notification or answer."""
    message = json.loads(body)
    return "id" in message and "method" in message


def _is_readable(response: Response) -> bool:
    """Whether the SDK reads an answer of this type. It words the others with the type, which the server chooses."""
    kind = response.headers.get("content-type", "").lower()
    return kind.startswith(("application/json", "text/event-stream"))
