"""Credentials on their way into a call, and kept out of everything that comes back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgkernel.toolbox.providers import HttpApi, McpServer

MASK = "***"
_LEAST = 4
"""Values shorter than this are not masked: they would be found in any text."""


def headers_for(provider: HttpApi | McpServer, credentials: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """The headers of a call; and what is missing, where a credential is."""
    headers = dict(provider.headers)
    for header, (name, before) in provider.credential_headers.items():
        if name not in credentials:
            return {}, missing(name)
        headers[header] = before + credentials[name]
    return headers, ""


def missing(name: str) -> str:
    """A credential that is needed and was not handed out, or not found."""
    return f"the credential `{name}` is missing"


def mask_values(value: Any, credentials: Mapping[str, str]) -> Any:
    """A value without what the credentials say, wherever a text in it repeats it."""
    secrets = [each for each in credentials.values() if len(each) >= _LEAST]
    return _mask(value, secrets) if secrets else value


def _mask(value: Any, secrets: list[str]) -> Any:
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, MASK)
        return value
    if isinstance(value, dict):
        return {_mask(key, secrets): _mask(each, secrets) for key, each in value.items()}
    if isinstance(value, list):
        return [_mask(each, secrets) for each in value]
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(_mask(each, secrets) for each in value)
    return value
