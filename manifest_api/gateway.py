"""The gateway over HTTP: `/mcp` answers each agent with the tools of its role, by its key.

Single messages over streamable HTTP, without sessions. A message that asks for progress is answered as a stream. Results of
tools are passed on as they are: they are between the caller and the tool.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from manifest_api.current_request import ROUTE
from manifest_api.engine.gateway_calls import encode_result, read_plain_call
from manifest_api.guards.authentication import read_bearer
from manifest_api.guards.caller import Caller, require_scope
from manifest_api.guards.delegation import read_delegation
from manifest_api.guards.leaving import ForClient
from manifest_api.guards.limits import replay, take_body
from manifest_api.guards.middleware import StandardHeaders, answer_fault, with_standard
from manifest_api.guards.origin import refuse_foreign_origin
from manifest_api.guards.request_head import read_head
from manifest_api.mcp_asker import HttpAsker, find_member, without_path
from manifest_api.problems import NO_STORE, RequestRefused, build_refusal_response
from manifest_api.questions import refuse_unknown_parameters
from manifest_api.refusals import refuse_by_kernel
from manifest_api.routes.mcp import MAX_CALL_BYTES, PATH
from manifest_api.store_access import StoreAccess
from orgkernel.decisions.access.decision import AccessDecision
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.engines import is_on
from orgkernel.errors import OrgkernelError, Refused, StoreError
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from orgkernel.mcp.gateway.approvals import FormAnswer
from orgkernel.mcp.gateway.caller import GatewayCaller
from orgkernel.mcp.gateway.calling import UnknownTool, call_tool
from orgkernel.mcp.gateway.gateway import McpGateway
from orgkernel.mcp.gateway.list_announcer import ListAnnouncer
from orgkernel.mcp.gateway.server import build_gateway_server
from orgkernel.mcp.server import HttpServer
from orgkernel.operations.permits import Permits
from orgkernel.toolbox.result import Step
from orgkernel.toolbox.upstream_tools import UpstreamCall, UpstreamTools

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

logger = logging.getLogger("orgkernel.server")
_CALLER = "orgkernel.gateway"
"""Scope key of the caller of a request."""
_STATE_SECONDS = 0.1
"""Seconds for which the state at the start of a request is treated as current."""
_WANTS_STREAM = re.compile(rb'"progressToken"|/logLevel"')
_JSON = with_standard([(b"content-type", b"application/json")])


class HttpGateway:
    """The gateway of a server, for all its callers, as an ASGI application."""

    def __init__(
        self,
        gateway: McpGateway,
        kernel: Kernel,
        store_access: StoreAccess,
        app: FastAPI,
    ) -> None:
        self.gateway = gateway
        self._kernel = kernel
        self._store_access = store_access
        self._app = app
        self._announcer = ListAnnouncer(gateway.changes, has_connection=False)
        self._reads_plain_calls = is_on("gateway_calls")
        self._tools: tuple[Store, UpstreamTools] | None = None
        for each in ("mcp", "httpx2"):  # they log every request, the second with the address of the server
            logging.getLogger(each).setLevel(logging.WARNING)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a message."""
        scope[ROUTE] = PATH
        request = Request({**scope, "app": self._app})
        try:
            caller = self._identify_caller(request)
            body = await take_body(receive, most=MAX_CALL_BYTES) if read_head(scope).has_body else b""
            if body is None:
                return  # the client has disconnected
            if self._reads_plain_calls:
                async with ForClient(receive) as client:
                    quick_answer = await self._answer_plain(scope, caller, body)
                    if quick_answer is not None:
                        headers = [*_JSON, (b"content-length", b"%d" % len(quick_answer))]
                        await send({"type": "http.response.start", "status": 200, "headers": headers})
                        await send({"type": "http.response.body", "body": quick_answer})
                        return
                if client.is_gone:
                    return  # a call that has begun must not be repeated
        except RequestRefused as error:
            response = build_refusal_response(error)
        except OrgkernelError as error:
            response = await refuse_by_kernel(request, error)
        except Exception:
            response = answer_fault(scope)
        else:
            scope[_CALLER] = caller
            await self._pass_on(scope, body, receive, send)
            return
        await StandardHeaders(response)(scope, receive, send)

    async def refresh(self) -> None:
        """Read the state again, if it has changed. `tools` raises what went wrong."""
        await self._store_access.refresh()

    def tools(self) -> UpstreamTools:
        """The object that decides about calls and makes them.

        Raises `StoreError`, and `Refused` if there is no store.
        """
        store = self._store_access.held()
        if store is None:
            raise Refused(
                "there is no store, and every call must be audited",
                "`orgkernel key create` creates it",
                NO_STORE.code,
            )
        if self._tools is None or self._tools[0] is not store:
            permits = Permits(self._kernel, store, has_state=True)
            self._tools = store, _Tools(permits, store, is_state_held=True, unrecorded=_log_unrecorded)
        return self._tools[1]

    def _identify_caller(self, request: Request) -> HttpCaller:
        """Identify the caller. Raises `RequestRefused`, `UnknownOrganization` and `NotServed`."""
        refuse_foreign_origin(request)
        refuse_unknown_parameters(request, ("org",))
        caller, org_id, subject = find_member(request, request.query_params.get("org"))
        require_scope(request, "report")  # a call uses grants up, and is counted
        return HttpCaller(request, caller, org_id, subject, self)

    async def _answer_plain(self, scope: Scope, caller: HttpCaller, body: bytes) -> bytes | None:
        call = read_plain_call(scope["headers"], body)
        if call is None:
            return None
        try:
            result = await call_tool(
                self.gateway, caller, call.name, call.arguments, form_asker=_answer_no_form
            )
        except UnknownTool:
            return None  # nothing was decided; the SDK words the error
        return encode_result(call, result)

    async def _pass_on(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Let the server of the SDK answer."""
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message = {**message, "headers": with_standard(message["headers"])}
            await send(message)

        try:
            async with ForClient(receive):
                await self._server.answer(
                    scope,
                    replay(body, receive),
                    send_with_headers,
                    streams=_WANTS_STREAM.search(body) is not None,
                )
        except Exception:
            if started:
                raise  # the server closes the connection: half a response must not look whole
            await StandardHeaders(answer_fault(scope))(scope, receive, send)

    def close_streams(self) -> None:
        """End the subscriptions of all clients."""
        self._announcer.close()

    @cached_property
    def _server(self) -> HttpServer:
        return HttpServer(build_gateway_server(self.gateway, _find_caller, self._announcer))


class _Tools(UpstreamTools):
    """Tools whose errors do not say where the store is."""

    async def call(self, org: str, call: UpstreamCall) -> tuple[Step, Mapping[str, Any] | None]:
        """Decide, and call. Raises `OrgkernelError`."""
        try:
            return await super().call(org, call)
        except StoreError as error:
            raise without_path(error) from None

    async def decide(
        self, org: str, request: AccessRequest, tool_input: bytes, actor: str, about: Mapping[str, str]
    ) -> AccessDecision:
        """Decide about reading a prompt or a resource. Raises `OrgkernelError`."""
        try:
            return await super().decide(org, request, tool_input, actor, about)
        except StoreError as error:
            raise without_path(error) from None


class HttpCaller(HttpAsker, GatewayCaller):
    """The agent or the person that a key belongs to."""

    def __init__(
        self, request: Request, caller: Caller, org_id: str, subject: str, gateway: HttpGateway
    ) -> None:
        super().__init__(request, caller, org_id, subject, read_delegation(request, subject))
        self.actor_name = caller.credential
        if caller.has_token:
            self.subject_token = read_bearer(read_head(request.scope))
        self.has_self_service = gateway.gateway.has_self_service
        self._gateway = gateway
        self._state_at = time.monotonic()

    async def view(self) -> OrgView:
        """The current version of the organization."""
        return self._kernel.organization(self.org_id).snapshot.index

    async def tools(self) -> UpstreamTools:
        """The object that makes calls, with the current state: finding the target of a call can take time if a
        server must start.
        """
        if time.monotonic() - self._state_at > _STATE_SECONDS:
            await self._gateway.refresh()
            self._state_at = time.monotonic()
        return self._gateway.tools()


def _log_unrecorded(text: str) -> None:
    logger.error("the outcome of a call was not recorded: %s", text)


async def _answer_no_form(message: str, request_id: str) -> FormAnswer | None:
    return None


def _find_caller(context: Any) -> HttpCaller:
    caller: HttpCaller = context.request.scope[_CALLER]
    return caller
