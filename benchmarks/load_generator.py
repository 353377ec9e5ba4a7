"""A load generator: GET and POST over keep-alive connections, one request at a time on each, timed one by one.

Plain sockets and `selectors`, so that the client costs less than the server it measures. It never sleeps while it asks:
to wake it would cost the slower of two servers time that the faster one, which never lets it sleep, does not pay. It reads answers that have a
Content-Length, or none for 304, which is what is measured here; anything else raises.
"""

from __future__ import annotations

import re
import selectors
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)
_CHUNK = 1 << 18


@dataclass(frozen=True, slots=True)
class Burst:
    """What came of so many requests; seconds each request took, in the order of their ends."""

    seconds: float
    latencies: tuple[float, ...]

    @property
    def per_second(self) -> float:
        """Answers per second."""
        return len(self.latencies) / self.seconds


def request_bytes(path: str, headers: Mapping[str, str] | None = None, body: bytes | None = None) -> bytes:
    """A GET as it goes over the wire; with a body of JSON, a POST."""
    lines = [f"{'GET' if body is None else 'POST'} {path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + (body or b"")


def fetch(port: int, request: bytes) -> tuple[bytes, bytes]:
    """Head and body of one answer."""
    with socket.create_connection(("127.0.0.1", port), 60) as connection:
        connection.sendall(request)
        said = b""
        while (end := _end(said)) is None or len(said) < end:
            more = connection.recv(_CHUNK)
            if not more:
                raise ConnectionError("the server closed the connection in the middle of an answer")
            said += more
    head, _, body = said.partition(b"\r\n\r\n")
    return head, body


def run_burst(port: int, requests: Sequence[bytes], connections: int, seconds: float) -> Burst:
    """Ask for so many seconds; every connection takes the next of the requests when its answer is complete."""
    waiting = selectors.DefaultSelector()
    open_: list[socket.socket] = []
    latencies: list[float] = []
    turn = 0
    try:
        for _ in range(connections):
            connection = socket.create_connection(("127.0.0.1", port), 60)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            open_.append(connection)
        start = time.perf_counter()
        for connection in open_:
            waiting.register(connection, selectors.EVENT_READ, [b"", None, time.perf_counter()])
            connection.sendall(requests[turn % len(requests)])
            turn += 1
        end = start + seconds
        while (now := time.perf_counter()) < end:
            for key, _ in waiting.select(0):
                state = key.data
                more = key.fileobj.recv(_CHUNK)  # type: ignore[union-attr]
                if not more:
                    raise ConnectionError("the server closed a connection")
                state[0] = state[0] + more if state[0] else more
                if state[1] is None:
                    state[1] = _end(state[0])
                if state[1] is None or len(state[0]) < state[1]:
                    continue
                now = time.perf_counter()
                latencies.append(now - state[2])
                state[0], state[1], state[2] = b"", None, now
                key.fileobj.sendall(requests[turn % len(requests)])  # type: ignore[union-attr]
                turn += 1
        return Burst(now - start, tuple(latencies))
    finally:
        waiting.close()
        for connection in open_:
            connection.close()


def _end(said: bytes) -> int | None:
    """How long the answer is that begins here; None while its head is not complete."""
    head = said.find(b"\r\n\r\n")
    if head < 0:
        return None
    status = said[9:12]
    if status == b"304":
        return head + 4
    found = _LENGTH.search(said, 0, head + 2)
    if status != b"200" or found is None:
        raise ValueError(f"not an answer to measure: {said[:head].decode('latin-1')}")
    return head + 4 + int(found[1])
