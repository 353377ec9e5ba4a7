"""Names of tools and prompts in front of a host: `SERVER__NAME`.

The name depends on nothing but the server and the tool, so no server can change the name of another server's tool or
use the same name: no server part contains two underscores. If two servers would still have the same name, the
gateway does not start (`require_distinct_names`), and two tools of one server have no name at all (`map_tool_names`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Final

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError

OWN = "orgkernel"
"""Prefix of the gateway's own tools. No server has this name in front of a host."""
OWN_PREFIX: Final = f"{OWN}__"
"""The beginning of the names of the tools of orgkernel itself. No name of a server's tool begins with it."""
_PLAIN_SERVER = re.compile(rf"(?!.*__)(?!(?i:{OWN})\Z)[A-Za-z0-9](?:[A-Za-z0-9_-]{{0,22}}[A-Za-z0-9])?\Z")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]+\Z")
_OTHERS = re.compile(r"[^A-Za-z0-9-]+")
_MAX_LENGTH = 64
"""Maximum length of a tool name that every host accepts."""
_DIGEST = 8


def build_exposed_name(server: str, name: str) -> str:
    """The name of a tool of a server in front of a host.

    >>> build_exposed_name("github", "list_issues"), build_exposed_name("my files", "read.text")
    ('github__list_issues', 'my-files-3c02e611__read-text-4b02e355')
    """
    front = build_prefix(server)
    left = _MAX_LENGTH - len(front) - 2
    is_plain = len(name) <= left and _PLAIN_NAME.match(name)
    return f"{front}__{name if is_plain else _shorten(name, left)}"


def build_prefix(server: str) -> str:
    """The prefix of the tools of a server."""
    return server if _PLAIN_SERVER.match(server) else _shorten(server, 24)


def map_tool_names(server: str, names: Iterable[str]) -> dict[str, str]:
    """The tools of a server, keyed by their names in front of a host. Tools whose names would be equal are left out."""
    original_names: dict[str, str] = {}
    twice: set[str] = set()
    for name in names:
        exposed = build_exposed_name(server, name)
        if original_names.setdefault(exposed, name) != name:
            twice.add(exposed)
    return {exposed: name for exposed, name in original_names.items() if exposed not in twice}


def require_distinct_names(servers: Iterable[str]) -> None:
    """Refuse servers of which two would be called the same. Raises `UsageError`."""
    seen: dict[str, str] = {}
    for server in servers:
        front = build_prefix(server).lower()
        if front in seen:
            raise UsageError(
                f"servers {quote(seen[front])} and {quote(server)} cannot be told apart in front of a host",
                "give one of them another name in the file that declares it",
            )
        seen[front] = server


def _shorten(text: str, most: int) -> str:
    """Replace invalid characters in a name, and add a digest that keeps it unique."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    kept = _OTHERS.sub("-", text).strip("-")[: most - _DIGEST - 1].rstrip("-")
    return f"{kept}-{digest}" if kept else f"x-{digest}"
