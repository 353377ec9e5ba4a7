"""A server with TLS under attack by handshakes: those that never end take no place for long."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import uvloop
from uvicorn.server import ServerState

import manifest_api.guards.tls
from manifest_api.guards.connections import Connection, Connections, LimitedProtocol
from manifest_api.guards.tls import SecuredListener, Tls, TlsFiles
from manifest_api.server import build_config
from tests.support.certificates import make_certificate

PLACES = 50


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """The smallest application."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"well"})


def ask(port: int, files: TlsFiles) -> float:
    """Seconds until a new client is answered."""
    begun = time.monotonic()
    context = ssl.create_default_context(cafile=files.certificate)
    with (
        socket.create_connection(("127.0.0.1", port), 10) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as secured,
    ):
        secured.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert secured.recv(4_096).startswith(b"HTTP/1.1 200")
    return time.monotonic() - begun


def is_closed(held: socket.socket) -> bool:
    held.settimeout(2)
    try:
        return held.recv(1) == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize("new_loop", [asyncio.SelectorEventLoop, uvloop.new_event_loop])
@pytest.mark.parametrize("begins", [b"", b"\x16\x03\x01\x02\x00\x01"], ids=["silent", "partial"])
def test_handshakes_that_never_end_do_not_end_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, new_loop: Callable[[], Any], begins: bytes
) -> None:
    """They make room for others when all places are taken, and are closed when their time is over."""
    monkeypatch.setattr(manifest_api.guards.tls, "HEAD_SECONDS", 2.0)
    files = make_certificate(tmp_path)
    connections = Connections(PLACES)
    config = build_config(answer, connections)
    config.load()

    async def attack() -> None:
        state = ServerState()

        def make(handshake: Connection) -> LimitedProtocol:
            return LimitedProtocol(config, state, {}, connections=connections, handshake=handshake)

        with socket.create_server(("127.0.0.1", 0), backlog=3 * PLACES) as listener, ExitStack() as stack:
            server = SecuredListener(listener, Tls(files), connections, make)
            port = listener.getsockname()[1]
            held = []
            for _ in range(2 * PLACES):
                held.append(stack.enter_context(socket.create_connection(("127.0.0.1", port), 10)))
                held[-1].sendall(begins)
            assert await asyncio.to_thread(ask, port, files) < 1.9
            assert await asyncio.to_thread(is_closed, held[0])
            assert await asyncio.to_thread(is_closed, held[-1])
            assert await asyncio.to_thread(ask, port, files) < 1.9
            for _ in range(100):
                if not connections._open and not server._handshakes:
                    break
                await asyncio.sleep(0.01)
            assert not connections._open
            assert not server._handshakes
            server.close()

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(attack())
