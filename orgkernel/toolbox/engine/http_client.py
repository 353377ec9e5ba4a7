"""Calls of tools over HTTP without the session of the SDK, which takes ten times as long as the call itself.

Since 2026-07-28 a call is one independent request, so no session is needed. Only plain calls of servers of that era
are sent this way: no progress, and a name that fits into a header. Everything else, and a server that wants
arguments in headers, goes through the SDK, as everything does if this engine is off.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count
from ssl import SSLContext
from typing import Any, Final, Literal

import msgspec
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, METHOD_NOT_FOUND, methods

from orgkernel.prepared_types import prepared
from orgkernel.toolbox.engine.connection_pool import BrokenOff, ConnectionPool, encode_headers
from orgkernel.toolbox.failures import is_redirect
from orgkernel.version import __version__

_ERA: Final = "2026-07-28"
_PREFIX: Final = "io.modelcontextprotocol/"
_META: Final = {
    f"{_PREFIX}protocolVersion": _ERA,
    f"{_PREFIX}clientCapabilities": {},
    f"{_PREFIX}clientInfo": {"name": "orgkernel", "version": __version__},
}
_HEADERS: Final = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "accept-encoding": "identity",  # a small compressed answer can be a large one
    "mcp-protocol-version": _ERA,
    "mcp-method": "tools/call",
}
_PLAIN_NAME: Final = re.compile(r"(?!=\?)[!-~](?:[ -~]*[!-~])?\Z")


class Redirected(Exception):
    """The server wants another request, so it has not begun the call. The SDK decides whether to follow."""


class HttpToolClient:
    """Connections to one server of the era 2026-07-28, for calls of tools alone."""

    def __init__(
        self, url: str, headers: Mapping[str, str], tls: SSLContext, *, max_bytes: int, connect_seconds: float
    ) -> None:
        """`max_bytes` is the limit of an answer. Raises `ValueError` for headers that cannot be sent."""
        self._limit = max_bytes
        self._ids = count(1)
        fields = {name.lower(): value for name, value in headers.items()}
        fields = {"user-agent": f"orgkernel/{__version__}", **fields, **_HEADERS}
        self._connections = ConnectionPool(url, fields, tls, connect_seconds)

    @staticmethod
    def takes(name: str) -> bool:
        """Whether a tool of that name can be called so."""
        return bool(_PLAIN_NAME.match(name))

    async def call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a call.

        Raises `MCPError`, `NotReached`, `BrokenOff`, `Redirected`, and `ValidationError` for a result of an unexpected form.
        """
        number = next(self._ids)
        message = {
            "jsonrpc": "2.0", "id": number, "method": "tools/call",
            "params": {"name": name, "arguments": arguments, "_meta": _META},
        }  # fmt: skip
        answer = _Answer(number, self._limit)
        await self._connections.post(encode_headers({"mcp-name": name}), msgspec.json.encode(message), answer)
        failed = answer.message.get("error")
        if isinstance(failed, dict):
            code, text = failed.get("code"), failed.get("message")
            raise MCPError(
                code=code if isinstance(code, int) else INTERNAL_ERROR,
                message=str(text),
                data=failed.get("data"),
            )
        result = answer.message.get("result")
        call_result: dict[str, Any] = result if isinstance(result, dict) else {}
        require_result(call_result)
        return call_result

    async def aclose(self) -> None:
        """Close all connections."""
        await self._connections.aclose()


class _Answer:
    """The message that answers a request, from a body or from a stream of events."""

    def __init__(self, number: int, limit: int) -> None:
        self.message: dict[str, Any] = {}
        self._number = number
        self._limit = limit
        self._size = 0
        self._status = 0
        self._is_stream = False
        self._parts: list[bytes] = []
        """The body, or the last incomplete line."""
        self._data: list[bytes] = []
        """Lines of the event that is arriving."""

    def begin(self, status: int, headers: Mapping[bytes, bytes]) -> None:
        """Raises `BrokenOff` for a body that could be larger than it is, and `Redirected`."""
        if headers.get(b"content-encoding", b"identity").lower() != b"identity":
            raise BrokenOff("the answer is compressed, which was not requested")
        if is_redirect(status):
            raise Redirected
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        self._status = status
        self._is_stream = status < 400 and kind == b"text/event-stream"

    def take(self, part: bytes) -> bool:
        """Whether the message is there. Raises `MCPError` for too long an answer."""
        self._size += len(part)
        if self._size > self._limit:
            raise MCPError(INTERNAL_ERROR, f"its answer is longer than {self._limit} bytes")
        if not self._is_stream:
            self._parts.append(part)
            return False
        first, *lines = part.split(b"\n")
        self._parts.append(first)
        for line in lines:
            if self._takes_line(b"".join(self._parts).removesuffix(b"\r")):
                return True
            self._parts = [line]
        return False

    def end(self) -> None:
        """Raises `MCPError` if the message is not there."""
        if self._is_stream:
            raise MCPError(INTERNAL_ERROR, "its answer ended too early")
        message = _read_message(b"".join(self._parts)) or {}
        # A request that is refused before it is read is refused without its number.
        is_refusal = self._status >= 400 and isinstance(message.get("error"), dict)
        if message.get("id") != self._number and not is_refusal:
            code = METHOD_NOT_FOUND if self._status == 404 else INTERNAL_ERROR
            explanation = f"it answered with HTTP status {self._status}, and with nothing that can be read"
            raise MCPError(code, explanation)
        self.message = message

    def _takes_line(self, line: bytes) -> bool:
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif not line and self._data:
            message = _read_message(b"\n".join(self._data))
            self._data = []
            if message is not None and message.get("id") == self._number:
                self.message = message
                return True
        return False


class _Text(msgspec.Struct, forbid_unknown_fields=True):
    type: Literal["text"]
    text: str


class _Texts(msgspec.Struct, rename="camel"):
    """The common form of a result: strings, and perhaps the same content as a value."""

    content: list[_Text]
    result_type: str
    is_error: bool | None = None
    meta: dict[str, Any] | None = msgspec.field(name="_meta", default=None)


def require_result(call_result: dict[str, Any]) -> None:
    """Raise `ValidationError` unless this is the result of a call."""
    try:
        msgspec.convert(call_result, prepared(_Texts))
    except msgspec.ValidationError:
        # Other or invalid content is left to the SDK, which takes twenty times as long.
        methods.validate_server_result("tools/call", _ERA, call_result)


def _read_message(text: bytes) -> dict[str, Any] | None:
    try:
        message = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return message if isinstance(message, dict) else None
