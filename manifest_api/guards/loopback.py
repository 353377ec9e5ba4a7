"""Without a key loopback may ask, and nothing else (design §10, "Who may ask").

A request is from loopback when its connection is, when no proxy has handed it on, and when its Host names this machine:
otherwise a web page elsewhere could point a name of its own at 127.0.0.1 and read the answers (DNS rebinding).
"""

from __future__ import annotations

import re
from ipaddress import IPv6Address, ip_address
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from manifest_api.problems import FOREIGN_HOST, FORWARDED, NOT_LOOPBACK, problem_response
from manifest_api.shapes import ProblemKind
from orgkernel.diagnostics.wording import quote

_HOST = re.compile(
    r"(?:(?P<name>localhost)|(?P<address>[0-9.]+)|\[(?P<address6>[0-9a-f:.]+)\])(?::[0-9]{0,5})?"
)
_FORWARDED = ("forwarded", "x-real-ip", "via")
_FORWARDED_PREFIX = "x-forwarded"


class LoopbackOnly:
    """Refuse whoever does not ask from this machine."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        refusal = _refusal(scope)
        if refusal is None:
            await self._app(scope, receive, send)
            return
        kind, detail, help = refusal
        await problem_response(kind, detail, help)(scope, receive, send)


def is_loopback(address: str) -> bool:
    """Whether text is an address of the loopback interface, an IPv4 one written as IPv6 included."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        return parsed.ipv4_mapped.is_loopback
    return parsed.is_loopback


def names_loopback(host: str) -> bool:
    """Whether a Host header, with or without a port, names this machine."""
    match = _HOST.fullmatch(host.lower())
    return match is not None and (
        match["name"] is not None or is_loopback(match["address"] or match["address6"])
    )


def _refusal(scope: Scope) -> tuple[ProblemKind, str, str] | None:
    client: Any = scope.get("client")
    if not client or not is_loopback(client[0]):
        return (
            NOT_LOOPBACK,
            "the request does not come from this machine",
            "ask from the machine the server runs on",
        )
    hosts = []
    for raw_name, raw_value in scope["headers"]:
        name = raw_name.decode("latin-1").lower()
        if name in _FORWARDED or name.startswith(_FORWARDED_PREFIX):
            return (
                FORWARDED,
                f"the request carries the header {quote(name)}",
                "ask the server directly, without a proxy",
            )
        if name == "host":
            hosts.append(raw_value.decode("latin-1"))
    if len(hosts) != 1:
        return (
            FOREIGN_HOST,
            f"the request carries {len(hosts)} Host headers",
            "send one that names this machine",
        )
    if not names_loopback(hosts[0]):
        return (
            FOREIGN_HOST,
            f"the Host is {quote(hosts[0])}",
            "ask for `localhost` or the loopback address itself",
        )
    return None
