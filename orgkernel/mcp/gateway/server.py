"""The gateway in the words of the SDK, which speaks both eras of the protocol."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from orgkernel import __version__
from orgkernel.diagnostics.wording import clean
from orgkernel.errors import OrgkernelError
from orgkernel.mcp.gateway.approvals import FormAnswer, FormAsker
from orgkernel.mcp.gateway.caller import GatewayCaller, LocalCaller
from orgkernel.mcp.gateway.calling import UnknownTool, call_tool
from orgkernel.mcp.gateway.client_answers import (
    PausedCall,
    PausedCalls,
    build_connected_asker,
    build_input_required,
    require_capabilities,
)
from orgkernel.mcp.gateway.gateway import McpGateway
from orgkernel.mcp.gateway.list_announcer import ListAnnouncer
from orgkernel.mcp.gateway.listing import GatewayList, list_tools
from orgkernel.mcp.gateway.log_levels import LogLevels
from orgkernel.mcp.gateway.names import OWN_PREFIX
from orgkernel.mcp.gateway.passing import list_prompts, list_resources, list_templates
from orgkernel.mcp.gateway.reading_handlers import build_reading_handlers
from orgkernel.mcp.gateway.refusals import build_error_result
from orgkernel.mcp.gateway.self_service import call_own_tool, explain_own_name, find_own_tools
from orgkernel.mcp.server import describe_tool, hide_fault
from orgkernel.mcp.words import write_error
from orgkernel.toolbox.upstream_tools import AnswerRequests, RequestDenied, ServerRequest

if TYPE_CHECKING:
    from mcp import types
    from mcp.server.lowlevel import Server

T = TypeVar("T")
_INSTRUCTIONS = (
    "These are the tools of your role. A refusal says why, what would change it, and who can do it instead: do what it "
    f"says, or call {OWN_PREFIX}request_access; do not try another way."
)
_LIST_TTL = 60_000
"""Milliseconds for which a list can be reused. This is safe, because every call is decided."""
_PARTIAL_LIST_TTL = 2_000
"""The same for a list without a server that does not answer."""
_END_SECONDS = 10.0
_INVALID_PARAMS = -32602
_FORM = {"type": "object", "properties": {}}
_QUESTION = "approval"


class _NeedsInput(Exception):
    """A client of the newer era has to answer a form, and to send the call again."""

    def __init__(self, message: str, request_id: str) -> None:
        super().__init__(message)
        self.message = message
        self.request_id = request_id


def build_gateway_server(
    gateway: McpGateway, find_caller: Callable[[Any], GatewayCaller], announcer: ListAnnouncer
) -> Server[Any]:
    """Build a server that answers every message for the caller that `find_caller` returns for its context.

    The `announcer` tells clients when a list has changed.
    """
    from mcp import types
    from mcp.server.caching import CacheHint
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError

    def build_refusal(error: OrgkernelError | UnknownTool, data: Any = None) -> MCPError:
        text = write_error(error) if isinstance(error, OrgkernelError) else str(error)
        return MCPError(code=_INVALID_PARAMS, message=text, data=data)

    async def await_answer(awaitable: Awaitable[T], data: Any = None) -> T:
        try:
            return await awaitable
        except OrgkernelError as error:
            raise build_refusal(error, data) from None

    async def answer(ctx: Any, pending_result: Awaitable[Mapping[str, Any]], data: Any = None) -> Any:
        return _adapt_to_protocol(ctx, await await_answer(pending_result, data))

    async def answer_list(ctx: Any, field: str, awaitable: Awaitable[GatewayList]) -> dict[str, Any]:
        announcer.note_session(ctx)
        return _adapt_to_protocol(ctx, _build_list_result(ctx, field, await await_answer(awaitable)))

    async def on_list_tools(ctx: Any, params: Any) -> Any:
        return await answer_list(ctx, "tools", _list_tools(gateway, find_caller(ctx)))

    async def on_call_tool(ctx: Any, params: types.CallToolRequestParams) -> Any:
        caller = find_caller(ctx)
        own_tool = find_own_tools(caller).get(params.name)
        if own_tool is not None:
            return _adapt_to_protocol(ctx, await call_own_tool(caller, own_tool, params.arguments))
        if reason := explain_own_name(caller, params.name):
            return _adapt_to_protocol(ctx, build_error_result(f"deny: {reason}"))

        async def call(ask_client: AnswerRequests | None) -> dict[str, Any]:
            return await call_tool(
                gateway, caller, params.name, params.arguments or {}, form_asker=_build_form_asker(ctx, params),
                on_progress=_pass_progress_on(ctx), ask_client=ask_client, log_receiver=log_levels.build_receiver(ctx),
            )  # fmt: skip

        try:
            # A state of a paused call never begins a call, also if no server may ask any more.
            if not gateway.may_ask and params.request_state is None:
                return _adapt_to_protocol(ctx, await call(None))
            if not _is_modern(ctx):
                return await call(build_connected_asker(ctx))
            # The names and the arguments are part of the owner: a state continues the same call only.
            owner = repr((caller.id, params.name, params.arguments))

            def start(ask_paused: AnswerRequests) -> Coroutine[Any, Any, dict[str, Any]]:
                async def ask(requests: Mapping[str, ServerRequest]) -> dict[str, dict[str, Any]]:
                    require_capabilities(ctx.session, requests)
                    return await ask_paused(requests)

                return call(ask)

            outcome = await paused_calls.run(
                owner, params.request_state, _dump(params.input_responses), start
            )
            if isinstance(outcome, PausedCall):
                return build_input_required(outcome)
            return _adapt_to_protocol(ctx, outcome)
        except UnknownTool as error:
            raise build_refusal(error) from None
        except RequestDenied as error:
            text = f"{error}; it might have had an effect: check before you call it again"
            raise MCPError(code=_INVALID_PARAMS, message=text) from None
        except _NeedsInput as form:
            form_request = types.ElicitRequest(
                params=types.ElicitRequestFormParams(message=form.message, requested_schema=_FORM)
            )
            return types.InputRequiredResult(
                input_requests={_QUESTION: form_request}, request_state=form.request_id
            )

    async def on_list_prompts(ctx: Any, params: Any) -> Any:
        return await answer_list(ctx, "prompts", list_prompts(gateway, find_caller(ctx)))

    async def on_list_resources(ctx: Any, params: Any) -> Any:
        return await answer_list(ctx, "resources", list_resources(gateway, find_caller(ctx)))

    async def on_list_templates(ctx: Any, params: Any) -> Any:
        return await answer_list(ctx, "resourceTemplates", list_templates(gateway, find_caller(ctx)))

    async def on_listen(ctx: Any, params: types.SubscriptionsListenRequestParams) -> Any:
        return await announcer.listen(ctx, params, find_caller(ctx).id)

    log_levels = LogLevels(has_connection=announcer.has_connection)
    paused_calls = PausedCalls()
    lists = CacheHint(_LIST_TTL, "private")
    server: Server[Any] = Server(
        "orgkernel-gateway",
        version=__version__,
        instructions=_INSTRUCTIONS,
        # Without this function, the SDK lists all tools before every call to compare headers with arguments.
        get_tool_input_schema=gateway.get_schema,
        cache_hints={
            "tools/list": lists,
            "prompts/list": lists,
            "resources/list": lists,
            "resources/templates/list": lists,
            "resources/read": CacheHint(0, "private"),
        },
        on_list_tools=on_list_tools,
        on_call_tool=on_call_tool,
        on_list_prompts=on_list_prompts,
        on_list_resources=on_list_resources,
        on_list_resource_templates=on_list_templates,
        **build_reading_handlers(gateway, find_caller, answer),
        on_subscriptions_listen=on_listen,
    )
    # Not as an argument of the server, which warns that later versions have no such request.
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, log_levels.set_level)
    server.middleware.append(hide_fault)
    return server


def _dump(responses: Mapping[str, Any] | None) -> dict[str, Any]:
    """The answers of a client as it sent them."""
    return {
        key: each.model_dump(mode="json", by_alias=True, exclude_none=True)
        for key, each in (responses or {}).items()
    }


async def run_gateway_stdio(gateway: McpGateway, caller: LocalCaller) -> None:
    """Serve one caller on standard input and output, until the input ends or a signal comes."""
    from mcp.server.lowlevel import NotificationOptions
    from mcp.server.stdio import stdio_server

    announcer = ListAnnouncer(gateway.changes, has_connection=True)
    server = build_gateway_server(gateway, lambda _: caller, announcer)
    changes = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
    _install_signal_handlers(gateway, caller)
    try:
        async with stdio_server() as (received, sent):
            await server.run(received, sent, server.create_initialization_options(changes))
    finally:
        await gateway.aclose()


def _install_signal_handlers(gateway: McpGateway, caller: LocalCaller) -> None:
    """End the servers too when a signal ends this process, because some stay when their input ends, and write down how the
    last calls ended.

    The process then leaves at once: a thread of the SDK reads the input, and nothing but its end would wake it.
    """
    loop = asyncio.get_running_loop()
    ending: list[asyncio.Task[None]] = []

    async def end(number: int) -> None:
        with suppress(Exception):
            await asyncio.wait_for(gateway.aclose(), _END_SECONDS)
        with suppress(Exception):
            await asyncio.wait_for(asyncio.to_thread(caller.close), _END_SECONDS)
        os._exit(128 + number)

    def begin(number: int) -> None:
        if ending:
            os._exit(128 + number)
        ending.append(loop.create_task(end(number)))

    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is None or signal.getsignal(number) == signal.SIG_IGN:
            continue
        with suppress(NotImplementedError, RuntimeError, ValueError):  # no such handlers there
            loop.add_signal_handler(number, begin, number)


async def _list_tools(gateway: McpGateway, caller: GatewayCaller) -> GatewayList:
    """The tools of a caller, and the tools with which it asks about its permissions and for more."""
    tools, missing = await list_tools(gateway, caller)
    for name, tool in find_own_tools(caller).items():
        own = describe_tool(tool)
        tools.append({**own.model_dump(by_alias=True, exclude_none=True, mode="json"), "name": name})
    return GatewayList(sorted(tools, key=lambda each: str(each["name"])), missing)


def _build_list_result(ctx: Any, field: str, listing: GatewayList) -> dict[str, Any]:
    """A list as a result. One that is not complete names the missing servers, and is kept for a short time only."""
    result: dict[str, Any] = {field: listing.items}
    if not listing.missing:
        return result
    missing = [
        {"server": clean(each.server), "reason": clean(each.reason)}
        | ({} if each.retry_seconds is None else {"retrySeconds": each.retry_seconds})
        for each in listing.missing
    ]
    result["_meta"] = {"orgkernel/missing": missing}
    if _is_modern(ctx):
        result["ttlMs"] = _PARTIAL_LIST_TTL
    return result


def _build_form_asker(ctx: Any, params: types.CallToolRequestParams) -> FormAsker:
    """Build the function that asks the person at the host."""
    from mcp.shared.exceptions import MCPError, NoBackChannelError
    from mcp.types import ClientCapabilities, ElicitationCapability
    from mcp.types.version import MODERN_PROTOCOL_VERSIONS

    async def ask(message: str, request_id: str) -> FormAnswer | None:
        session = ctx.session
        if not session.check_client_capability(ClientCapabilities(elicitation=ElicitationCapability())):
            return None
        if session.protocol_version in MODERN_PROTOCOL_VERSIONS:
            input_response = (params.input_responses or {}).get(_QUESTION)
            if input_response is None or params.request_state != request_id:
                raise _NeedsInput(message, request_id)
            action: FormAnswer | None = getattr(input_response, "action", None)
            return action
        try:
            answer = await session.elicit_form(message, _FORM, related_request_id=ctx.request_id)
        except (MCPError, NoBackChannelError):
            return None
        given: FormAnswer = answer.action
        return given

    return ask


def _adapt_to_protocol(ctx: Any, result: Mapping[str, Any]) -> dict[str, Any]:
    """Adapt a result to the protocol version of a connection."""
    return {**result, "resultType": "complete"} if _is_modern(ctx) else dict(result)


def _is_modern(ctx: Any) -> bool:
    """Whether a connection uses a version of the protocol without a handshake."""
    from mcp.types.version import MODERN_PROTOCOL_VERSIONS

    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def _pass_progress_on(ctx: Any) -> Any:
    """Forward progress if the client requested it."""
    token = None if ctx.meta is None else ctx.meta.get("progress_token")
    if token is None:
        return None

    async def pass_on(progress: float, total: float | None, message: str | None) -> None:
        await ctx.session.report_progress(progress, total, message)

    return pass_on
