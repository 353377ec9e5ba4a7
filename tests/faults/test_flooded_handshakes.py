"""A server with TLS under attack by handshakes: those that never end take no place for long."""

from __future__ import annotations

import asyncio
import socket
import ssl
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
from tests.support.patience import PATIENCE

PLACES = 50


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """The smallest application."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"well"})


def ask(port: int, files: TlsFiles) -> None:
    """A new client is answered."""
    context = ssl.create_default_context(cafile=files.certificate)
    with (
        socket.create_connection(("127.0.0.1", port), PATIENCE) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as secured,
    ):
        secured.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert secured.recv(4_096).startswith(b"HTTP/1.1 200")


def is_closed(held: socket.socket) -> bool:
    held.settimeout(PATIENCE)
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
    assert manifest_api.guards.tls.HEAD_SECONDS == 10
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
            # Those of the first kind go only because others come, those of the second also because their time is over.
            for seconds in (10 * PATIENCE, 1.0):
                monkeypatch.setattr(manifest_api.guards.tls, "HEAD_SECONDS", seconds)
                for _ in range(2 * PLACES):
                    held.append(stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE)))
                    held[-1].sendall(begins)
                await asyncio.to_thread(ask, port, files)
                assert await asyncio.to_thread(is_closed, held[0])
            assert await asyncio.to_thread(is_closed, held[-1])
            async with asyncio.timeout(PATIENCE):
                while connections._open or server._handshakes:
                    await asyncio.sleep(0.01)
            server.close()

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(attack())
