"""Requests from loopback, which may ask without a key (docs/authentication.md).

A request comes from loopback if its connection does, no proxy has forwarded it, and its Host names this machine.
Otherwise a web page could point a name of its own at 127.0.0.1 and read the answers (DNS rebinding).
"""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Any

from starlette.types import Scope

from manifest_api.guards.request_head import RequestHead
from manifest_api.problems import FOREIGN_HOST, FORWARDED, NOT_LOOPBACK
from manifest_api.shapes import ProblemCode
from orgkernel.diagnostics.wording import quote

_HOST = re.compile(
    r"(?:(?P<name>localhost)|(?P<address>[0-9.]+)|\[(?P<address6>[0-9a-f:.]+)\])(?::[0-9]{0,5})?"
)
# No name of this machine is longer, so longer ones are neither parsed nor remembered.
_MAX_LENGTH = 100


def refuse_strangers(scope: Scope, head: RequestHead) -> tuple[ProblemCode, str, str] | None:
    """Why a request does not count as loopback. None if it does."""
    client: Any = scope.get("client")
    if not client or not is_loopback(client[0]):
        return (
            NOT_LOOPBACK,
            NOT_LOOPBACK.sentence,
            "send the request from the machine of the server",
        )
    if head.forwarded is not None:
        return (
            FORWARDED,
            f"the request has the header {quote(head.forwarded)}",
            "send the request directly, without a proxy",
        )
    if len(head.hosts) != 1:
        return (
            FOREIGN_HOST,
            f"the request has {len(head.hosts)} Host headers",
            "send one Host header that names this machine",
        )
    if len(head.hosts[0]) > _MAX_LENGTH or not is_loopback_name(head.hosts[0]):
        return (
            FOREIGN_HOST,
            f"the Host is {quote(head.hosts[0])}",
            "use `localhost` or a loopback address",
        )
    return None


@lru_cache(maxsize=64)  # the same few values recur
def is_loopback(address: str) -> bool:
    """Whether a string is a loopback address, including IPv4 addresses in IPv6 form."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        return parsed.ipv4_mapped.is_loopback
    return parsed.is_loopback


@lru_cache(maxsize=64)
def is_loopback_name(host: str) -> bool:
    """Whether a Host header, with or without a port, names this machine."""
    match = _HOST.fullmatch(host.lower())
    return match is not None and (
        match["name"] is not None or is_loopback(match["address"] or match["address6"])
    )
