"""Encode the arguments of a tool as bytes, and compute their digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import msgspec

from orgkernel.decisions.access.request import AccessRequest

_encode = json.JSONEncoder(sort_keys=True, allow_nan=False, separators=(",", ":")).encode
_decode = json.JSONDecoder().decode


def encode_input(tool_input: Mapping[str, Any]) -> bytes:
    r"""The input as the canonical bytes that are decided about, permitted and passed to the tool. Raises `ValueError`.

    >>> encode_input({"b": 1, "a": ["ü"]})
    b'{"a":["\\u00fc"],"b":1}'
    """
    try:
        text = _encode(dict(tool_input))
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from None
    return text.encode("ascii")


def decode_input(tool_input: bytes) -> dict[str, Any]:
    """The values of an encoded input. They are new objects on each call."""
    values: dict[str, Any] = _decode(tool_input.decode())
    return values


def add_input(request: AccessRequest, tool_input: bytes) -> AccessRequest:
    """A request with an encoded input in its circumstances."""
    context = msgspec.structs.replace(request.context, input=decode_input(tool_input))
    return msgspec.structs.replace(request, context=context)


def digest_input(tool_input: bytes) -> str:
    """The SHA-256 of an encoded input."""
    return hashlib.sha256(tool_input).hexdigest()


def is_input_of(digest: str, tool_input: Mapping[str, Any] | None) -> bool:
    """Whether a digest belongs to an input. A missing or invalid input never matches."""
    return tool_input is not None and find_digest(tool_input) == digest


def find_digest(tool_input: Mapping[str, Any]) -> str | None:
    """The SHA-256 of an input; None if it is not valid JSON."""
    try:
        return digest_input(encode_input(tool_input))
    except ValueError:
        return None
