"""Decide about requests of a server during a call, such as to sample the model of the client, by the rights of the caller.

A request is decided like a call of a declared tool of the server with the name of the method in MCP (`names.mcp`), such as
`sampling/createMessage`. So roles have it or not, policies and limits apply to it, and it is in the audit log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgkernel.decisions.access.tool_input import encode_input
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import OrgkernelError
from orgkernel.mcp.gateway.bindings import bind_exactly, map_server_tools, shorten_text
from orgkernel.mcp.gateway.caller import GatewayCaller
from orgkernel.mcp.gateway.gateway import make_visible
from orgkernel.toolbox.upstream_tools import (
    AnsweringCaller,
    AnswerRequests,
    RequestDenied,
    ServerRequest,
    build_call_request,
)


def build_answering_caller(caller: GatewayCaller, server: str, ask_client: AnswerRequests) -> AnsweringCaller:
    """The caller of a call of a server, whose client answers what the caller has the right to answer."""

    async def answer(requests: Mapping[str, ServerRequest]) -> dict[str, dict[str, Any]]:
        try:
            for each in requests.values():
                await _require_right(caller, server, each)
        except OrgkernelError as error:
            raise RequestDenied(f"it cannot be decided: {error.code}") from None
        visible = {
            key: ServerRequest(each.method, make_visible(each.params)) for key, each in requests.items()
        }
        return await ask_client(visible)

    return AnsweringCaller(caller.id, answer)


async def _require_right(caller: GatewayCaller, server: str, server_request: ServerRequest) -> None:
    method = server_request.method
    bindings = bind_exactly(map_server_tools(await caller.view(), server), method)
    if len(bindings) != 1:
        several = "several tools" if bindings else "no tool"
        raise RequestDenied(f"{several} of server {quote(server)} with the name {quote(method)} for MCP")
    binding = bindings[0]
    encoded = encode_input(server_request.params)
    request = build_call_request(caller.base, binding.tool_id, binding.actions[0], encoded)
    tools = await caller.tools()
    about = {"server": shorten_text(server), "request": method}
    decision = await tools.decide(caller.org_id, request, encoded, caller.actor_name, about)
    if decision.outcome != "allow":
        raise RequestDenied(
            f"{quote(caller.subject)} has no right to {quote(f'tool:{binding.tool_id}')} [{decision.code}]"
        )
