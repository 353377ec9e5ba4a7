"""The older transport over HTTP, with one event stream for all answers (`"type": "sse"`), within the limits of an upstream.

The SDK stops sending without a word when a request fails, and every later call would wait until its time is over. So
a failure ends the connection, and the next call makes a new one.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from httpx2 import (
    AsyncBaseTransport,
    AsyncByteStream,
    AsyncClient,
    AsyncHTTPTransport,
    HTTPError,
    ReadError,
    Request,
    Response,
)
from mcp.client.sse import sse_client

from orgkernel.toolbox.adapters.ending import Ending
from orgkernel.toolbox.adapters.limited_http import LimitedTransport, RefusedRedirect
from orgkernel.toolbox.adapters.tls import build_tls_context
from orgkernel.toolbox.adapters.upstream_limits import UpstreamLimits
from orgkernel.toolbox.failures import describe_failure

_EVENT_ENDS: Final = (b"\n\n", b"\r\n\r\n", b"\r\r")


def open_sse(
    url: str, headers: dict[str, str], limits: UpstreamLimits, ending: Ending
) -> AbstractAsyncContextManager[Any]:
    """The streams of messages of a server. `ending` learns why they ended."""
    # It logs errors with what the server sent. The ending has their reason.
    logging.getLogger("mcp.client.sse").setLevel(logging.CRITICAL + 1)

    def build_client(
        headers: dict[str, str] | None = None, timeout: object = None, auth: object = None
    ) -> AsyncClient:
        return AsyncClient(headers=headers, transport=_SseTransport(limits, ending))

    return sse_client(url, headers, httpx_client_factory=build_client)


class _SseTransport(AsyncBaseTransport):
    """Limits each event of the stream, and ends the connection if a message cannot be sent."""

    def __init__(self, limits: UpstreamLimits, ending: Ending) -> None:
        self._limits = limits
        self._ending = ending
        self._stream = AsyncHTTPTransport(verify=build_tls_context())
        self._posts = LimitedTransport(limits.max_bytes)

    async def handle_async_request(self, request: Request) -> Response:
        """The answer of the server. A failed message has an empty answer."""
        seconds = self._limits.call_seconds
        request.extensions["timeout"] = {
            "connect": self._limits.start_seconds,
            "pool": seconds,
            "write": seconds,
            # The stream is silent between two calls.
            "read": None if request.method == "GET" else seconds,
        }
        if request.method == "GET":
            request.headers["accept-encoding"] = "identity"
            response = await self._stream.handle_async_request(request)
            if response.status_code >= 400:
                self._ending.end(
                    f"it could not be started: it answered with HTTP status {response.status_code}"
                )
            assert isinstance(response.stream, AsyncByteStream)
            response.stream = _LimitedEvents(response.stream, self._limits.max_bytes, self._ending)
            return response
        try:
            response = await self._posts.handle_async_request(request)
        except RefusedRedirect as error:
            self._ending.end(str(error))
        except HTTPError as error:
            self._ending.end(f"its connection broke: {describe_failure(error)}")
        else:
            if response.status_code < 400:
                return response
            await response.aclose()
            self._ending.end(f"it answered with HTTP status {response.status_code}")
        return Response(202, request=request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._stream.aclose()
        await self._posts.aclose()


class _LimitedEvents(AsyncByteStream):
    """A stream of events, none of which is longer than a number of bytes."""

    def __init__(self, stream: AsyncByteStream, limit: int, ending: Ending) -> None:
        self._stream = stream
        self._limit = limit
        self._ending = ending

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            firsts = [at for end in _EVENT_ENDS if (at := chunk.find(end)) >= 0]
            size += min(firsts, default=len(chunk))
            if size > self._limit or len(chunk) > self._limit:
                self._ending.end(f"its message is longer than {self._limit} bytes")
                raise ReadError("the message is too long")
            if firsts:
                size = len(chunk) - max(chunk.rfind(end) for end in _EVENT_ENDS)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
