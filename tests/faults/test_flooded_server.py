"""A server under attack by connections: it stays answerable, and so does its memory."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from manifest_api.feed import MAX_PER_CALLER
from manifest_api.guards.connections import MAX_HEAD, MAX_PIPELINED, compute_connection_budget
from tests.api.keys import location_of, new_key
from tests.api.running import Server, running
from tests.support.patience import PATIENCE
from tests.support.trees import TEMPLATES

PARTIAL = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
WHOLE = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
HEAD_SECONDS = 2.0
SOON = PATIENCE / 2
"""Seconds within which an answer comes from a server that does not wait for its attackers, who stay for longer."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that waits for a head longer than a test takes."""
    with running(
        tmp_path_factory.mktemp("flooded"), TEMPLATES / "blank", TEST_HEAD_SECONDS=f"{10 * PATIENCE}"
    ) as server:
        yield server


@pytest.fixture(scope="module")
def hasty_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that waits for a head for two seconds instead of ten."""
    with running(
        tmp_path_factory.mktemp("hasty"), TEMPLATES / "blank", TEST_HEAD_SECONDS=f"{HEAD_SECONDS}"
    ) as server:
        yield server


def connect(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), PATIENCE)


def memory(server: Server) -> int:
    """MiB that the server has in memory."""
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0]) // 1024


def answers(server: Server) -> float:
    """Seconds until a new connection is answered."""
    begun = time.monotonic()
    with connect(server) as asking:
        asking.sendall(WHOLE)
        assert asking.recv(4_096).startswith(b"HTTP/1.1 200")
    return time.monotonic() - begun


def all_of(connection: socket.socket) -> bytes:
    """What the server sends until it closes."""
    said = b""
    with suppress(ConnectionError):
        while found := connection.recv(65_536):
            said += found
    return said


def test_partial_heads_do_not_end_the_service(server: Server) -> None:
    """The connection that has waited longest makes room."""
    with ExitStack() as stack:
        held = [stack.enter_context(connect(server)) for _ in range(1_500)]
        for each in held:
            with suppress(ConnectionError):
                each.sendall(PARTIAL)
        assert max(answers(server) for _ in range(5)) < SOON
        assert server.client.get("/readyz").status_code == 200
    assert answers(server) < SOON


def test_a_head_that_never_ends_is_refused_after_its_time(hasty_server: Server) -> None:
    """The connection is answered and closed, although its client sends nothing more."""
    begun = time.monotonic()
    with connect(hasty_server) as asking:
        asking.sendall(PARTIAL)
        assert all_of(asking).startswith(b"HTTP/1.1 408")
        assert time.monotonic() - begun >= HEAD_SECONDS


def test_a_large_head_is_refused_at_once(server: Server) -> None:
    """One header of 60 MB neither blocks the server nor stays in its memory."""
    answers(server)
    before = memory(server)
    slowest = 0.0
    for _ in range(3):
        with connect(server) as attacking:
            attacking.sendall(PARTIAL)
            with suppress(ConnectionError):
                for _ in range(60):
                    attacking.sendall(b"x" * 1_000_000)
                    slowest = max(slowest, answers(server))
    assert slowest < SOON
    assert memory(server) - before < 20


@pytest.mark.parametrize(
    "line", [b"GET /livez?%b HTTP/1.1\r\nHost: localhost\r\n\r\n", PARTIAL + b"%b\r\n\r\n"]
)
def test_a_head_above_the_limit_is_a_problem(server: Server, line: bytes) -> None:
    """It says what is wrong, with the id of the request, and closes."""
    with connect(server) as asking:
        asking.sendall(line % (b"x" * (MAX_HEAD + 1)))
        said = all_of(asking)
    assert b"431" in said.split(b"\r\n")[0]
    assert b"HEAD_TOO_LARGE" in said
    assert b"x-request-id: " in said


def test_a_head_below_the_limit_is_read(server: Server) -> None:
    """Many cookies of other programs on this machine do not cause a refusal."""
    with connect(server) as asking:
        asking.sendall(PARTIAL + b"x" * (MAX_HEAD - 1_000) + b"\r\n\r\n")
        assert asking.recv(4_096).startswith(b"HTTP/1.1 200")


def test_pipelined_requests_are_limited(server: Server) -> None:
    """A few are answered in their order; a flood ends its own connection only."""
    with connect(server) as asking:
        asking.sendall(
            WHOLE * (MAX_PIPELINED - 1) + WHOLE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        )
        assert all_of(asking).count(b"HTTP/1.1 200") == MAX_PIPELINED
    with connect(server) as flooding:
        with suppress(ConnectionError):
            flooding.sendall(WHOLE * 50_000)
        assert all_of(flooding).count(b"HTTP/1.1 200") < 50_000
    assert answers(server) < SOON


def test_a_body_without_end_is_cut(server: Server) -> None:
    """It is refused as soon as it is too large, and the connection ends soon after."""
    with connect(server) as attacking:
        attacking.sendall(
            b"POST /v1/orgs/active/dispatch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        sent = 0
        with suppress(ConnectionError):
            while sent < 30_000_000:
                attacking.sendall(b"10000\r\n" + b"x" * 65_536 + b"\r\n")
                sent += 65_536
    assert sent < 30_000_000
    assert answers(server) < SOON


def test_noise_between_requests_does_not_keep_a_connection(hasty_server: Server) -> None:
    """Line ends before a request are no head, and do not begin its time again."""
    begun = time.monotonic()
    with connect(hasty_server) as asking:
        with suppress(ConnectionError):
            while time.monotonic() - begun < PATIENCE:
                asking.sendall(b"\r\n")
                time.sleep(0.2)
        assert HEAD_SECONDS <= time.monotonic() - begun < PATIENCE


def test_the_limit_stays_within_the_files_of_the_process() -> None:
    """It is never more than asked for."""
    assert 16 <= compute_connection_budget(100) <= 100


STREAM = b"GET /v1/orgs/*/salute/stream HTTP/1.1\r\nHost: localhost\r\n%b\r\n"


def test_one_caller_does_not_take_all_streams(tmp_path: Path) -> None:
    """Callers without a key share some of them, and a credential always finds room."""
    place = location_of(tmp_path / "state.db")
    secret = new_key(place, ["read"])
    with (
        running(tmp_path, TEMPLATES / "household", store=tmp_path / "state.db") as server,
        ExitStack() as stack,
    ):

        def follow(header: bytes = b"") -> bytes:
            following = stack.enter_context(connect(server))
            following.sendall(STREAM % header)
            return following.recv(4_096)

        said = [follow() for _ in range(300)]
        assert sum(each.startswith(b"HTTP/1.1 200") for each in said) == MAX_PER_CALLER
        assert said[-1].startswith(b"HTTP/1.1 503")
        assert follow(b"Authorization: Bearer %b\r\n" % secret.encode()).startswith(b"HTTP/1.1 200")
