"""Show the arguments of a requested call to its approver. Secrets are masked and long values are cut, unless all of it is asked for."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from orgkernel.decisions.access.tool_input import decode_input
from orgkernel.runtime.likely_secrets import is_secret_name
from orgkernel.runtime.secret_shapes import mask_secrets

MAX_SHOWN = 4_000
"""The most characters of a value that is not shown in full."""


class CallArgument(msgspec.Struct, frozen=True):
    """One argument of a call."""

    name: str
    value: str
    """A text as it is, with its line breaks; any other value as JSON."""
    is_masked: bool = False
    """Whether something in it that looks like a secret is masked."""
    left_out: int = 0
    """The number of characters that are left out at the end."""


def describe_arguments(tool_input: bytes, *, full: bool = False) -> tuple[CallArgument, ...]:
    """The arguments in an encoded input, by name.

    >>> describe_arguments(b'{"amount":20,"password":"tr0ub4dor"}')
    (CallArgument(name='amount', value='20', is_masked=False, left_out=0), CallArgument(name='password', value='*********', is_masked=True, left_out=0))
    """
    return tuple(_describe(name, value, full) for name, value in decode_input(tool_input).items())


def _describe(name: str, value: Any, full: bool) -> CallArgument:
    if full:
        return CallArgument(name, _write(value))
    masked = _mask(name, value)
    text = _write(masked)
    return CallArgument(name, text[:MAX_SHOWN], masked != value, max(0, len(text) - MAX_SHOWN))


def _write(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _mask(name: str, value: Any) -> Any:
    """The value with every text masked that stands under the name of a secret, or that looks like one."""
    if isinstance(value, dict):
        return {key: _mask(key, each) for key, each in value.items()}
    if isinstance(value, list):
        return [_mask(name, each) for each in value]
    if is_secret_name(name) and value not in (None, ""):
        return "*" * len(_write(value))
    return mask_secrets(value) if isinstance(value, str) else value
