"""One call through the gateway: find the tool, decide, call, and report the outcome."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from orgkernel.decisions.access.decision import Outcome
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.tool_input import encode_input
from orgkernel.diagnostics.wording import clean, did_you_mean, quote
from orgkernel.errors import OrgkernelError
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from orgkernel.loading.formats.names import build_tool_id
from orgkernel.mcp.explaining import find_worst
from orgkernel.mcp.gateway.approvals import FormAsker, ask_approval
from orgkernel.mcp.gateway.bindings import ToolBinding, shorten_text
from orgkernel.mcp.gateway.caller import GatewayCaller
from orgkernel.mcp.gateway.gateway import CallTarget, McpGateway, make_visible
from orgkernel.mcp.gateway.listing import does_ask_first, find_usable, leave_links_unresolved
from orgkernel.mcp.gateway.refusals import (
    build_error_result,
    build_no_result,
    build_refusal,
    build_undeclared_refusal,
)
from orgkernel.mcp.gateway.server_requests import build_answering_caller
from orgkernel.mcp.words import clean_sentence, write_error
from orgkernel.toolbox.path_targets import find_other_targets
from orgkernel.toolbox.upstream_tools import (
    AnswerRequests,
    LogReceiver,
    OnProgress,
    UpstreamCall,
    UpstreamError,
    build_call_request,
)


class UnknownTool(Exception):
    """A call names no tool."""


async def call_tool(
    gateway: McpGateway,
    caller: GatewayCaller,
    exposed: str,
    arguments: dict[str, Any],
    *,
    form_asker: FormAsker,
    on_progress: OnProgress | None = None,
    ask_client: AnswerRequests | None = None,
    log_receiver: LogReceiver | None = None,
) -> dict[str, Any]:
    """The result of a call in MCP's form; a refusal is also a result. `ask_client` passes requests of the server on, and
    `log_receiver` its log messages.

    Raises `UnknownTool`, and the errors of `form_asker`.
    """
    try:
        view = await caller.view()
        target = await gateway.find(view, exposed)
        if target is None and (reason := gateway.explain_missing(exposed)):
            return build_error_result(f"unavailable: {clean_sentence(clean(reason))} [TOOL_UNAVAILABLE]")
        if target is None:
            raise UnknownTool(await _describe_unknown_tool(gateway, caller, exposed))
        if len(target.bindings) > 1:
            return build_error_result(_describe_several(target))
        server = gateway.sessions.enter(target.server, caller.id, caller.subject_token)
        try:
            target = target._replace(server=server)
            return await _decide_and_call(
                caller, view, target, arguments, form_asker, on_progress, ask_client, log_receiver
            )
        finally:
            gateway.sessions.leave(server, caller.id, caller.subject_token)
    except UpstreamError as error:
        return build_error_result(f"unavailable: {clean_sentence(clean(error.error))} [TOOL_UNAVAILABLE]")
    except OrgkernelError as error:
        return build_error_result(write_error(error))


async def _decide_and_call(
    caller: GatewayCaller,
    view: OrgView,
    target: CallTarget,
    arguments: dict[str, Any],
    form_asker: FormAsker,
    on_progress: OnProgress | None,
    ask_client: AnswerRequests | None,
    log_receiver: LogReceiver | None,
) -> dict[str, Any]:
    server, name = target.server, target.name
    # An undeclared tool is also decided about, so that the answer and the audit record it.
    binding = (
        target.bindings[0] if target.bindings else ToolBinding(build_tool_id(server.name, name), ("use",))
    )
    try:
        tool_input = encode_input(arguments)
    except ValueError as error:
        return build_error_result(
            f"failed: the arguments are not valid JSON: {clean_sentence(clean(str(error)))} [INPUT_INVALID]"
        )
    action = binding.get_action_in(arguments)
    asked_request = build_call_request(caller.base, binding.tool_id, action, tool_input)
    request = await follow_links(caller, view, server.upstream.folder, binding.tool_id, asked_request)
    about = {"server": shorten_text(server.name), "tool": shorten_text(name)}
    call = UpstreamCall(
        request, binding.tool_id, tool_input, server, name, about,
        on_progress=on_progress, actor=caller.actor_name,
        log_receiver=_name_server(server.name, log_receiver),
        caller=None if ask_client is None else build_answering_caller(caller, server.name, ask_client),
    )  # fmt: skip
    tools = await caller.tools()
    step, result = await tools.call(caller.org_id, call)
    waiting = ""
    if step.outcome == "ask":
        approval = await ask_approval(caller, request, form_asker)
        waiting = approval.text
        if approval.is_given:
            # Answering the form could have taken an hour.
            server.refresh()
            view = await caller.view()
            request = await follow_links(caller, view, server.upstream.folder, binding.tool_id, asked_request)
            call = msgspec.structs.replace(call, request=request)
            step, result = await tools.call(caller.org_id, call)
    if result is not None:
        return dict(result)
    if step.outcome == "denied" and not target.bindings:
        return build_undeclared_refusal(caller.subject, server.name, name, step)
    if step.outcome in ("denied", "ask"):
        return await build_refusal(caller, request, step, waiting)
    return build_no_result(step, server.name, name)


def _name_server(server: str, receiver: LogReceiver | None) -> LogReceiver | None:
    """A receiver to whom each message names the server, because a host sees one server only."""
    if receiver is None:
        return None

    async def receive(level: Any, logger: str | None, data: Any) -> None:
        await receiver.receive(
            level, clean(server if logger is None else f"{server}/{logger}"), make_visible(data)
        )

    return receiver._replace(receive=receive)


async def follow_links(
    caller: GatewayCaller, view: OrgView, folder: str | None, tool_id: str, request: AccessRequest
) -> AccessRequest:
    """The request about the place where the paths of a call lead. Of several places, the one with the worst outcome.

    `folder` is where the files of the server are on this machine. Without one, the request says that links are unresolved.
    """
    definition = view.records.tools.get(tool_id)
    arguments = () if definition is None else definition.record.path_arguments or ()
    if not arguments:
        return request
    if folder is None:
        return leave_links_unresolved(request)
    root = view.records.organization.workspace_root
    targets = await asyncio.to_thread(
        find_other_targets, request.context.input or {}, arguments, folder, root
    )
    requests = [msgspec.structs.replace(request, resource=f"tool:{tool_id}:{each}") for each in targets]
    if len(requests) < 2:
        return requests[0] if requests else request

    def decide(kernel: Kernel) -> list[Outcome]:
        return [kernel.can(caller.org_id, each).outcome for each in requests]

    return requests[find_worst(await caller.ask(decide))]


def _describe_several(target: CallTarget) -> str:
    ids = ", ".join(quote(each.tool_id) for each in target.bindings)
    tool = f"{quote(target.name)} of server {quote(target.server.name)}"
    return f"deny: {tool} is declared several times ({ids}), so it is not clear what it requires\nwhat to do: keep one declaration"


async def _describe_unknown_tool(gateway: McpGateway, caller: GatewayCaller, exposed: str) -> str:
    """The message for an unknown tool. It names only tools that the caller sees."""
    usable = await find_usable(gateway, caller)
    seen = [
        each.exposed
        for each in (await gateway.offers(await caller.view(), usable)).tools
        if does_ask_first(usable, each) is not None
    ]
    hint = did_you_mean(exposed, seen)
    return clean_sentence(f"there is no tool {quote(exposed)}{f'; {hint}' if hint else ''}")
