"""Requests over connections that are kept, before servers that say whatever a test wants, byte by byte."""

from __future__ import annotations

import asyncio
import base64
import re
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import uvloop

from orgkernel.toolbox.engine.connection_pool import (
    BrokenOff,
    ConnectionPool,
    NotReached,
    encode_headers,
)
from tests.support.certificates import make_certificate
from tests.toolbox.serving import nobody
from tests.toolbox.upstream_running import until

TLS = ssl.create_default_context()
MEASURED = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4\r\n\r\nbody"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


@dataclass
class Taken:
    """An answer, as it arrived."""

    enough: bytes = b"\xff"
    status: int = 0
    headers: dict[bytes, bytes] = field(default_factory=dict)
    body: bytes = b""
    has_ended: bool = False

    def begin(self, status: int, headers: Mapping[bytes, bytes]) -> None:
        """Note the head."""
        self.status, self.headers = status, dict(headers)

    def take(self, part: bytes) -> bool:
        """Note a part."""
        self.body += part
        return self.enough in self.body

    def end(self) -> None:
        """Note the end."""
        self.has_ended = True


@dataclass
class Server:
    """What it was asked, and what it says to each request."""

    answers: list[list[bytes]]
    """For each request the pieces of an answer; an empty piece hangs up, and no pieces are no answer."""
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    hung_up: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection."""
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = int((re.search(rb"content-length: (\d+)", head.lower()) or [0, 0])[1])
                self.requests.append(head + await reader.readexactly(size))
                for piece in self.answers.pop(0):
                    if not piece:
                        return
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0.001)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.hung_up += 1
        finally:
            writer.close()


def run(
    answers: list[list[bytes]], test: Callable[[ConnectionPool, Server], Awaitable[None]],
    headers: Mapping[str, str] | None = None, path: str = "/mcp", userinfo: str = "", tls: ssl.SSLContext | None = None,
    trusting: ssl.SSLContext | None = None,
) -> Server:  # fmt: skip
    """Run a test against a server, in the event loop that the gateway uses."""
    scheme = "http" if tls is None else "https"

    async def whole() -> Server:
        server = Server(list(answers))
        async with await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls) as listening:
            port = listening.sockets[0].getsockname()[1]
            url = f"{scheme}://{userinfo}127.0.0.1:{port}{path}"
            connections = ConnectionPool(url, headers or {}, trusting or TLS, 5)
            async with asyncio.timeout(30):
                await test(connections, server)
            await connections.aclose()
        return server

    return uvloop.run(whole())


async def ask(connections: ConnectionPool, body: bytes = b"{}", enough: bytes = b"\xff") -> Taken:
    """What is answered to a request."""
    answer = Taken(enough)
    await connections.post(encode_headers({"mcp-name": "echo"}), body, answer)
    return answer


@pytest.mark.parametrize(
    ("pieces", "body"),
    [
        ([MEASURED], b"body"),
        ([bytes([each]) for each in MEASURED], b"body"),
        ([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n", b"2\r\ndy\r\n0\r\n\r\n"], b"body"),
        ([b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + MEASURED], b"body"),
        ([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nLink: x\r\nEtag: x\r\n\r\n"], b"body"),
        ([b"HTTP/1.1 204 No Content\r\n\r\n"], b""),
        ([b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"], b""),
    ],
    ids=["whole", "bytes", "chunks", "informed", "trailers", "empty", "no bytes"],
)  # fmt: skip
def test_an_answer_is_read_and_its_connection_kept(pieces: list[bytes], body: bytes) -> None:
    """However it arrives, the next request takes the same connection."""

    async def test(connections: ConnectionPool, _: Server) -> None:
        for _ in range(3):
            answer = await ask(connections)
            assert (answer.body, answer.has_ended) == (body, True)
            assert answer.status in (200, 204)
            assert answer.headers.keys().isdisjoint({b"link", b"etag"})

    assert run([pieces] * 3, test).connections == 1


@pytest.mark.parametrize(
    "pieces",
    [
        [b"HTTP/1.1 200 OK\r\n\r\n", b"bo", b"dy", b""],
        [b"HTTP/1.0 200 OK\r\n\r\nbody", b""],
        [MEASURED.replace(b"content-type", b"Connection: close\r\ncontent-type")],
        [MEASURED + b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nother"],
        [MEASURED + b"rest"],
    ],
    ids=["until it ends", "old", "closed", "one too many", "noise"],
)
def test_a_connection_is_not_used_again_where_it_cannot_be(pieces: list[bytes]) -> None:
    """And nothing that stood behind an answer is taken for the next one."""

    async def test(connections: ConnectionPool, server: Server) -> None:
        for _ in range(3):
            assert (await ask(connections)).body == b"body"
            await asyncio.sleep(0.02)

    assert run([pieces] * 3, test).connections == 3


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        ([b""], "closed the connection"),
        ([b"HTTP/1.1 200 OK\r\ncontent-le", b""], "closed the connection"),
        ([MEASURED[:-1], b""], "closed the connection"),
        ([b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nbo\r\n", b""], "closed the connection"),
        ([b"220 mail.example ESMTP\r\n"], "does not speak HTTP"),
        ([b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nbody"], "does not speak HTTP"),
        ([b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"], "does not speak HTTP"),
        ([b"HTTP/1.1 200 OK\r\n" + b"x: " + b"y" * 70_000], "longer than 65536 bytes"),
        ([b"HTTP/1.1 200 OK\r\n", *([b"x: y\r\n" * 2_000] * 8)], "longer than 65536 bytes"),
        ([CHUNKED + b"2\r\nbo\r\n0\r\n", *([b"x: y\r\n" * 2_000] * 8)], "framing of its answer is longer than 65536 bytes"),
        ([CHUNKED + b"2\r\nbo\r\n0\r\nx: ", *([b"y" * 20_000] * 8)], "longer than 65536 bytes"),
        ([CHUNKED + b"2;x=", *([b"y" * 20_000] * 8)], "longer than 65536 bytes"),
    ],
    ids=["nothing", "half a head", "half a body", "half the chunks", "mail", "two lengths", "upgrade", "long line", "long head", "long trailers", "long trailer", "long extension"],
)  # fmt: skip
def test_an_answer_that_breaks_off_fails_its_own_request(pieces: list[bytes], said: str) -> None:
    """The next one has a connection of its own."""

    async def test(connections: ConnectionPool, _: Server) -> None:
        with pytest.raises(BrokenOff, match=said):
            await ask(connections)
        assert (await ask(connections)).body == b"body"

    assert run([pieces, [MEASURED]], test).connections == 2


def test_a_stream_is_left_when_enough_has_come() -> None:
    """The server sees that the client stopped reading; if the answer was complete anyway, the connection is kept."""
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"

    async def test(connections: ConnectionPool, server: Server) -> None:
        assert (await ask(connections, enough=b"one")).body == b"one"
        assert (await ask(connections, enough=b"one")).body == b"one"
        assert server.connections == 1
        assert (await ask(connections, enough=b"one")).body == b"one"
        assert (await ask(connections)).body == b"body"
        await until(lambda: server.hung_up == 1)

    complete = head + b"3\r\none\r\n0\r\n\r\n"
    run([[complete], [complete], [head + b"3\r\none\r\n"], [MEASURED]], test)


def test_a_caller_that_gives_up_closes_its_connection() -> None:
    """So that the server is told; others are answered meanwhile, and afterwards."""

    async def test(connections: ConnectionPool, server: Server) -> None:
        waiting = asyncio.create_task(ask(connections))
        await until(lambda: len(server.requests) == 1)
        assert (await ask(connections)).body == b"body"
        waiting.cancel()
        await until(lambda: server.hung_up == 1)
        assert (await ask(connections)).body == b"body"
        assert server.connections == 2

    run([[], [MEASURED], [MEASURED]], test)


def test_what_an_answer_raises_ends_its_request() -> None:
    """At any point."""

    class Refusing(Taken):
        def begin(self, status: int, headers: Mapping[bytes, bytes]) -> None:
            if self.enough == b"begin":
                raise ValueError("begin")

        def take(self, part: bytes) -> bool:
            if self.enough == b"take":
                raise ValueError("take")
            return False

        def end(self) -> None:
            raise ValueError("end")

    async def test(connections: ConnectionPool, server: Server) -> None:
        for word in ("begin", "take", "end"):
            with pytest.raises(ValueError, match=word):
                await connections.post(b"", b"{}", Refusing(word.encode()))
        assert (await ask(connections)).body == b"body"

    run([[MEASURED]] * 4, test)


def test_a_connection_that_the_server_closed_is_not_used() -> None:
    """A request on it would be lost, and it would be unknown whether it arrived."""

    async def test(connections: ConnectionPool, server: Server) -> None:
        for _ in range(3):
            assert (await ask(connections)).body == b"body"
            await asyncio.sleep(0.1)
        assert server.connections == 3

    run([[MEASURED, b""]] * 3, test)


def test_a_request_says_what_it_was_given() -> None:
    """The path and the name of the host as in the URL, who asks, and every header once."""

    async def test(connections: ConnectionPool, server: Server) -> None:
        await ask(connections, b'{"a": 1}')
        head, _, body = server.requests[0].partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        said = dict(line.split(": ", 1) for line in lines)
        assert (first, body) == ("POST /a%20b/%C3%BC?x=1 HTTP/1.1", b'{"a": 1}')
        assert len(said) == len(lines) == 5
        assert said["host"].startswith("127.0.0.1:")
        assert base64.b64decode(said["authorization"].removeprefix("Basic ")) == b"a@b:c"
        assert (said["x-one"], said["mcp-name"], said["content-length"]) == ("1", "echo", "8")

    run([[MEASURED]], test, {"X-One": "1", "AUTHORIZATION": "Bearer x"}, "/a b/ü?x=1#part", "a%40b:c@")


@pytest.mark.parametrize(
    "headers",
    [{"a": "b\r\nc: d"}, {"a": "b\n"}, {"a\r\n": "b"}, {"a": "ü"}, {"a b": "c"}, {"": "b"}, {"a": "\0"}],
)
def test_a_header_that_cannot_be_sent_is_refused(headers: dict[str, str]) -> None:
    """Before there is a connection."""
    with pytest.raises(ValueError, match=r"cannot be sent|can't encode"):
        ConnectionPool("http://127.0.0.1", headers, TLS, 5)


@pytest.mark.parametrize("name", ["Host", "Content-Length", "transfer-encoding", "Connection"])
def test_a_header_that_only_the_connection_knows_is_refused(name: str) -> None:
    """Two of them would let others read a request otherwise than it was sent."""
    with pytest.raises(ValueError, match="are reserved"):
        ConnectionPool("http://127.0.0.1", {name: "1"}, TLS, 5)


def test_a_server_with_a_certificate_is_asked_over_tls(tmp_path: Path) -> None:
    """If its certificate is trusted, and otherwise not at all."""
    files = make_certificate(tmp_path)
    ours = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    ours.load_cert_chain(files.certificate, files.key)

    async def refused(connections: ConnectionPool, server: Server) -> None:
        with pytest.raises(NotReached, match="its certificate cannot be verified: self-signed certificate"):
            await ask(connections)
        assert not server.requests

    async def answered(connections: ConnectionPool, server: Server) -> None:
        for _ in range(3):
            assert (await ask(connections)).body == b"body"

    run([], refused, tls=ours)
    trusting = ssl.create_default_context(cafile=files.certificate)
    assert run([[MEASURED]] * 3, answered, tls=ours, trusting=trusting).connections == 1


def test_nothing_is_sent_after_the_end() -> None:
    """Not even a caller that waits for a connection can use it."""

    async def test(connections: ConnectionPool, server: Server) -> None:
        waiting = asyncio.create_task(ask(connections))
        await asyncio.sleep(0)
        await connections.aclose()
        with pytest.raises(NotReached, match="closed"):
            await waiting
        assert not server.requests

    run([], test)


def test_an_address_without_a_server_is_unreachable() -> None:
    """An address is also unreachable if its server shows no certificate."""

    async def test(connections: ConnectionPool, server: Server) -> None:
        with pytest.raises(NotReached):
            await ask(ConnectionPool(nobody(), {}, TLS, 5))
        (port,) = re.findall(rb"127\.0\.0\.1:(\d+)", connections._head)
        with pytest.raises(NotReached):
            await ask(ConnectionPool(f"https://127.0.0.1:{int(port)}", {}, TLS, 1))

    run([], test)
