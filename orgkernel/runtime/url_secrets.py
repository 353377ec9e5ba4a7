"""Finds secrets in URLs by where they stand: user information and the values of a query.

What a value looks like does not matter: a short word can be a password.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import unquote, unquote_plus

from .lazy_patterns import lazy_pattern

_URL: Final = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s\"'`<>]+")
_PARTS: Final = re.compile(r"([^:]+://)([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?\Z", re.DOTALL)
_PARAMETER: Final = re.compile(r"[^&;]+")
MASK: Final = "***"


class UrlSecret(NamedTuple):
    """A value in a URL, and the name of its parameter; `userinfo` for user information."""

    name: str
    value: str


def mask_urls(text: str, *, keeps_length: bool = False) -> str:
    """A text in which these places of all URLs are masked, with as many characters as before if it `keeps_length`.

    >>> mask_urls("see https://ann:pw@desk.example/mcp?k=v&x#y")
    'see https://***@desk.example/mcp?k=***&***#y'
    """
    if "://" not in text:
        return text
    return _URL.sub(lambda match: _mask_url(match[0], keeps_length=keeps_length), text)


def find_url_secrets(text: str) -> Iterator[UrlSecret]:
    """The values in these places of all URLs of a text, as they are written and as a server reads them."""
    for match in _URL.finditer(text):
        parts = _PARTS.match(match[0])
        if parts is None:
            continue
        users, has_user, _ = parts[2].rpartition("@")
        if has_user:
            for value in users.split(
                ":", 1
            ):  # without a password, the user is the key, as in `https://KEY@host`
                yield from _list_forms("userinfo", value)
        for parameter in _PARAMETER.findall((parts[4] or "?")[1:]):
            name, has_value, value = parameter.partition("=")
            yield from _list_forms(name, value) if has_value else _list_forms("key", name)


def _mask_url(url: str, *, keeps_length: bool) -> str:
    def mask(value: str) -> str:
        return "*" * len(value) if keeps_length else MASK

    def mask_parameter(match: re.Match[str]) -> str:
        name, has_value, value = match[0].partition("=")
        return f"{name}={mask(value)}" if has_value else mask(name)

    parts = _PARTS.match(url)
    if parts is None:
        return url
    scheme, authority, path, query, fragment = parts.groups()
    users, at, host = authority.rpartition("@")
    query = query and "?" + _PARAMETER.sub(mask_parameter, query[1:])
    return f"{scheme}{mask(users) if at else ''}{at}{host}{path}{query or ''}{fragment or ''}"


def _list_forms(name: str, value: str) -> Iterator[UrlSecret]:
    for form in dict.fromkeys((value, unquote(value), unquote_plus(value))):
        if form:
            yield UrlSecret(name, form)
