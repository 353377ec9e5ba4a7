"""An HTTP transport whose errors fail one request instead of the connection that all calls share.

The SDK ends its whole transport when a request raises: if one server is slow to accept a connection, or one answer is
too long, all other calls of the same upstream would fail. So an error becomes an answer to its own request, with a
mark that the server cannot know.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator
from typing import Any, Final

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
from mcp_types import INTERNAL_ERROR, METHOD_NOT_FOUND

from orgkernel.toolbox.adapters.limited_http import LimitedTransport
from orgkernel.toolbox.adapters.upstream_limits import UpstreamLimits

_BRIEF_SECONDS: Final = 3.0
"""How long a server has for its answer to a message whose answer nobody needs. Other messages wait behind it."""
_MARK: Final = "orgkernel.transport"


class Breakage:
    """What a transport says about a request that it could not complete."""

    def __init__(self) -> None:
        self._secret = secrets.token_hex(8)

    def data(self, was_sent: bool) -> dict[str, Any]:
        """The data of the error."""
        return {_MARK: self._secret, "was_sent": was_sent}

    def was_sent(self, data: Any) -> bool | None:
        """Whether the request may have reached the server. None if the server itself sent the error."""
        if isinstance(data, dict) and data.get(_MARK) == self._secret:
            return bool(data["was_sent"])
        return None


class ContainedTransport(AsyncBaseTransport):
    """Limits answers, and answers in place of a server that cannot be reached or breaks off."""

    def __init__(self, limits: UpstreamLimits, limit: int, breakage: Breakage) -> None:
        connections = Limits(
            max_connections=limits.most_calls_at_once + 8,
            max_keepalive_connections=limits.most_calls_at_once + 8,
        )
        self._transport = LimitedTransport(limit, AsyncHTTPTransport(limits=connections))
        self._limits = limits
        self._breakage = breakage

    async def handle_async_request(self, request: Request) -> Response:
        """The answer of the server, or one in its place."""
        awaits_answer = request.method == "POST" and _asks(request.content)
        is_brief = request.method != "GET" and not awaits_answer
        request.extensions["timeout"] = {
            "connect": self._limits.start_seconds,
            "pool": self._limits.call_seconds,
            "write": _BRIEF_SECONDS if is_brief else self._limits.call_seconds,
            "read": _BRIEF_SECONDS if is_brief else None,
        }
        try:
            response = await self._transport.handle_async_request(request)
        except (ConnectError, ConnectTimeout, PoolTimeout) as error:
            return self._failed(request, f"it cannot be reached: {_describe(error)}", was_sent=False)
        except HTTPError as error:
            return self._failed(request, f"its connection broke: {_describe(error)}", was_sent=True)
        if awaits_answer and response.status_code >= 400:
            if response.status_code == 404 and "mcp-session-id" in request.headers:
                await response.aclose()
                return self._failed(request, "it no longer knows the session", was_sent=False)
            if not response.headers.get("content-type", "").lower().startswith("application/json"):
                await response.aclose()
                code = METHOD_NOT_FOUND if response.status_code == 404 else INTERNAL_ERROR
                return _answer(request, code, f"it answered with HTTP status {response.status_code}", None)
        assert isinstance(response.stream, AsyncByteStream)
        response.stream = _ContainedStream(response.stream)
        return response

    def _failed(self, request: Request, message: str, *, was_sent: bool) -> Response:
        return _answer(request, INTERNAL_ERROR, message, self._breakage.data(was_sent))

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
            raise StreamError(_describe(error)) from None

    async def aclose(self) -> None:
        await self._stream.aclose()


def _answer(request: Request, code: int, message: str, data: Any) -> Response:
    error = {"code": code, "message": message, **({} if data is None else {"data": data})}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    return Response(502, headers={"content-type": "application/json"}, content=body, request=request)


def _asks(body: bytes) -> bool:
    """Whether a message is a request, and no notification or answer."""
    message = json.loads(body)
    return "id" in message and "method" in message


def _describe(error: Exception) -> str:
    return str(error) or type(error).__name__
