"""`create_app`: the ASGI application over one kernel."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from threading import Lock
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from manifest_api.access_log import AccessLog
from manifest_api.agent_cards import AgentCards, CardSettings
from manifest_api.answering import Answers, Representing
from manifest_api.auditing import Auditor
from manifest_api.authzen import Evaluator
from manifest_api.capacity import DEFAULT_BUDGET
from manifest_api.current_request import ROUTE
from manifest_api.engine.fast_path import build_fast_path
from manifest_api.feed import Feed
from manifest_api.guards.authentication import DEFAULT_RATE, KeyRing, build_authenticator
from manifest_api.guards.caller_secrets import CallerSecrets
from manifest_api.guards.challenges import Challenges, is_resource_metadata
from manifest_api.guards.gate import Gate
from manifest_api.guards.limits import BodyLimits
from manifest_api.guards.middleware import Faults, HeadAsGet, StandardHeaders
from manifest_api.guards.proxies import TrustedProxies
from manifest_api.guards.tokens import TokenSettings, TokenVerifier, read_origin
from manifest_api.idempotency import IdempotentRequests
from manifest_api.metrics import Metrics, ServerState
from manifest_api.openapi import ROUTERS, TITLE, build_openapi
from manifest_api.page_files import is_page
from manifest_api.refusals import install_refusals
from manifest_api.reloading import RELOAD_SECONDS, Reloader
from manifest_api.routes.authzen import EVALUATION
from manifest_api.routes.mcp import MAX_CALL_BYTES
from manifest_api.routes.mcp import PATH as MCP
from manifest_api.routes.page import build_page_headers
from manifest_api.routes.sign_in import is_sign_in
from manifest_api.store_access import (
    Retention,
    StoreAccess,
    VanishedGrants,
    audit_expired_records,
    keep_within_budget,
)
from manifest_api.telemetry import Telemetry
from orgkernel import __version__
from orgkernel.engines import is_on
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.registry_state import Reload
from orgkernel.kernel.stored import StoreLocation

if TYPE_CHECKING:
    from orgkernel.mcp.gateway.gateway import McpGateway


class _Application(FastAPI):
    """The application. The gate runs before the framework."""

    gate: ASGIApp
    fast_path: ASGIApp | None
    framework: ASGIApp
    once: ASGIApp
    """The framework, which runs a request with an idempotency key once."""
    gateway: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.gate(scope, receive, send)

    def answer(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Answer a request that the gate accepted."""
        is_evaluation = scope["type"] == "http" and scope["path"] == EVALUATION and scope["method"] == "POST"
        is_message = scope["type"] == "http" and scope["path"] == MCP and scope["method"] == "POST"
        if is_message and self.gateway is not None:
            return self.gateway(scope, receive, send)
        if is_evaluation and self.fast_path is not None:
            scope[ROUTE] = EVALUATION
            return self.fast_path(scope, receive, send)
        return self.once(scope, receive, send)


def create_app(
    kernel: Kernel,
    *,
    watch: bool = False,
    access_log: bool = False,
    store: StoreLocation | None = None,
    tokens: TokenSettings | None = None,
    rate: float = DEFAULT_RATE,
    reload_seconds: float = RELOAD_SECONDS,
    trusted_proxies: Iterable[str] = (),
    needs_key: bool = False,
    budget: int = DEFAULT_BUDGET,
    retention: Retention | None = None,
    telemetry: Telemetry | None = None,
    cards: CardSettings | None = None,
    gateway: McpGateway | None = None,
) -> FastAPI:
    """An application that answers from a kernel.

    - `watch`: reload the documents when they change.
    - `access_log`: log every request to `orgkernel.access` (`log_lines.py` formats the lines).
    - `store`: the location of the state, even if the store does not exist yet. With a store, decisions are audited and API
      keys are accepted. Without one, only requests from loopback are answered. A request with a forwarded header is not
      treated as a loopback request.
    - `tokens`: the issuers whose tokens are accepted in addition to keys.
    - `rate`: the most requests per second for each credential.
    - `reload_seconds`: the seconds after which an unfinished reload is reported as failed.
    - `trusted_proxies`: addresses and networks of proxies that may state the scheme and host of a request.
    - `needs_key`: require a credential even from loopback.
    - `budget`: the size of the store in bytes. At this size, a request from a caller without a credential is refused if it
      would be audited.
    - `retention`: the age at which audit rows are deleted.
    - `telemetry`: the tracer and meter that receive requests and reloads.
    - `cards`: the agent cards that are published, and their readers.
    - `gateway`: answers each agent at `/mcp` with the tools of its role.

    Raises `BadProject` for tokens that cannot be verified, and `UsageError` for a proxy that is not an address or a card
    key that cannot be used.
    """
    stored = StoreAccess(store, budget=budget)
    if store is not None:
        kernel = kernel.with_store(stored)
    answers = Answers(kernel)
    verifier = None if tokens is None else TokenVerifier(tokens, time.time)
    agent_cards = None if cards is None else AgentCards(cards)
    keys = KeyRing(stored, time.time)
    authenticator = build_authenticator(
        keys, verifier, time.monotonic, rate, needs_key=needs_key,
        is_public=lambda method, path: is_page(method, path) or is_sign_in(method, path) or is_resource_metadata(method, path) or (agent_cards is not None and agent_cards.is_public(method, path)),
    )  # fmt: skip
    vanishing = VanishedGrants(stored)
    metrics = Metrics()
    reload_observers = _list_reload_observers(metrics, telemetry, gateway)
    reloader = Reloader(answers, vanishing.note, reload_seconds, reload_observers)
    feed = Feed(stored)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        watching = asyncio.create_task(reloader.watch()) if watch else None
        await vanishing.note(kernel.state, Reload())
        noting = asyncio.create_task(audit_expired_records(stored, vanishing))
        measuring = asyncio.create_task(keep_within_budget(stored, retention))
        yield
        reloader.stop()
        noting.cancel()
        measuring.cancel()
        feed.close()
        if gateway is not None:
            await gateway.aclose()
        if watching is not None:
            await watching
        await asyncio.to_thread(stored.close)

    app = _Application(
        title=TITLE,
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    _keep_in_state(
        app, answers=answers, agent_cards=agent_cards, reloader=reloader, store_access=stored, feed=feed, keys=keys, stream_closers=[feed.close],
        pins=None if gateway is None else gateway.pins, tokens=tokens, page_headers=_build_page_headers(tokens),
    )  # fmt: skip
    app.state.auditor = Auditor(kernel, stored)
    app.state.evaluator = Evaluator(kernel, app.state.auditor, metrics.requests.decided)
    app.state.metrics = metrics
    app.state.server_state = ServerState(
        answers,
        stored,
        feed,
        lambda: {"responses": answers.cache, "evaluations": app.state.evaluator.cache},
        lambda: app.state.is_draining,
    )
    metrics.registry.register(app.state.server_state)
    app.state.trusted_proxies = TrustedProxies(trusted_proxies)
    app.state.verifying = Lock()
    app.state.is_draining = False
    app.openapi = build_openapi  # type: ignore[method-assign]
    _install_routes(app, answers)
    if gateway is not None:
        app.gateway = _build_http_gateway(gateway, kernel, stored, app)
    _wrap_framework(app, super(_Application, app).__call__, stored)
    app.fast_path = build_fast_path(app, app.state.evaluator.answer) if is_on("fast_path") else None
    observers = [metrics.requests.observe, *([] if telemetry is None else [telemetry.observe])]
    gate = Gate(
        app.answer, answers.find_kept, authenticator, kernel, stored, observers,
        {} if gateway is None else {MCP: MAX_CALL_BYTES},
        None if tokens is None else Challenges(app.state.trusted_proxies),
    )  # fmt: skip
    logged = AccessLog(gate) if access_log else gate
    app.gate = logged if telemetry is None else telemetry.traced(logged, metrics.registry)
    return app


def _wrap_framework(app: _Application, framework: ASGIApp, stored: StoreAccess) -> None:
    """Answer faults of the framework, and run a request with an idempotency key once."""
    app.framework = Faults(framework)
    app.once = IdempotentRequests(app.framework, stored)


def _build_page_headers(tokens: TokenSettings | None) -> Mapping[str, str]:
    """The headers of the page, which may ask the issuer if it is a client of it."""
    return build_page_headers(read_origin(tokens.issuer) if tokens is not None and tokens.page_client else "")


def _keep_in_state(app: FastAPI, **parts: object) -> None:
    """Keep the objects that the routes use."""
    for name, part in parts.items():
        setattr(app.state, name, part)


def _build_http_gateway(gateway: McpGateway, kernel: Kernel, stored: StoreAccess, app: FastAPI) -> ASGIApp:
    """The gateway of a server. Its imports are needed only by servers with a gateway."""
    from manifest_api.gateway import HttpGateway

    http_gateway = HttpGateway(gateway, kernel, stored, app)
    app.state.stream_closers.append(http_gateway.close_streams)
    return http_gateway


def _list_reload_observers(
    metrics: Metrics, telemetry: Telemetry | None, gateway: McpGateway | None
) -> list[Callable[[str, float], None]]:
    """The functions that are told of each reload."""

    def announce(result: str, _: float) -> None:
        # An edit of a role or a tool changes lists, as an edit of the file with the servers does.
        if gateway is not None and result == "ok":
            gateway.changes.announce()

    return [metrics.reloaded, announce, *([] if telemetry is None else [telemetry.reloaded])]


def _install_routes(app: FastAPI, answers: Answers) -> None:
    """Install the routes, the error handlers and the middleware."""
    # Not `include_router`, which builds every route again for each application, at the first request.
    for router in ROUTERS:
        app.router.routes.extend(router.routes)
    install_refusals(app)
    # From the inside out.
    app.add_middleware(BodyLimits)
    app.add_middleware(Faults)
    app.add_middleware(CallerSecrets)
    app.add_middleware(StandardHeaders)
    app.add_middleware(Representing, answers=answers)
    app.add_middleware(HeadAsGet)
