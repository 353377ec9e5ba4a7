"""The load generator against a real server: it times whole answers, and refuses to time anything else."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from benchmarks.load_generator import fetch, request_bytes, run_burst, run_paced

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello"


@contextmanager
def answering(answer: bytes, pieces: int = 1) -> Iterator[int]:
    """A server that says the same to every request, in pieces."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()

    def talk(connection: socket.socket) -> None:
        with (
            connection,
            suppress(OSError),
        ):  # a client that has measured enough goes in the middle of an answer
            while connection.recv(65536):
                step = -(-len(answer) // pieces)
                for start in range(0, len(answer), step):
                    connection.sendall(answer[start : start + step])

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=talk, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


@pytest.mark.parametrize("pieces", [1, 4])
def test_burst_counts_whole_answers(pieces: int) -> None:
    """Every answer has its time, however it arrives."""
    with answering(ANSWER, pieces) as port:
        assert fetch(port, request_bytes("/", {"Accept": "*/*"})) == (ANSWER[:-9], b"hello")
        burst = run_burst(port, [request_bytes("/a"), request_bytes("/b")], 3, 1.0)
    assert len(burst.latencies) > 10
    assert burst.per_second == pytest.approx(len(burst.latencies) / burst.seconds)
    assert 0 < min(burst.latencies) <= max(burst.latencies) < burst.seconds


def test_not_modified_is_an_answer() -> None:
    """304 has no body to wait for."""
    with answering(b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n") as port:
        assert run_burst(port, [request_bytes("/")], 1, 0.0, patient=True).latencies


def test_refusal_is_not_measured() -> None:
    """A server that answers with an error is not fast."""
    with answering(ANSWER.replace(b"200 OK", b"503 No")) as port, pytest.raises(ValueError, match="503"):
        run_burst(port, [request_bytes("/")], 1, 0.1)


def test_a_patient_burst_waits_for_the_last_answers() -> None:
    """However short it is, each connection has at least one answer."""
    with answering(ANSWER) as port:
        burst = run_burst(port, [request_bytes("/")], 4, 0.0, patient=True)
    assert len(burst.latencies) == 4


def test_paced_requests_are_as_many_as_they_should_be() -> None:
    """A quick server does not get more of them, and each has its time."""
    with answering(ANSWER, 2) as port:
        burst = run_paced(port, request_bytes("/"), 4, 100, 0.5)
    assert 1 <= len(burst.latencies) <= 51
    assert min(burst.latencies) > 0
