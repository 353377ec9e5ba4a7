"""The tools that a caller sees: those that it may use, and those that it may use after an approval."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from orgkernel.decisions.access.decision import AccessRow
from orgkernel.decisions.access.layers.file_scope import WRITE_OUT_OF_SCOPE
from orgkernel.mcp.gateway.caller import GatewayCaller
from orgkernel.mcp.gateway.gateway import Gateway, Offered, shown_definition

_BY_THE_CALL = ("path", "lock", "time", "input")
"""Circumstances that a call brings with it, so that whether they hold is decided when it comes."""

Usable = dict[str, dict[str, bool]]
"""Tool to action to whether it asks first."""


async def list_tools(gateway: Gateway, caller: GatewayCaller) -> list[dict[str, Any]]:
    """The tools of a caller, by name, in the words of MCP. Raises `OrgkernelError`."""
    usable = await find_usable(caller)
    if not usable:
        return []
    return shown_to(usable, await gateway.offers(await caller.view()))


def shown_to(usable: Usable, offers: Iterable[Offered]) -> list[dict[str, Any]]:
    """The tools among these that a caller sees, in their order."""
    return [
        shown_definition(offer, asks) for offer in offers if (asks := asks_first(usable, offer)) is not None
    ]


async def find_usable(caller: GatewayCaller) -> Usable:
    """What a caller may use now."""
    rows = await caller.ask(
        lambda kernel: kernel.what_can(caller.org_id, caller.subject, request=caller.base, kinds=["tool"])
    )
    return usable_in(rows)


def usable_in(rows: Iterable[AccessRow]) -> Usable:
    """The actions in a list that a call could make: allowed, asked for, or open to some calls."""
    found: Usable = {}
    for row in rows:
        if row.outcome in ("deny", "conditional") and not _is_open(row):
            continue
        actions = found.setdefault(row.resource.split(":", 2)[1], {})
        for action in row.actions:
            actions[action] = actions.get(action, True) and row.outcome == "ask"
    return found


def asks_first(usable: Usable, offer: Offered) -> bool | None:
    """Whether every use of a tool asks first. None if the caller cannot use it at all."""
    actions = usable.get(offer.binding.tool_id, {})
    asking = [actions[each] for each in offer.binding.actions if each in actions]
    return all(asking) if asking else None


def _is_open(row: AccessRow) -> bool:
    """Whether some call would be allowed: everything that it depends on comes with the call."""
    if row.outcome == "deny" and row.code not in ("LOCKED", WRITE_OUT_OF_SCOPE.name):
        return False
    return bool(row.conditions) and all(each.partition(":")[0] in _BY_THE_CALL for each in row.conditions)
