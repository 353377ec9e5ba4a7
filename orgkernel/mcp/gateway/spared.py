"""Prompt size that a role saves: all tools of all servers compared with those that the role sees.

A host puts the name, the description and the schema of the arguments of every tool in front of the model, in every
call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from orgkernel.decisions.access.request import AccessRequest
from orgkernel.kernel.kernel import Kernel
from orgkernel.mcp.gateway.bindings import map_server_tools
from orgkernel.mcp.gateway.gateway import OfferedTool, make_visible, match_offers
from orgkernel.mcp.gateway.listing import list_shown_tools, list_usable
from orgkernel.mcp.gateway.names import build_exposed_name
from orgkernel.mcp.gateway.pins import Pins
from orgkernel.mcp.gateway.use_summary import Spared, SparedRole

BYTES_PER_TOKEN = 4
"""Bytes per token in current models, for English, JSON or YAML: `o200k_base` has 3.8 to 4.2 for these strings."""


def count_spared(kernel: Kernel, org_id: str, pins: Pins, roles: Iterable[str]) -> Spared:
    """Count the accepted tools. No server is started. Raises `StoreError`."""
    sizes = _Sizes(estimate_tokens)
    view = kernel.organization(org_id).snapshot.index
    everything: list[Mapping[str, Any]] = []
    offers: list[OfferedTool] = []
    for server in pins.servers:
        definitions = pins.definitions(server)
        everything += [
            {**make_visible(each), "name": build_exposed_name(server, name)}
            for name, each in definitions.items()
        ]
        offers += match_offers(server, definitions, map_server_tools(view, server))[0]
    size = sizes.of(everything)
    spared_roles = []
    for role in roles:
        subject = f"role:{role}"
        shown = list_shown_tools(list_usable(kernel, org_id, subject, AccessRequest(subject, "", "")), offers)
        its = sizes.of(shown)
        spared_roles.append(SparedRole(role, len(shown), its, max(0, size - its)))
    return Spared("estimated_tokens", pins.servers, len(everything), size, tuple(spared_roles))


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens of a string: a fourth of its bytes in UTF-8.

    The error for a single string can be a fifth.

    >>> estimate_tokens("Reads a page.")
    4
    """
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


def write_prompt_text(definition: Mapping[str, Any]) -> str:
    """Write a tool as a host puts it into a prompt.

    >>> write_prompt_text({"name": "files__read", "inputSchema": {"type": "object"}, "outputSchema": {}})
    '{"name":"files__read","description":"","input_schema":{"type":"object"}}'
    """
    shown = {
        "name": definition.get("name"),
        "description": definition.get("description") or "",
        "input_schema": definition.get("inputSchema") or {},
    }
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))


class _Sizes:
    """Caches the size of each string, however many roles see it."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._known: dict[str, int] = {}

    def of(self, definitions: Iterable[Mapping[str, Any]]) -> int:
        total = 0
        for text in map(write_prompt_text, definitions):
            if text not in self._known:
                self._known[text] = self._count(text)
            total += self._known[text]
        return total
