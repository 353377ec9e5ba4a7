"""The gate: it names each request, refuses callers without permission, answers from the cache, and passes on all others.

The order matters: the cache never answers a request that a guard has not accepted (docs/http.md).
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import Final

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manifest_api.current_request import REQUEST_ID, ROUTE, set_current
from manifest_api.guards.authentication import LIVENESS, Authenticator, refuse_reading
from manifest_api.guards.caller import note_caller
from manifest_api.guards.challenges import MCP_PATH, RESOURCE_METADATA, Challenges
from manifest_api.guards.limits import MAX_BODY, refuse_too_long
from manifest_api.guards.middleware import HeadAsGet, StandardHeaders, answer_fault
from manifest_api.guards.organizations import require_organization_of_path
from manifest_api.guards.request_head import RequestHead, read_head
from manifest_api.page_files import FILES
from manifest_api.problems import (
    RequestRefused,
    build_problem_response,
    build_refusal_response,
    build_store_problem,
)
from manifest_api.response_cache import Representation
from manifest_api.store_access import StoreAccess
from manifest_api.store_log import log_store_failure
from orgkernel.errors import StoreError
from orgkernel.kernel.kernel import Kernel

_STATELESS = frozenset(
    {
        LIVENESS,
        "/readyz",
        "/version",
        "/metrics",
        "/docs",
        "/openapi.json",
        "/.well-known/authzen-configuration",
        RESOURCE_METADATA,
        f"{RESOURCE_METADATA}{MCP_PATH}",
        *FILES,
    }
)
"""Routes that do not depend on the store and never wait for it."""


Observer = Callable[[Scope, int, float], None]
"""Called after each answered request: its scope, the status (0 if there was no answer), and the seconds."""


_NUMBERS: Final = Random()
"""A generator of its own: drawing from the shared one would change the numbers of the program that serves the app."""


class Gate:
    """The first and the last step for every request."""

    def __init__(
        self,
        app: ASGIApp,
        find_kept: Callable[[Scope, RequestHead], Representation | None],
        authenticator: Authenticator,
        kernel: Kernel,
        store_access: StoreAccess,
        observers: Sequence[Observer] = (),
        long_bodies: Mapping[str, int] = MappingProxyType({}),
        challenges: Challenges | None = None,
    ) -> None:
        """`find_kept` finds the cached response to the same request.

        `long_bodies` maps paths to the most bytes of their bodies, where that is more than usual. `challenges` completes
        refusals, if the server accepts tokens.
        """
        self._challenges = challenges
        self._long_bodies = long_bodies
        self._observers = tuple(observers)
        self._app = app
        self._find_kept = find_kept
        self._authenticator = authenticator
        self._kernel = kernel
        self._store_access = store_access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": 1008})
            return
        start = time.perf_counter()
        head = read_head(scope)
        # The id distinguishes requests and grants nothing, so it need not be secret.
        request_id = head.request_id or b"%016x" % _NUMBERS.getrandbits(64)
        scope[REQUEST_ID] = request_id
        set_current(scope)
        status = 0

        def send_named(message: Message) -> Awaitable[None]:
            """Send the request id too (OpenID AuthZEN 1.0, "Request Identification")."""
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [*message["headers"], (b"x-request-id", request_id)]
                if self._challenges is not None:
                    headers = self._challenges.complete(scope, status, headers)
                message = {**message, "headers": headers}
            return send(message)

        try:
            try:
                answer = await self._meet(scope, head)
            except Exception:
                answer = answer_fault(scope)
            if answer is None:
                await self._app(scope, receive, send_named)
            elif isinstance(answer, Representation):
                scope[ROUTE] = answer.route
                await answer.send(head.conditions, send_named, scope["method"])
            else:
                await HeadAsGet(StandardHeaders(answer))(scope, receive, send_named)
        finally:
            seconds = time.perf_counter() - start
            for observe in self._observers:
                observe(scope, status, seconds)

    async def _meet(self, scope: Scope, head: RequestHead) -> Response | Representation | None:
        """The response of the gate. None for a request that is passed on."""
        path = scope["path"]
        if path != LIVENESS and (head.authorization or path not in _STATELESS):
            await self._store_access.refresh()
        try:
            caller = await self._authenticator.identify(scope, head)
            note_caller(scope, caller)
            require_organization_of_path(caller, self._kernel, path)
            refused = refuse_reading(caller, scope["method"])
        except RequestRefused as error:
            refused = error
        except StoreError as error:
            log_store_failure(f"the keys cannot be read: {error.message}")
            return build_store_problem(error)
        if refused is not None:
            return build_refusal_response(refused)
        # The cache answers only requests without a body, because a body could be too large. Cached responses have a
        # path and a query within the limits, because they were answered before.
        if not head.has_body:
            try:
                kept = self._find_kept(scope, head)
            except StoreError:
                kept = None  # the route reports the error
            if kept is not None:
                return kept
        too_long = refuse_too_long(scope, head, self._long_bodies.get(scope["path"], MAX_BODY))
        return None if too_long is None else build_problem_response(*too_long)
