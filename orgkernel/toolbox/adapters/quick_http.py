"""Calls of tools over HTTP without the session of the SDK, which takes ten times as long as the call itself.

Since 2026-07-28 a call is one request that stands for itself, so nothing of a session is needed. Only plain calls of servers
of that era are sent so: no progress, and a name that a header can carry. Everything else, and a server that wants arguments
in headers, goes through the SDK. `UpstreamLimits.without_session` switches it off.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from itertools import count
from typing import Any, Final

import msgspec
from aiohttp import (
    ClientConnectionError,
    ClientConnectorError,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    TCPConnector,
)
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, METHOD_NOT_FOUND, methods

from orgkernel import __version__
from orgkernel.toolbox.adapters.contained_http import Breakage, BreakageKind
from orgkernel.toolbox.adapters.upstream_limits import UpstreamLimits

_ERA: Final = "2026-07-28"
_PREFIX: Final = "io.modelcontextprotocol/"
_META: Final = {
    f"{_PREFIX}protocolVersion": _ERA,
    f"{_PREFIX}clientCapabilities": {},
    f"{_PREFIX}clientInfo": {"name": "orgkernel", "version": __version__},
}
_HEADERS: Final = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "Accept-Encoding": "identity",  # a small compressed answer can be a large one
    "MCP-Protocol-Version": _ERA,
    "Mcp-Method": "tools/call",
}
_IDLE_SECONDS: Final = 0.05
_PLAIN_NAME: Final = re.compile(r"(?!=\?)[!-~](?:[ -~]*[!-~])?\Z")


class QuickHttp:
    """Connections to one server of the era 2026-07-28, for calls of tools alone."""

    def __init__(
        self, url: str, headers: Mapping[str, str], limits: UpstreamLimits, breakage: Breakage
    ) -> None:
        self._url = url
        self._limit = limits.max_bytes
        self._breakage = breakage
        self._ids = count(1)
        self._used_at = 0.0
        self._session = ClientSession(
            connector=TCPConnector(limit=limits.most_calls_at_once + 8),
            headers={**headers, **_HEADERS},
            cookie_jar=DummyCookieJar(),
            auto_decompress=False,
            timeout=ClientTimeout(total=None, connect=limits.start_seconds),
        )

    @staticmethod
    def takes(name: str) -> bool:
        """Whether a tool of that name can be called so."""
        return bool(_PLAIN_NAME.match(name))

    async def call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a call. Raises `MCPError`, and `ValidationError` for a result of a wrong form."""
        number = next(self._ids)
        message = {
            "jsonrpc": "2.0", "id": number, "method": "tools/call",
            "params": {"name": name, "arguments": arguments, "_meta": _META},
        }  # fmt: skip
        await self._notice_closed()
        try:
            async with self._session.post(
                self._url,
                data=msgspec.json.encode(message),
                headers={"Mcp-Name": name},
                allow_redirects=False,
            ) as response:
                answer = await self._read(response, number)
        except ClientConnectorError as error:
            raise self._broken(f"it cannot be reached: {error}", "unreachable") from None
        except (ClientConnectionError, ClientError, OSError) as error:
            raise self._broken(f"its connection broke: {error or type(error).__name__}") from None
        failed = answer.get("error")
        if isinstance(failed, dict):
            code, text = failed.get("code"), failed.get("message")
            raise MCPError(
                code=code if isinstance(code, int) else INTERNAL_ERROR,
                message=str(text),
                data=failed.get("data"),
            )
        result = answer.get("result")
        found: dict[str, Any] = result if isinstance(result, dict) else {}
        methods.validate_server_result("tools/call", _ERA, found)
        return found

    async def _notice_closed(self) -> None:
        """Let the event loop see which kept connections the server has closed, because a call on one of them would be lost
        without anybody knowing whether it arrived.
        """
        now = asyncio.get_running_loop().time()
        if now - self._used_at > _IDLE_SECONDS:
            await asyncio.sleep(0)  # reads what came
            await asyncio.sleep(0)  # and ends what it ended
        self._used_at = now

    async def aclose(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def _read(self, response: ClientResponse, number: int) -> dict[str, Any]:
        """The message that answers a request. Raises `MCPError`."""
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise self._broken("its connection broke: the answer is compressed, which was not requested")
        if response.status < 400 and response.content_type == "text/event-stream":
            async for event in self._events(response):
                found = _message(event)
                if found is not None and found.get("id") == number:
                    return found
            raise MCPError(INTERNAL_ERROR, "its answer ended too early")
        body = bytearray()
        async for chunk in response.content.iter_any():
            body += chunk
            self._require_room(len(body))
        found = _message(bytes(body)) or {}
        # A request that is refused before it is read is refused without its number.
        if found.get("id") == number or (response.status >= 400 and isinstance(found.get("error"), dict)):
            return found
        code = METHOD_NOT_FOUND if response.status == 404 else INTERNAL_ERROR
        raise MCPError(
            code, f"it answered with HTTP status {response.status}, and with nothing that can be read"
        )

    async def _events(self, response: ClientResponse) -> AsyncIterator[bytes]:
        """The data of each event of a stream."""
        rest, data, size = b"", bytearray(), 0
        async for chunk in response.content.iter_any():
            size += len(chunk)
            self._require_room(size)
            *lines, rest = (rest + chunk).replace(b"\r\n", b"\n").split(b"\n")
            for line in lines:
                if line.startswith(b"data:"):
                    data += line[5:].removeprefix(b" ")
                elif not line and data:
                    yield bytes(data)
                    data.clear()

    def _broken(self, text: str, kind: BreakageKind = "broken") -> MCPError:
        """The error of a call that the server did not answer."""
        return MCPError(INTERNAL_ERROR, text, self._breakage.data(kind))

    def _require_room(self, size: int) -> None:
        if size > self._limit:
            raise MCPError(INTERNAL_ERROR, f"its answer is longer than {self._limit} bytes")


def _message(text: bytes) -> dict[str, Any] | None:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
