"""One call through the gateway: find what it is, decide, call, and say how it went."""

from __future__ import annotations

from typing import Any

from orgkernel.decisions.access.tool_input import encode_input
from orgkernel.diagnostics.wording import clean, did_you_mean, quote
from orgkernel.errors import OrgkernelError
from orgkernel.loading.formats.names import named_tool_id
from orgkernel.mcp.gateway.approvals import FormAsker, ask_approval
from orgkernel.mcp.gateway.bindings import ToolBinding, shortened
from orgkernel.mcp.gateway.caller import GatewayCaller
from orgkernel.mcp.gateway.gateway import CallTarget, McpGateway
from orgkernel.mcp.gateway.listing import asks_first, find_usable
from orgkernel.mcp.gateway.refusals import error_result, no_result, refusal
from orgkernel.mcp.words import error_text, plain
from orgkernel.toolbox.upstream_tools import OnProgress, UpstreamCall, UpstreamError, request_with


class UnknownTool(Exception):
    """A call names no tool."""


async def call_tool(
    gateway: McpGateway,
    caller: GatewayCaller,
    exposed: str,
    arguments: dict[str, Any],
    *,
    asked: FormAsker,
    on_progress: OnProgress | None = None,
) -> dict[str, Any]:
    """The result of a call, in the words of MCP; a refusal is one too. Raises `UnknownTool`, and what `asked` raises."""
    try:
        view = await caller.view()
        target = await gateway.find(view, exposed)
        if target is None:
            raise UnknownTool(await _no_tool(gateway, caller, exposed))
        if len(target.bindings) > 1:
            return error_result(_several(target))
        return await _decide_and_call(caller, target, arguments, asked, on_progress)
    except UpstreamError as error:
        return error_result(f"unavailable: {plain(clean(error.error))} [TOOL_UNAVAILABLE]")
    except OrgkernelError as error:
        return error_result(error_text(error))


async def _decide_and_call(
    caller: GatewayCaller,
    target: CallTarget,
    arguments: dict[str, Any],
    asked: FormAsker,
    on_progress: OnProgress | None,
) -> dict[str, Any]:
    server, name = target.server, target.name
    # A tool that nobody declared is decided about too, so that the answer and the audit say so.
    binding = (
        target.bindings[0] if target.bindings else ToolBinding(named_tool_id(server.name, name), ("use",))
    )
    try:
        tool_input = encode_input(arguments)
    except ValueError as error:
        return error_result(
            f"failed: the arguments are not valid JSON: {plain(clean(str(error)))} [INPUT_INVALID]"
        )
    action = binding.action_in(arguments)
    request = request_with(caller.base, binding.tool_id, action, tool_input)
    about = {"server": shortened(server.name), "tool": shortened(name)}
    call = UpstreamCall(
        request, binding.tool_id, tool_input, server, name, about,
        on_progress=on_progress, actor=caller.actor_name,
    )  # fmt: skip
    tools = await caller.tools()
    step, result = await tools.call(caller.org_id, call)
    waiting = ""
    if step.outcome == "ask":
        approval = await ask_approval(caller, request, asked)
        waiting = approval.text
        if approval.is_given:
            server.refresh()  # it may have taken somebody an hour
            step, result = await tools.call(caller.org_id, call)
    if result is not None:
        return dict(result)
    if step.outcome in ("denied", "ask"):
        return await refusal(caller, request, step, waiting)
    return no_result(step, server.name, name)


def _several(target: CallTarget) -> str:
    ids = ", ".join(quote(each.tool_id) for each in target.bindings)
    tool = f"{quote(target.name)} of server {quote(target.server.name)}"
    return f"deny: {tool} is declared several times ({ids}), so nobody can say what it requires\nwhat to do: keep one declaration"


async def _no_tool(gateway: McpGateway, caller: GatewayCaller, exposed: str) -> str:
    """Why there is no such tool. Only tools that the caller sees are named."""
    usable = await find_usable(caller)
    seen = [
        each.exposed
        for each in await gateway.offers(await caller.view())
        if asks_first(usable, each) is not None
    ]
    hint = did_you_mean(exposed, seen)
    return plain(f"there is no tool {quote(exposed)}{f'; {hint}' if hint else ''}")
