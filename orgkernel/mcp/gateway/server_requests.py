"""Decide requests that an MCP server sends during a tool call, such as `sampling/createMessage`, which asks for a completion by
the client's model.

The caller of the tool needs the right to each request. To declare it, declare a tool of the server whose `names.mcp` is the name
of the MCP method. A request is then decided like a call of this tool: roles have the tool or not, policies and limits apply, and
the decision is in the audit log.
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
    """The caller of a tool call, with a function that passes requests of the server to the client if the caller
    has the right.
    """

    async def answer(requests: Mapping[str, ServerRequest]) -> dict[str, dict[str, Any]]:
        try:
            for each in requests.values():
                await _require_right(caller, server, each)
        except OrgkernelError as error:
            raise RequestDenied(f"the request cannot be decided: {error.code}") from None
        visible = {
            key: ServerRequest(each.method, make_visible(each.params)) for key, each in requests.items()
        }
        return await ask_client(visible)

    return AnsweringCaller(caller.id, answer)


async def _require_right(caller: GatewayCaller, server: str, server_request: ServerRequest) -> None:
    method = server_request.method
    bindings = bind_exactly(map_server_tools(await caller.view(), server), method)
    if len(bindings) != 1:
        several = "more than one tool" if bindings else "no tool"
        raise RequestDenied(f"{several} of server {quote(server)} has `names.mcp` {quote(method)}")
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
