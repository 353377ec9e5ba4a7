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
_PATIENCE = 60.0


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
    lines = [f"{'GET' if body is None else 'POST'} {path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in {"Host": "127.0.0.1", **(headers or {})}.items()]
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


def run_burst(
    port: int, requests: Sequence[bytes], connections: int, seconds: float, *, patient: bool = False
) -> Burst:
    """Ask for so many seconds; every connection takes the next of the requests when its answer is complete.

    If `patient`, it sleeps while it waits, and waits for the last answers too. That is for requests that take long, and that
    several processes work on one after the other, which would have one processor less.
    """
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
        while (now := time.perf_counter()) < end or (patient and waiting.get_map()):
            for key, _ in waiting.select(_PATIENCE if patient else 0):
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
                if patient and now >= end:
                    waiting.unregister(key.fileobj)
                    continue
                key.fileobj.sendall(requests[turn % len(requests)])  # type: ignore[union-attr]
                turn += 1
        return Burst(now - start, tuple(latencies))
    finally:
        waiting.close()
        for connection in open_:
            connection.close()


def run_paced(port: int, request: bytes, connections: int, rate: float, seconds: float) -> Burst:
    """Ask so many times a second, in turn on each connection, and sleep in between.

    A request that has to wait for the answer before it is timed from when it should have been sent.
    """
    waiting = selectors.DefaultSelector()
    open_: list[socket.socket] = []
    latencies: list[float] = []
    try:
        for _ in range(connections):
            connection = socket.create_connection(("127.0.0.1", port), 60)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            open_.append(connection)
        start = time.perf_counter()
        interval = connections / rate
        due = {each: start + number / rate for number, each in enumerate(open_)}
        for each in open_:
            waiting.register(each, selectors.EVENT_READ)
        said: dict[socket.socket, bytes] = {}
        end = start + seconds
        while (now := time.perf_counter()) < end:
            idle = [each for each in open_ if each not in said]
            for each in idle:
                if due[each] <= now:
                    each.sendall(request)
                    said[each] = b""
            pause = min([due[each] for each in open_ if each not in said], default=end) - time.perf_counter()
            for key, _ in waiting.select(max(0.0, min(pause, end - now))):
                each = key.fileobj  # type: ignore[assignment]
                more = each.recv(_CHUNK)
                if not more:
                    raise ConnectionError("the server closed a connection")
                said[each] += more
                length = _end(said[each])
                if length is not None and len(said[each]) >= length:
                    latencies.append(time.perf_counter() - due[each])
                    del said[each]
                    due[each] += interval
        return Burst(time.perf_counter() - start, tuple(latencies))
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
