"""An HTTP transport that stops reading an answer at a limit, and follows no redirect to another server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from httpx2 import (
    URL,
    AsyncBaseTransport,
    AsyncByteStream,
    AsyncHTTPTransport,
    DecodingError,
    HTTPError,
    InvalidURL,
    Request,
    Response,
)

from orgkernel.toolbox.adapters.tls import build_tls_context
from orgkernel.toolbox.failures import describe_redirect, is_redirect

_MAX_REDIRECTS: Final = 5
"""Maximum number of redirects within one server for a request, such as from `/mcp` to `/mcp/`."""
_REDIRECTS: Final = "orgkernel.redirects"


class RefusedRedirect(HTTPError):
    """A server redirects to another one, or again and again."""


class LimitedTransport(AsyncBaseTransport):
    """Requests uncompressed answers, and reads a limited number of bytes of each."""

    def __init__(self, limit: int, transport: AsyncBaseTransport | None = None) -> None:
        self._limit = limit
        self._transport = transport or AsyncHTTPTransport(verify=build_tls_context())

    async def handle_async_request(self, request: Request) -> Response:
        """The answer. Reading its body beyond the limit raises `DecodingError`."""
        request.headers["accept-encoding"] = "identity"  # a small compressed answer can be a large one
        response = await self._transport.handle_async_request(request)
        assert isinstance(response.stream, AsyncByteStream)
        if is_redirect(response.status_code) and not _is_followed(request, response):
            await response.aclose()
            raise RefusedRedirect(describe_redirect(response.status_code))
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise DecodingError("the answer is compressed, which was not requested", request=request)
        response.stream = _LimitedStream(response.stream, self._limit)
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()


def _is_followed(request: Request, response: Response) -> bool:
    """Whether the SDK follows a redirect. It words the others with the location, which is for the server to choose."""
    count = int(request.extensions.get(_REDIRECTS, 0)) + 1
    request.extensions[_REDIRECTS] = count  # the next request has the same extensions
    try:
        target = request.url.join(URL(response.headers["location"]))
    except (KeyError, InvalidURL, ValueError):
        return False
    keeps_method = response.status_code in (307, 308) or request.method == "GET"
    here, there = ((each.scheme, each.host, each.port) for each in (request.url, target))
    return count <= _MAX_REDIRECTS and keeps_method and here == there and not target.userinfo


class _LimitedStream(AsyncByteStream):
    def __init__(self, stream: AsyncByteStream, limit: int) -> None:
        self._stream = stream
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for chunk in self._stream:
            read += len(chunk)
            if read > self._limit:
                raise DecodingError(f"the answer is longer than {self._limit} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
