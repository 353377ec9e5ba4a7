"""The connections of a client: HTTP/1.1 of the standard library, with one time limit for each call."""

from __future__ import annotations

import http.client
import select
import ssl
import time
from collections import deque
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec

from orgkernel.client.calls import HttpCall
from orgkernel.client.problems import read_problem
from orgkernel.errors import NoAnswer, UsageError
from orgkernel.version import __version__

T = TypeVar("T")
_CHUNK = 65_536
_MAX_IDLE = 16
"""ServerConnections that are kept for the next call."""


class ServerConnections:
    """The connections to one server. Safe to use from several threads, of which each call has a connection of its own."""

    def __init__(self, url: str, key: str | None, tls: ssl.SSLContext | None) -> None:
        """Raises `UsageError` for a URL that is not `http://HOST` or `https://HOST`."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(
                f"`{url}` is not the URL of a server", "write `http://HOST:PORT` or `https://HOST`"
            )
        self._url = url.rstrip("/")
        self._is_secure = parts.scheme == "https"
        self._host, self._port = parts.hostname, parts.port
        self._base = parts.path.rstrip("/")
        self._tls = tls
        self._idle: deque[HTTPConnection] = deque()
        self._headers = {"Accept": "application/json", "User-Agent": f"orgkernel/{__version__}"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"

    def send(self, call: HttpCall[T], timeout: float) -> T:
        """The answer to a call. Raises `NoAnswer` after `timeout` seconds, and the error that a problem document names."""
        deadline = time.monotonic() + timeout
        connection = self._take(timeout)
        try:
            status, body = self._exchange(connection, call, deadline)
        except (OSError, HTTPException) as error:
            connection.close()
            if isinstance(error, TimeoutError):
                raise self.build_late_error(timeout) from error
            raise NoAnswer(
                f"{self._url} cannot be reached: {error}", "see whether the server is running"
            ) from error
        except BaseException:
            connection.close()
            raise
        if status >= http.client.BAD_REQUEST:
            raise read_problem(status, body)
        try:
            return call.read(body)
        except msgspec.DecodeError as error:
            raise NoAnswer(
                f"the answer of {self._url} cannot be read: {error}",
                "see whether it is an orgkernel server of this version",
            ) from error

    def close(self) -> None:
        """Close the connections that no call uses."""
        while self._idle:
            self._idle.pop().close()

    def build_late_error(self, timeout: float) -> NoAnswer:
        """The error for a call that took too long."""
        return NoAnswer(
            f"{self._url} did not answer within {timeout:g} seconds",
            "see whether it is overloaded, or wait longer",
        )

    def _exchange(self, connection: HTTPConnection, call: HttpCall[T], deadline: float) -> tuple[int, bytes]:
        headers = (
            self._headers if call.body is None else {**self._headers, "Content-Type": "application/json"}
        )
        connection.request(call.method, self._base + call.path, call.body, headers)
        _limit(connection, deadline)
        response = connection.getresponse()
        chunks = []
        while chunk := response.read(_CHUNK):
            chunks.append(chunk)
            if not response.isclosed():
                _limit(connection, deadline)
        if response.will_close or len(self._idle) >= _MAX_IDLE:
            connection.close()
        else:
            self._idle.append(connection)
        return response.status, b"".join(chunks)

    def _take(self, timeout: float) -> HTTPConnection:
        """A connection that the server has not closed, or a new one."""
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:
                break  # another thread was faster
            # Nothing was asked, so what can be read is the end of the connection.
            if connection.sock is not None and not select.select([connection.sock], [], [], 0)[0]:
                connection.timeout = timeout
                connection.sock.settimeout(timeout)
                return connection
            connection.close()
        if self._is_secure:
            return HTTPSConnection(self._host, self._port, timeout=timeout, context=self._tls)
        return HTTPConnection(self._host, self._port, timeout=timeout)


def _limit(connection: HTTPConnection, deadline: float) -> None:
    """Let the next reading take no longer than what is left. Raises `TimeoutError` if nothing is left."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    if connection.sock is not None:
        connection.sock.settimeout(left)
