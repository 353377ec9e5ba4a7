"""Limits on connections, before there is a request: heads that are too large or too slow, pipelines, readers that stall,
trailers.

uvicorn has a limit for idle connections only. Everything else that a connection can hold is limited here: when all
places are taken, the connection that has waited for its head the longest makes room, so that partial heads cannot end
the service.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable
from enum import Enum, auto
from typing import Any, Protocol

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from manifest_api.guards.loopback import is_loopback
from manifest_api.guards.middleware import with_standard
from manifest_api.guards.whole_answers import WholeAnswers
from manifest_api.problems import (
    BAD_REQUEST,
    HEAD_TOO_LARGE,
    SLOW_HEAD,
    TOO_MANY_CONNECTIONS,
    build_problem_response,
)
from manifest_api.shapes import ProblemCode

MAX_HEAD = 64 * 1024
_HEAD_TOO_LARGE = f"the request line and headers have more than {MAX_HEAD} bytes"
HEAD_SECONDS = 10.0
MAX_MESSAGE = 1024 * 1024
"""Maximum size of a request in transit. A body of 64 KiB in chunks of one byte is well below."""
MESSAGE_SECONDS = 25.0
STALL_SECONDS = 20.0
"""A client that takes nothing of its answer for this many seconds is cut off."""
KEEP_ALIVE_SECONDS = 30.0
MAX_CONNECTIONS = 1_000
MAX_PER_ADDRESS = 256
"""Connections of one address. Loopback and trusted proxies speak for many, and share all places."""
MAX_PIPELINED = 64
"""Requests of one connection that wait for the answers before them."""
RESERVED_FILES = 256
"""File descriptors that are left for documents, the store and the answers to connections beyond the limit."""
_SWEEP_SECONDS = 1.0


class _Phase(Enum):
    NEW = auto()
    IDLE = auto()
    HEAD = auto()
    BODY = auto()
    ANSWERING = auto()


class Connection(Protocol):
    """A connection that occupies a place."""

    address: str

    @property
    def is_waiting(self) -> bool:
        """Whether it may make room for others."""

    @property
    def rank(self) -> tuple[bool, float]:
        """The order in which connections make room."""

    def check(self, now: float) -> None:
        """Close the connection if it has overrun a limit."""

    def abort(self) -> None:
        """Close the connection at once."""


class Connections:
    """The open connections of a server. Used from one event loop."""

    def __init__(
        self,
        most: int = MAX_CONNECTIONS,
        speaks_for_many: Callable[[str], bool] = is_loopback,
        max_message: int = MAX_MESSAGE,
    ) -> None:
        """`speaks_for_many` tells whether an address stands for many clients. `max_message` is the most bytes of a request in transit."""
        self.max_message = max_message
        self.most = most
        """Most open connections."""
        self.closed: Counter[str] = Counter()
        """Connections that were closed at a limit, by reason: the code of a problem, or a word if none was sent."""
        self._speaks_for_many = speaks_for_many
        self._open: set[Connection] = set()
        self._addresses: Counter[str] = Counter()
        self._sweeping: asyncio.TimerHandle | None = None

    def add(self, connection: Connection, loop: asyncio.AbstractEventLoop) -> bool:
        """Take a place for a connection. False if all places are taken by requests that are being answered."""
        if self._sweeping is None:
            self._sweeping = loop.call_later(_SWEEP_SECONDS, self._sweep, loop)
        address = connection.address
        is_crowded = self._addresses[address] >= MAX_PER_ADDRESS and not self._speaks_for_many(address)
        if (is_crowded or len(self._open) >= self.most) and not self._make_room(
            address if is_crowded else None
        ):
            return False
        self._open.add(connection)
        self._addresses[address] += 1
        return True

    @property
    def open_count(self) -> int:
        """Open connections."""
        return len(self._open)

    def remove(self, connection: Connection) -> None:
        """Free the place of a connection."""
        if connection in self._open:
            self._open.remove(connection)
            self._addresses[connection.address] -= 1
            self._addresses += Counter()  # forgets addresses without connections

    def _make_room(self, address: str | None) -> bool:
        waiting = [
            each for each in self._open if each.is_waiting and (address is None or each.address == address)
        ]
        if not waiting:
            return False
        oldest = min(waiting, key=lambda each: each.rank)
        self.remove(oldest)
        self.closed["made_room"] += 1
        oldest.abort()
        return True

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        self._sweeping = loop.call_later(_SWEEP_SECONDS, self._sweep, loop) if self._open else None
        now = loop.time()
        for connection in tuple(self._open):
            connection.check(now)


class LimitedProtocol(HttpToolsProtocol):
    """A connection with limits."""

    def __init__(
        self, *args: Any, connections: Connections, handshake: Connection | None = None, **named: Any
    ) -> None:
        """`handshake` is what held the place of this connection until now."""
        super().__init__(*args, **named)
        self._connections = connections
        self._handshake = handshake
        self.address = ""
        self._phase = _Phase.NEW
        self._since = self.loop.time()
        self._received = 0
        self._refusal: tuple[ProblemCode, str] | None = None
        self._unsent = 0
        self._taking = self._since

    @property
    def is_waiting(self) -> bool:
        """Whether the server waits for the head of a request and is not answering one."""
        return self._phase in (_Phase.NEW, _Phase.IDLE, _Phase.HEAD) and (
            self.cycle is None or self.cycle.response_complete
        )

    @property
    def rank(self) -> tuple[bool, float]:
        """The order in which waiting connections make room: those that never had an answer first, oldest first."""
        return self.cycle is not None, self._since

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.transport = self._whole = WholeAnswers(transport, self.loop)  # type: ignore[assignment]
        self.address = self.client[0] if self.client else ""
        if self._handshake is not None:
            self._connections.remove(self._handshake)
        if not self._connections.add(self, self.loop):
            self._refuse(TOO_MANY_CONNECTIONS, "all connections of the server are in use")

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._phase in (_Phase.HEAD, _Phase.BODY):
            self._received += len(data)
            if self._phase is _Phase.HEAD and self._received > MAX_HEAD:
                self._refuse(HEAD_TOO_LARGE, _HEAD_TOO_LARGE)
                return
            if self._received > self._connections.max_message:
                self._connections.closed["message_too_large"] += 1
                self.transport.close()  # the answer to the first part was sent long ago
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._phase is not _Phase.NEW:
            self._since = self.loop.time()
        self._phase = _Phase.HEAD
        self._received = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        # Trailers arrive here too. RFC 9110, 6.5.1: they are not merged into headers, which decide who asks for what.
        if self._phase is _Phase.HEAD:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > MAX_HEAD:
            self._stop_parsing(HEAD_TOO_LARGE, _HEAD_TOO_LARGE)
        if len(self.pipeline) >= MAX_PIPELINED:
            self._stop_parsing(BAD_REQUEST, f"more than {MAX_PIPELINED} requests wait for an answer")
        self._phase = _Phase.BODY
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._phase = _Phase.ANSWERING
        if self.cycle.response_complete:
            self._become_idle()

    def on_response_complete(self) -> None:
        if self._phase is _Phase.ANSWERING and not self.pipeline:
            self._become_idle()
        self._whole.flush()
        super().on_response_complete()

    def _become_idle(self) -> None:
        self._phase = _Phase.IDLE
        self._since = self.loop.time()

    def check(self, now: float) -> None:
        """Close the connection if it has overrun a limit."""
        unsent = self.transport.get_write_buffer_size()
        if not unsent or unsent < self._unsent:
            self._taking = now
        self._unsent = unsent
        if now - self._taking > STALL_SECONDS:
            self._connections.closed["stalled"] += 1
            self.transport.abort()
        elif self.transport.is_closing() or self.flow.read_paused:
            return  # received data is not parsed yet, so the client is not slow
        elif self._phase in (_Phase.NEW, _Phase.HEAD) and now - self._since > HEAD_SECONDS:
            self._refuse(
                SLOW_HEAD, f"the request line and headers did not arrive within {HEAD_SECONDS:g} seconds"
            )
        elif self._phase is _Phase.BODY and now - self._since > MESSAGE_SECONDS:
            self._connections.closed["slow_message"] += 1
            self.transport.close()
        elif self._phase is _Phase.IDLE and now - self._since > KEEP_ALIVE_SECONDS:
            self.transport.close()

    def abort(self) -> None:
        """Close the connection at once."""
        self.transport.abort()

    def _stop_parsing(self, kind: ProblemCode, detail: str) -> None:
        self._refusal = (kind, detail)
        raise ValueError(detail)  # the parser stops, and uvicorn calls `send_400_response`

    def send_400_response(self, msg: str) -> None:
        self._refuse(*(self._refusal or (BAD_REQUEST, "the request is not valid HTTP")))

    def _refuse(self, kind: ProblemCode, detail: str) -> None:
        """Answer with a problem and close. An answer that has begun is not mixed with another one."""
        self._connections.closed[kind.code] += 1
        if not self.transport.is_closing() and (self.cycle is None or self.cycle.response_complete):
            response = build_problem_response(kind, detail, headers={"Connection": "close"})
            headers = [
                *self.server_state.default_headers,
                *with_standard(response.raw_headers),
                (b"x-request-id", secrets.token_hex(16).encode()),
            ]
            self.transport.write(
                b"".join(
                    [
                        STATUS_LINE[kind.status],
                        *(name + b": " + value + b"\r\n" for name, value in headers),
                        b"\r\n",
                        bytes(response.body),
                    ]
                )
            )
        self.transport.close()


def compute_connection_budget(most: int = MAX_CONNECTIONS) -> int:
    """How many connections the file descriptors of this process allow, at most `most`. It raises the soft limit."""
    try:
        import resource
    except ImportError:
        return most  # Windows has no such limit
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most + 2 * RESERVED_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return most if soft == resource.RLIM_INFINITY else max(16, min(most, soft - RESERVED_FILES))
