"""How tools and prompts of servers are called in front of a host: `SERVER__NAME`.

The name depends on nothing but the server and the tool, so no server can change how a tool of another one is called, and
none can be called like it: no server part has two underscores in it.
"""

from __future__ import annotations

import hashlib
import re

_PLAIN_SERVER = re.compile(r"(?!.*__)[A-Za-z0-9](?:[A-Za-z0-9_-]{0,22}[A-Za-z0-9])?\Z")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]+\Z")
_OTHERS = re.compile(r"[^A-Za-z0-9-]+")
_LONGEST = 64
"""Characters that every host takes in the name of a tool."""
_DIGEST = 8


def exposed_name(server: str, name: str) -> str:
    """The name of a tool of a server in front of a host.

    >>> exposed_name("github", "list_issues"), exposed_name("my files", "read.text")
    ('github__list_issues', 'my-files-3fdd08eb__read-text-bcd75bf3')
    """
    front = server if _PLAIN_SERVER.match(server) else _shortened(server, 24)
    left = _LONGEST - len(front) - 2
    is_plain = len(name) <= left and _PLAIN_NAME.match(name)
    return f"{front}__{name if is_plain else _shortened(name, left)}"


def _shortened(text: str, most: int) -> str:
    """A text without other characters, told apart from all others by a digest."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    kept = _OTHERS.sub("-", text).strip("-")[: most - _DIGEST - 1].rstrip("-")
    return f"{kept}-{digest}" if kept else f"x-{digest}"
