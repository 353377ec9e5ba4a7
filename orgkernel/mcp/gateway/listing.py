"""The tools that a caller sees: those that it may use, and those that it may use after an approval."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any, NamedTuple

import msgspec

from orgkernel.decisions.access.decision import AccessRow
from orgkernel.decisions.access.layers.policies import ASK_APPROVAL
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.kernel.access import OrganizationAccess
from orgkernel.kernel.kernel import Kernel
from orgkernel.mcp.gateway.caller import GatewayCaller
from orgkernel.mcp.gateway.gateway import McpGateway, OfferedTool, build_shown_definition
from orgkernel.mcp.gateway.server_lists import MissingServer

Usable = dict[str, dict[str, bool]]
"""Tool to action to whether it asks first."""


class GatewayList(NamedTuple):
    """A list in front of a host, in MCP's form."""

    items: list[dict[str, Any]]
    missing: tuple[MissingServer, ...] = ()
    """Servers that the caller may use and that did not answer. `items` has what was last known of them."""


async def list_tools(gateway: McpGateway, caller: GatewayCaller) -> GatewayList:
    """List the tools of a caller, by name. Raises `OrgkernelError`."""
    usable = await find_usable(gateway, caller)
    if not usable:
        return GatewayList([])
    offers = await gateway.offers(await caller.view(), usable)
    return GatewayList(list_shown_tools(usable, offers.tools), tuple(offers.missing))


def list_shown_tools(usable: Usable, offers: Iterable[OfferedTool]) -> list[dict[str, Any]]:
    """The tools among these that a caller sees, in their order."""
    return [
        build_shown_definition(offer, asks)
        for offer in offers
        if (asks := does_ask_first(usable, offer)) is not None
    ]


async def find_usable(gateway: McpGateway, caller: GatewayCaller) -> Usable:
    """Find the tools that a caller may use now."""
    return await caller.ask(
        lambda kernel: list_usable(
            kernel, caller.org_id, caller.subject, caller.base, gateway.servers_elsewhere
        )
    )


def list_usable(
    kernel: Kernel, org_id: str, subject: str, base: AccessRequest, servers_elsewhere: Container[str] = ()
) -> Usable:
    """List the tools that a subject may use now, in the circumstances of `base`.

    The files of `servers_elsewhere` are not on this machine, so links in paths of their calls are unresolved.
    """
    rows = kernel.what_can(org_id, subject, request=base, kinds=["tool"])
    return select_usable(rows, kernel.access(org_id), base, servers_elsewhere)


def select_usable(
    rows: Iterable[AccessRow],
    org_access: OrganizationAccess,
    base: AccessRequest,
    servers_elsewhere: Container[str] = (),
) -> Usable:
    """Select the actions that a call can make: allowed, needing approval, or allowed for some calls."""
    actions_by_tool: Usable = {}
    for row in rows:
        tool_id = row.resource.split(":", 2)[1]
        definition = org_access.view.records.tools.get(tool_id)
        actions = actions_by_tool.setdefault(tool_id, {})
        is_elsewhere = (
            definition is not None
            and definition.record.provider in servers_elsewhere
            and bool(definition.record.path_arguments)
        )
        for action in org_access.open_to_calls(row, base):
            asks = row.outcome == "ask" or (is_elsewhere and _asks_about_links(org_access, row, action, base))
            actions[action] = actions.get(action, True) and asks
    return actions_by_tool


def _asks_about_links(
    org_access: OrganizationAccess, row: AccessRow, action: str, base: AccessRequest
) -> bool:
    """Whether every call needs an approval because the links in its paths are unresolved."""
    request = msgspec.structs.replace(base, subject=row.subject, action=action, resource=row.resource)
    return ASK_APPROVAL.name in org_access.decide(leave_links_unresolved(request)).codes


def leave_links_unresolved(request: AccessRequest) -> AccessRequest:
    """A request that says that the links in the paths of its input are unresolved."""
    context = msgspec.structs.replace(request.context, links_unresolved=True)
    return msgspec.structs.replace(request, context=context)


def does_ask_first(usable: Usable, offer: OfferedTool) -> bool | None:
    """Whether every use of a tool needs an approval. None if the caller cannot use it at all."""
    actions = usable.get(offer.binding.tool_id, {})
    asking = [actions[each] for each in offer.binding.actions if each in actions]
    return all(asking) if asking else None
