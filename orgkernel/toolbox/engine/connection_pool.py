"""Connections to one HTTP server that are kept between requests: as little as a POST needs, because it is done for every call.

httptools, which uvicorn reads requests with, reads the answers. Nothing is decompressed, no redirect is followed, and no
cookie is kept.
"""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode
from collections import deque
from collections.abc import Mapping
from ssl import SSLContext
from typing import Final, Protocol, cast
from urllib.parse import unquote

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser
from httpx2 import URL

from orgkernel.toolbox.failures import describe_failure

_IDLE_SECONDS: Final = 15.0
"""Servers close idle connections; uvicorn after five seconds, others after a minute."""
_GRACE_SECONDS: Final = 0.05
_MAX_HEAD_BYTES: Final = 64 * 1024
"""Maximum bytes of a head, and of anything between two parts of a body: chunk sizes, their extensions, and trailers."""
_OWN: Final = frozenset(
    {"connection", "content-length", "expect", "host", "te", "trailer", "transfer-encoding", "upgrade"}
)
_HEADER: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+: [\t -~]*\r\n")


class NotReached(Exception):
    """There is no connection, and nothing was sent."""


class BrokenOff(Exception):
    """The connection ended when a request may have arrived."""


class AnswerReader(Protocol):
    """Receives an answer as it arrives. An exception ends the request."""

    def begin(self, status: int, headers: Mapping[bytes, bytes]) -> None:
        """The head has arrived. Names are in lower case."""

    def take(self, part: bytes) -> bool:
        """Receive a part of the body. Returns whether no more is needed."""

    def end(self) -> None:
        """The body is complete."""


class ConnectionPool:
    """Connections for requests to one URL. Used from one event loop."""

    def __init__(self, url: str, headers: Mapping[str, str], tls: SSLContext, connect_seconds: float) -> None:
        """`headers` are sent with every request. Raises `ValueError` for an invalid or reserved header."""
        parsed = URL(url)
        self._host = parsed.raw_host.decode("ascii")
        self._tls = tls if parsed.scheme == "https" else None
        self._port = parsed.port or (443 if self._tls else 80)
        self._connect_seconds = connect_seconds
        sent_headers = {name.lower(): value for name, value in headers.items()}
        if not _OWN.isdisjoint(sent_headers):
            raise ValueError(f"these headers are reserved: {', '.join(sorted(_OWN & sent_headers.keys()))}")
        sent_headers["host"] = parsed.netloc.decode("ascii")
        if parsed.userinfo:
            sent_headers["authorization"] = (
                f"Basic {b64encode(unquote(parsed.userinfo.decode()).encode()).decode()}"
            )
        self._head = b"POST %b HTTP/1.1\r\n%b" % (parsed.raw_path, encode_headers(sent_headers))
        self._idle: deque[_Connection] = deque()
        self._open: set[_Connection] = set()
        self._is_closed = False

    async def post(self, headers: bytes, body: bytes, answer: AnswerReader) -> None:
        """Send a request, and wait until its answer is received. Cancellation closes the connection.

        `headers` is what `encode_headers` makes. Raises `NotReached`, `BrokenOff`, and what `answer` raises.
        """
        connection = await self._find() or await self._connect()
        head = b"%b%bcontent-length: %d\r\n\r\n" % (self._head, headers, len(body))
        try:
            await connection.ask(head + body, answer)
        finally:
            if connection.is_free:
                connection.idle_since = asyncio.get_running_loop().time()
                self._idle.append(connection)
            else:
                connection.abort()

    async def aclose(self) -> None:
        """Close all connections. There will be no others."""
        self._is_closed = True
        for each in tuple(self._open):
            each.abort()

    async def _find(self) -> _Connection | None:
        """The connection that was used last, if the server has not closed it."""
        loop = asyncio.get_running_loop()
        if self._idle and loop.time() - self._idle[-1].idle_since > _GRACE_SECONDS:
            # A request on a closed connection would be lost, and it would be unknown whether it arrived.
            await asyncio.sleep(0)  # reads received data
            await asyncio.sleep(0)  # and closes connections that it ended
        while self._idle and (
            not self._idle[0].is_free or loop.time() - self._idle[0].idle_since > _IDLE_SECONDS
        ):
            self._idle.popleft().abort()
        while self._idle:
            connection = self._idle.pop()
            if connection.is_free:
                return connection
        return None

    async def _connect(self) -> _Connection:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._connect_seconds):
                _, connection = await loop.create_connection(
                    lambda: _Connection(self._open), self._host, self._port, ssl=self._tls
                )
        except TimeoutError:
            raise NotReached(f"no connection within {self._connect_seconds:g} seconds") from None
        except OSError as error:
            raise NotReached(describe_failure(error)) from None
        if self._is_closed:
            connection.abort()
            raise NotReached("it was closed")
        return connection


def encode_headers(headers: Mapping[str, str]) -> bytes:
    """Encode headers. Raises `ValueError` for a header that cannot be sent."""
    lines = [f"{name}: {value}\r\n".encode("ascii") for name, value in headers.items()]
    for line in lines:
        if not _HEADER.fullmatch(line):
            raise ValueError(f"this header cannot be sent: {line.partition(b':')[0]!r}")
    return b"".join(lines)


class _Connection(asyncio.Protocol):
    """One connection, for one request at a time."""

    def __init__(self, open: set[_Connection]) -> None:
        self.idle_since = 0.0
        self._open = open
        self._transport: asyncio.Transport
        self._parser = HttpResponseParser(self)
        self._answer: AnswerReader | None = None
        self._done: asyncio.Future[None]
        self._headers: dict[bytes, bytes] = {}
        self._without_body = 0
        """Bytes since the answer began or since the last part of its body."""
        self._has_head = self._has_part = self._has_enough = False
        self._is_kept = True

    @property
    def is_free(self) -> bool:
        """Whether another request can be sent."""
        return self._is_kept and self._answer is None and not self._transport.is_closing()

    async def ask(self, request: bytes, answer: AnswerReader) -> None:
        """Send a request, and wait until its answer is received. Raises `BrokenOff`, and the errors of the answer."""
        self._answer, self._done = answer, asyncio.get_running_loop().create_future()
        self._headers, self._without_body = {}, 0
        self._has_head = self._has_enough = False
        self._transport.write(request)
        await self._done

    def abort(self) -> None:
        """Hang up."""
        self._is_kept = False
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note that the connection is open."""
        self._transport = cast("asyncio.Transport", transport)
        self._open.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        """Note that the connection is closed. If the head does not give the length of the body, this ends the body."""
        self._open.discard(self)
        self._is_kept = False
        is_measured = b"content-length" in self._headers or b"transfer-encoding" in self._headers
        if self._has_head and error is None and not is_measured:
            self._complete()
        else:
            reason = "the server closed the connection" if error is None else describe_failure(error)
            self._finish(BrokenOff(reason))

    def data_received(self, data: bytes) -> None:
        """Read what came."""
        if self._answer is None:
            self.abort()  # data without a request: the next answer would be read from the middle
            return
        self._has_part = False
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            self._fail(BrokenOff("it does not speak HTTP"))
        self._without_body = 0 if self._has_part else self._without_body + len(data)
        if self._without_body > _MAX_HEAD_BYTES:
            part = "framing" if self._has_head else "head"
            self._fail(BrokenOff(f"the {part} of its answer is longer than {_MAX_HEAD_BYTES} bytes"))
        if self._has_enough and self._answer is not None:
            self._is_kept = False  # the rest is not read
            self._finish()

    def on_message_begin(self) -> None:
        """Called by the parser. An answer without a request is refused, because it would be taken for the next one."""
        self._is_kept = self._is_kept and self._answer is not None

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called by the parser, for trailers too, which are not headers (RFC 9110, 6.5.1)."""
        if not self._has_head:
            self._headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        """Called by the parser. An informational head is followed by the final one."""
        status = self._parser.get_status_code()
        if status >= 200 and self._answer is not None:
            self._has_head = True
            try:
                self._answer.begin(status, self._headers)
            except Exception as error:
                self._fail(error)

    def on_body(self, part: bytes) -> None:
        """Called by the parser."""
        self._has_part = True
        if self._answer is not None and not self._has_enough:
            try:
                self._has_enough = self._answer.take(part)
            except Exception as error:
                self._fail(error)

    def on_message_complete(self) -> None:
        """Called by the parser."""
        if self._has_head:
            self._is_kept = self._is_kept and self._parser.should_keep_alive()
            self._complete()
        else:
            self._headers = {}

    def _complete(self) -> None:
        if self._answer is None or self._has_enough:
            self._finish()
            return
        try:
            self._answer.end()
        except Exception as error:
            self._finish(error)
        else:
            self._finish()

    def _fail(self, error: Exception) -> None:
        """End the request, and close its connection."""
        self._is_kept = False
        self._finish(error)

    def _finish(self, error: Exception | None = None) -> None:
        """End the request."""
        if self._answer is None:
            return
        self._answer = None
        if self._done.done():
            return  # the request was canceled
        if error is None:
            self._done.set_result(None)
        else:
            self._done.set_exception(error)
