"""The tools that a caller sees: those that it may use, and those that it may use after an approval."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from orgkernel.decisions.access.decision import AccessRow
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.kernel.access import OrganizationAccess
from orgkernel.kernel.kernel import Kernel
from orgkernel.mcp.gateway.caller import GatewayCaller
from orgkernel.mcp.gateway.gateway import McpGateway, Offered, shown_definition

Usable = dict[str, dict[str, bool]]
"""Tool to action to whether it asks first."""


async def list_tools(gateway: McpGateway, caller: GatewayCaller) -> list[dict[str, Any]]:
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
    return await caller.ask(lambda kernel: usable_by(kernel, caller.org_id, caller.subject, caller.base))


def usable_by(kernel: Kernel, org_id: str, subject: str, base: AccessRequest) -> Usable:
    """What a subject may use now, in the circumstances of `base`."""
    rows = kernel.what_can(org_id, subject, request=base, kinds=["tool"])
    return usable_in(rows, kernel.access(org_id), base)


def usable_in(rows: Iterable[AccessRow], desk: OrganizationAccess, base: AccessRequest) -> Usable:
    """The actions in a list that a call could make: allowed, asked for, or open to some calls."""
    found: Usable = {}
    for row in rows:
        actions = found.setdefault(row.resource.split(":", 2)[1], {})
        for action in desk.open_to_calls(row, base):
            actions[action] = actions.get(action, True) and row.outcome == "ask"
    return found


def asks_first(usable: Usable, offer: Offered) -> bool | None:
    """Whether every use of a tool asks first. None if the caller cannot use it at all."""
    actions = usable.get(offer.binding.tool_id, {})
    asking = [actions[each] for each in offer.binding.actions if each in actions]
    return all(asking) if asking else None
