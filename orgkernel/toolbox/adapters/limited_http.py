"""An HTTP transport that stops reading an answer at a limit."""

from __future__ import annotations

from collections.abc import AsyncIterator

from httpx2 import AsyncBaseTransport, AsyncByteStream, AsyncHTTPTransport, DecodingError, Request, Response

from orgkernel.toolbox.adapters.tls import build_tls_context


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
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise DecodingError("the answer is compressed, which was not requested", request=request)
        response.stream = _LimitedStream(response.stream, self._limit)
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._transport.aclose()


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
