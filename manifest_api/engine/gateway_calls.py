"""Read and answer plain tool calls without the MCP SDK, which takes longer than the decision and the call to the server.

A `tools/call` is plain if it is one complete request, with or without a handshake, that does not ask for progress or resume
another request, from a client that does not show forms. All other and all malformed requests go to the SDK. A property test
checks that both give the same answers (ADR 0062). Switch this module off with the engine `gateway_calls` (`orgkernel.engines`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from orgkernel import __version__

_PREFIX: Final = "io.modelcontextprotocol/"
_MODERN: Final = b"2026-07-28"
_HANDSHAKE: Final = (b"2025-11-25", b"2025-06-18", b"2025-03-26")
_SERVER: Final = {"name": "orgkernel-gateway", "version": __version__}
_SINGLE_HEADERS: Final = frozenset(
    {b"mcp-protocol-version", b"mcp-method", b"mcp-name", b"accept", b"content-type"}
)
_PARAMETER_FIELDS: Final = frozenset({"name", "arguments", "_meta"})
_MESSAGE_FIELDS: Final = frozenset({"jsonrpc", "id", "method", "params"})


class PlainCall(NamedTuple):
    """A call that can be answered without the SDK."""

    id: str | int
    name: str
    arguments: dict[str, Any]
    is_modern: bool


def read_plain_call(headers: list[tuple[bytes, bytes]], body: bytes) -> PlainCall | None:
    """The call in a request; None if the SDK has to answer it."""
    header_values: dict[bytes, bytes] = {}
    for name, value in headers:
        if name in _SINGLE_HEADERS:
            if name in header_values:
                return None
            header_values[name] = value.strip(b" \t")
        elif name.startswith((b"mcp-", b"x-mcp-")):
            return None
    accepts = header_values.get(b"accept", b"")
    if b"application/json" not in accepts or b"text/event-stream" not in accepts:
        return None
    if header_values.get(b"content-type", b"").partition(b";")[0].strip() != b"application/json":
        return None
    version = header_values.get(b"mcp-protocol-version", b"")
    is_modern = version == _MODERN
    if not is_modern and version not in _HANDSHAKE:
        return None
    try:
        message = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    call = _parse_call(message, is_modern)
    if call is None or (is_modern and not _do_headers_match(header_values, call)):
        return None
    return call


def encode_result(call: PlainCall, result: Mapping[str, Any]) -> bytes:
    """Encode the answer to a call as JSON-RPC."""
    call_result = dict(result)
    if call.is_modern:
        call_result["resultType"] = "complete"
        meta = call_result.get("_meta")
        stamp = f"{_PREFIX}serverInfo"
        if meta is None:
            call_result["_meta"] = {stamp: _SERVER}
        elif isinstance(meta, dict) and meta.get(stamp) is None:
            call_result["_meta"] = {**meta, stamp: _SERVER}
    elif "structuredContent" in call_result and not isinstance(call_result["structuredContent"], dict):
        del call_result["structuredContent"]  # before 2026-07-28 it is an object
    return msgspec.json.encode({"jsonrpc": "2.0", "id": call.id, "result": call_result})


def _parse_call(message: Any, is_modern: bool) -> PlainCall | None:
    if not isinstance(message, dict) or message.keys() != _MESSAGE_FIELDS or message["jsonrpc"] != "2.0":
        return None
    number, params = message["id"], message["params"]
    if (
        message["method"] != "tools/call"
        or not isinstance(params, dict)
        or not params.keys() <= _PARAMETER_FIELDS
    ):
        return None
    if isinstance(number, bool) or not isinstance(number, str | int):
        return None
    name, arguments, meta = params.get("name"), params.get("arguments"), params.get("_meta")
    if (
        not isinstance(name, str)
        or not isinstance(arguments, dict | None)
        or not isinstance(meta, dict | None)
    ):
        return None
    if not _is_plain_metadata(meta or {}, is_modern):
        return None
    return PlainCall(number, name, arguments or {}, is_modern)


def _is_plain_metadata(meta: dict[str, Any], is_modern: bool) -> bool:
    """Whether the metadata of a call does not change its answer."""
    if "progressToken" in meta or f"{_PREFIX}logLevel" in meta:
        return False
    if not is_modern:
        return not any(each.startswith(_PREFIX) for each in meta)
    capabilities = meta.get(f"{_PREFIX}clientCapabilities")
    info = meta.get(f"{_PREFIX}clientInfo")
    if (
        meta.get(f"{_PREFIX}protocolVersion") != _MODERN.decode()
        or not isinstance(capabilities, dict)
        or capabilities
    ):
        return False
    return info is None or (isinstance(info, dict) and {"name", "version"} >= info.keys() and len(info) == 2)


def _do_headers_match(header_values: dict[bytes, bytes], call: PlainCall) -> bool:
    """Whether the headers that repeat the method and the tool name match the body."""
    name = header_values.get(b"mcp-name", b"")
    return (
        header_values.get(b"mcp-method") == b"tools/call"
        and name == call.name.encode()
        and not name.startswith(b"=?")
    )
