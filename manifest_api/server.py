"""`serve`: run the application until a signal ends it. Addresses beyond loopback need an API key first."""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from manifest_api.agent_cards import CardSettings
from manifest_api.app import create_app
from manifest_api.capacity import DEFAULT_BUDGET
from manifest_api.current_request import copy_context_without_request
from manifest_api.guards.authentication import DEFAULT_RATE, KeyRing
from manifest_api.guards.connections import (
    KEEP_ALIVE_SECONDS,
    MAX_MESSAGE,
    Connection,
    Connections,
    LimitedProtocol,
    compute_connection_budget,
)
from manifest_api.guards.loopback import is_loopback
from manifest_api.guards.proxies import TrustedProxies
from manifest_api.guards.tls import SOON_DAYS, SecuredListener, Tls, TlsFiles, count_days_left
from manifest_api.guards.tokens import TokenSettings
from manifest_api.reloading import RELOAD_SECONDS, Reloader
from manifest_api.routes.mcp import MAX_CALL_BYTES
from manifest_api.store_access import Retention, StoreAccess
from manifest_api.telemetry import open_telemetry
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.stored import StoreLocation

if TYPE_CHECKING:
    from orgkernel.mcp.gateway.gateway import McpGateway

logger = logging.getLogger("orgkernel.server")

_GRACE_SECONDS = 5
DRAIN_SECONDS = 2.0
"""Seconds between SIGTERM and closing, during which `/readyz` answers 503."""
# So few that accepting all of them at once stays within the file descriptors that are kept free.
_BACKLOG = 128


def serve(
    kernel: Kernel,
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    reload: bool = False,
    access_log: bool = False,
    on_ready: Callable[[str], None] | None = None,
    store: StoreLocation | None = None,
    tokens: TokenSettings | None = None,
    rate: float = DEFAULT_RATE,
    reload_seconds: float = RELOAD_SECONDS,
    trusted_proxies: Iterable[str] = (),
    needs_key: bool = False,
    drain_seconds: float = DRAIN_SECONDS,
    budget: int = DEFAULT_BUDGET,
    retention: Retention | None = None,
    tls: TlsFiles | None = None,
    cards: CardSettings | None = None,
    gateway: McpGateway | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM. SIGHUP reloads the documents and the certificate.

    `reload` also reloads them when they change on disk, and `access_log` logs every request. `on_ready` is called with
    the URL of the server when it accepts connections. Port 0 picks a free port. After SIGTERM, `/readyz` answers 503 for
    `drain_seconds` while all else is answered; then the server closes. With `tls`, only HTTPS is spoken. The other
    options are those of `create_app`. Raises `UsageError` for an address that cannot be used, such as one beyond
    loopback before there is a key, and for a certificate that cannot be used.
    """
    secured = None if tls is None else Tls(tls)
    has_keys = tokens is not None or _has_keys(store)
    addresses = resolve_address(host, port, has_keys=has_keys, needs_key=needs_key)
    listener = _listen(addresses, host, port)
    # Loaded objects stay: collecting garbage among them would delay answers for longer than they take.
    gc.freeze()
    telemetry = open_telemetry(os.environ)
    app = create_app(
        kernel, watch=reload, access_log=access_log, store=store, tokens=tokens, rate=rate,
        reload_seconds=reload_seconds,
        trusted_proxies=trusted_proxies, needs_key=needs_key, budget=budget, retention=retention,
        telemetry=telemetry, cards=cards, gateway=gateway,
    )  # fmt: skip
    # The calls through a gateway have larger bodies than the requests of the registry.
    longest_call = 0 if gateway is None else MAX_CALL_BYTES
    connections = limit_connections(app.state.trusted_proxies, MAX_MESSAGE + longest_call)
    app.state.server_state.connections = connections
    config = build_config(app, connections)
    logging.getLogger("watchfiles").setLevel(logging.WARNING)
    if secured is not None and count_days_left(secured.expires_at) < SOON_DAYS:
        logger.warning("the certificate expires in %d days: renew it", count_days_left(secured.expires_at))
    try:
        said_ready = partial(on_ready or (lambda url: None), _build_url(listener, secured is not None))
        _Server(config, app, said_ready, drain_seconds, connections, secured).run([listener])
    finally:
        listener.close()
        if telemetry is not None:
            telemetry.close()


def build_config(app: ASGIApp, connections: Connections | None = None) -> uvicorn.Config:
    """The configuration of uvicorn."""
    places = connections or limit_connections()
    return uvicorn.Config(
        app,
        http=partial(LimitedProtocol, connections=places),  # type: ignore[arg-type]
        backlog=_BACKLOG,
        # The caller's address is that of the connection alone: see guards/loopback.py.
        proxy_headers=False,
        server_header=False,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level=logging.ERROR,  # it warns of every malformed request, which a client could fill the log with
        access_log=False,
        timeout_keep_alive=int(KEEP_ALIVE_SECONDS),
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )


def limit_connections(proxies: TrustedProxies | None = None, max_message: int = MAX_MESSAGE) -> Connections:
    """The places for connections. `proxies` may take as many as there are. A request in transit has at most `max_message` bytes."""
    trusted = proxies or TrustedProxies()
    return Connections(
        compute_connection_budget(),
        lambda address: is_loopback(address) or trusted.includes(address),
        max_message,
    )


class _Server(uvicorn.Server):
    """A uvicorn server that reports when it is ready, drains on SIGTERM, ends without a traceback, and reloads on
    SIGHUP.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        app: FastAPI,
        on_ready: Callable[[], None],
        drain_seconds: float,
        connections: Connections,
        tls: Tls | None,
    ) -> None:
        super().__init__(config)
        self._connections = connections
        self._tls = tls
        self._state = app.state
        self._reloader: Reloader = app.state.reloader
        self._on_ready = on_ready
        self._drain_seconds = drain_seconds
        self._reloads: set[asyncio.Task[None]] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        if self._tls is None:
            await super().startup(sockets)
        else:
            await super().startup([])
            for listener in sockets or ():
                listener.listen(_BACKLOG)
                secured = SecuredListener(listener, self._tls, self._connections, self._make_protocol)
                self.servers.append(secured)  # type: ignore[arg-type]
        if self.started:
            self._on_ready()

    def _make_protocol(self, handshake: Connection) -> LimitedProtocol:
        """Create the protocol of a connection, as uvicorn does."""
        return LimitedProtocol(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state,
            connections=self._connections, handshake=handshake,
        )  # fmt: skip

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Requests that are cut off now need no tracebacks; orgkernel's messages use its own logger.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        for close in self._state.stream_closers:  # otherwise the shutdown would wait for those who follow
            close()
        await super().shutdown(sockets)
        if self.force_exit:  # a second Ctrl-C: uvicorn stops waiting, even for the watcher
            await self.lifespan.shutdown()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals like uvicorn, except that a signal that ended the server is not raised again."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        handlers: dict[int, Any] = {
            signal.SIGINT: self.handle_exit,
            signal.SIGTERM: lambda number, frame: self._drain(loop, number, frame),
        }
        if hasattr(signal, "SIGHUP"):
            handlers[signal.SIGHUP] = lambda *_: loop.call_soon_threadsafe(
                self._read_again, context=copy_context_without_request()
            )
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _drain(self, loop: asyncio.AbstractEventLoop, number: int, frame: FrameType | None) -> None:
        """Say that the server is not ready, and close after a while. A second signal closes at once."""
        if self._state.is_draining or self.should_exit or not self.started:
            self.handle_exit(number, frame)
            return
        self._state.is_draining = True
        loop.call_soon_threadsafe(loop.call_later, self._drain_seconds, self._close)

    def _close(self) -> None:
        self.should_exit = True

    def _read_again(self) -> None:
        if self._tls is not None:
            try:
                self._tls.renew()
                logger.info(
                    "read the certificate again; it expires in %d days", count_days_left(self._tls.expires_at)
                )
            except UsageError as error:
                logger.error("the certificate was not replaced: %s", error.message)
        task = asyncio.get_running_loop().create_task(self._reloader.reload())
        self._reloads.add(task)
        task.add_done_callback(self._reloads.discard)


def _has_keys(store: StoreLocation | None) -> bool:
    """Whether there is a valid key. Raises `StoreError`."""
    store_access = StoreAccess(store)
    try:
        store_access.read_now()
        return KeyRing(store_access, time.time).has_keys
    finally:
        store_access.close()


def resolve_address(host: str, port: int, *, has_keys: bool, needs_key: bool = False) -> list[Any]:
    """Resolve an address to listen on. Raises `UsageError` if it needs a key and none exists."""
    if needs_key and not has_keys:
        raise UsageError(
            "every request needs a key, but no key exists", "create one with `orgkernel key create --admin`"
        )
    try:
        addresses = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise UsageError(
            f"{quote(host)} is not an address of this machine", "listen on `127.0.0.1`"
        ) from None
    if not has_keys and not all(is_loopback(str(address[0])) for *_, address in addresses):
        raise UsageError(
            f"{quote(host)} is not a loopback address",
            "without an API key, the server listens on loopback only; create a key with `orgkernel key create --admin`, or listen on `127.0.0.1`",
        )
    return addresses


def _listen(addresses: list[Any], host: str, port: int) -> socket.socket:
    """A listening socket on the first of the addresses that were found. Raises `UsageError` if it cannot be used."""
    family, kind, protocol, _, address = addresses[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise UsageError(
                f"port {port} of {quote(host)} is in use",
                "choose another port with `--port`; 0 picks a free one",
            ) from None
        reason = (error.strerror or "the address cannot be used").lower()
        raise UsageError(f"cannot listen on port {port} of {quote(host)}: {reason}") from None
    return listener


def _build_url(listener: socket.socket, is_secured: bool) -> str:
    address, port = listener.getsockname()[:2]
    scheme = "https" if is_secured else "http"
    return f"{scheme}://[{address}]:{port}" if ":" in address else f"{scheme}://{address}:{port}"
