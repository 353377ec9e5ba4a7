"""The gateway over HTTP: `/mcp` answers each agent with the tools of its role, by its key.

Single messages over streamable HTTP, without sessions. A message that asks for progress is answered as a stream.
"""

from __future__ import annotations

import logging
from functools import cached_property
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from manifest_api.guards.caller import Caller, require_scope
from manifest_api.mcp_asker import HttpAsker, asker_of
from manifest_api.problems import NO_STORE, RequestRefused
from manifest_api.store_access import StoreAccess
from orgkernel.errors import Refused
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from orgkernel.mcp.gateway.caller import GatewayCaller
from orgkernel.mcp.gateway.gateway import Gateway
from orgkernel.mcp.gateway.server import build_gateway_server
from orgkernel.mcp.server import HttpServer
from orgkernel.operations.permits import Permits
from orgkernel.toolbox.upstream_tools import UpstreamTools

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

logger = logging.getLogger("orgkernel.server")
_CALLER = "orgkernel.gateway"
"""Key of the scope with the caller of a request."""
_WANTS_PROGRESS = b'"progressToken"'


class HttpGateway:
    """The gateway of a server, for all its callers."""

    def __init__(self, gateway: Gateway, kernel: Kernel, store_access: StoreAccess) -> None:
        self.gateway = gateway
        self._kernel = kernel
        self._store_access = store_access
        self._tools: tuple[Store, UpstreamTools] | None = None

    def tools(self) -> UpstreamTools:
        """What decides about calls and makes them. Raises `StoreError`, and `RequestRefused` if there is no store."""
        store = self._store_access.held()
        if store is None:
            raise RequestRefused(
                NO_STORE, "there is no store, and every call is audited", "`orgkernel key create` makes it"
            )
        if self._tools is None or self._tools[0] is not store:
            self._tools = store, UpstreamTools(Permits(self._kernel, store), store)
        return self._tools[1]

    def response(self, request: Request, org: str | None) -> Response:
        """The answer to a message. Raises `RequestRefused`, `UnknownOrganization` and `NotServed`."""
        require_scope(request, "report")  # a call uses grants up, and is counted
        request.scope[_CALLER] = HttpCaller(request, asker_of(request, org), self)
        return _Streamed(self._server)

    @cached_property
    def _server(self) -> HttpServer:
        logging.getLogger("mcp").setLevel(logging.WARNING)  # it logs every request that it opens
        return HttpServer(build_gateway_server(self.gateway, _find_caller))


class HttpCaller(HttpAsker, GatewayCaller):
    """The agent or the person that a key belongs to."""

    def __init__(self, request: Request, asker: HttpAsker, gateway: HttpGateway) -> None:
        caller: Caller = asker.caller
        super().__init__(request, caller, asker.org_id, asker.subject)
        self.actor_name = caller.credential
        self._gateway = gateway

    async def view(self) -> OrgView:
        """The organization as it is now."""
        return self._kernel.organization(self.org_id).snapshot.index

    async def tools(self) -> UpstreamTools:
        """What makes calls."""
        try:
            return self._gateway.tools()
        except RequestRefused as error:
            raise Refused(error.detail, error.help, error.kind.code) from None


class _Streamed(Response):
    """An answer that the server of the SDK sends by itself."""

    def __init__(self, server: HttpServer) -> None:
        super().__init__()
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await Request(scope, receive).body()
        replayed = False

        async def again() -> Any:
            nonlocal replayed
            if replayed:
                return await receive()
            replayed = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._server.answer(scope, again, send, streams=_WANTS_PROGRESS in body)


def _find_caller(context: Any) -> HttpCaller:
    caller: HttpCaller = context.request.scope[_CALLER]
    return caller
