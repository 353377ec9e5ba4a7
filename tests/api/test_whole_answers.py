"""Answers leave in one packet, streams are not held up, and nothing is sent to a client that is gone."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import pytest
import uvloop
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from manifest_api.guards.connections import Connections, LimitedProtocol
from manifest_api.guards.whole_answers import WholeAnswers
from manifest_api.server import build_config
from tests.support.patience import PATIENCE

LARGE = 1_000_000


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer as the path says."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    if scope["path"] == "/waits":
        await send({"type": "http.response.body", "body": b"one", "more_body": True})
        await asyncio.sleep(10 * PATIENCE)
    if scope["path"] == "/breaks":
        raise RuntimeError
    body = b"x" * LARGE if scope["path"] == "/large" else b"two"
    await send({"type": "http.response.body", "body": body})


class Noting(WholeAnswers):
    """Notes the size of what is sent at once."""

    sent: list[int]

    def flush(self) -> None:
        """Note it."""
        if self._held:
            self.sent.append(self._size)
        super().flush()


@contextmanager
def noted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The sizes of what connections send."""
    Noting.sent = []
    monkeypatch.setattr("manifest_api.guards.connections.WholeAnswers", Noting)
    yield Noting.sent


def ask(
    monkeypatch: pytest.MonkeyPatch, path: str, read: Callable[[asyncio.StreamReader], Awaitable[bytes]]
) -> tuple[bytes, list[int]]:
    """What a client reads, and the sizes of what was sent."""

    async def whole() -> bytes:
        loop = asyncio.get_running_loop()
        config = build_config(app)
        config.load()
        state, connections = ServerState(), Connections()
        listening = await loop.create_server(
            lambda: LimitedProtocol(config, state, {}, connections=connections), "127.0.0.1", 0
        )
        reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname(), limit=4 * LARGE)
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        writer.write(b"GET %b HTTP/1.1\r\nhost: a.example\r\n\r\n" % path.encode())
        found = await asyncio.wait_for(read(reader), PATIENCE)
        writer.close()
        listening.close()
        return found

    with noted(monkeypatch) as sent:
        return uvloop.run(whole()), sent


def test_the_head_and_the_body_leave_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one write."""
    answer, sent = ask(monkeypatch, "/", lambda reader: reader.readuntil(b"0\r\n\r\n"))
    assert answer.endswith(b"\r\n\r\n3\r\ntwo\r\n0\r\n\r\n")
    assert sent == [len(answer)]


def test_a_stream_is_sent_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """What there is goes out at the end of each turn, although more will follow."""
    first, sent = ask(monkeypatch, "/waits", lambda reader: reader.readuntil(b"one\r\n"))
    assert first.startswith(b"HTTP/1.1 200 OK\r\n")
    assert sent == [len(first)]


def test_a_large_body_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """It arrives whole, and is seen by what limits unsent answers as soon as it is written."""
    answer, sent = ask(monkeypatch, "/large", lambda reader: reader.readuntil(b"0\r\n\r\n"))
    assert answer.count(b"x") == LARGE
    assert max(sent) > LARGE


def test_half_an_answer_ends_with_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """The head that was held is sent, so that the client sees an answer that breaks off."""
    answer, _ = ask(monkeypatch, "/breaks", lambda reader: reader.read())
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"0\r\n\r\n" not in answer


def test_nothing_is_sent_after_the_connection_is_lost() -> None:
    """Neither what was held nor what is written later, and nothing raises."""

    async def whole() -> bytes:
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        transport, _ = await loop.create_connection(asyncio.Protocol, sock=ours)
        errors: list[object] = []
        loop.set_exception_handler(lambda _, context: errors.append(context))
        answers = WholeAnswers(transport, loop)
        answers.write(b"one")
        answers.abort()
        answers.write(b"two")
        await asyncio.sleep(0.05)
        assert not errors
        with theirs:
            return theirs.recv(10)

    assert uvloop.run(whole()) == b""
