"""Talks to a server process over its standard input and output, and reads a limited number of bytes for each
message.

Nothing is buffered between the process and the session: the session reads the pipe itself. The process leads its own
process group, and the whole group ends with the connection. What it writes to its standard error is discarded,
because it could hold what the server was given.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, SubprocessStreamProtocol
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import anyio
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import (
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)
from pydantic_core import from_json

from orgkernel.toolbox.adapters.ending import Ending
from orgkernel.toolbox.adapters.server_guard import LEAVES_SECONDS, ServerGuard
from orgkernel.toolbox.adapters.watched_streams import TooLong

_CHUNK: Final = 65536
_LAST_WORDS_SECONDS: Final = 0.2
"""Seconds for which the output of an ended process is still read."""
_EXIT_SECONDS: Final = 2.0
"""Seconds to wait for the exit of a process that closed its input or output, because the exit code explains more."""


class _Process(SubprocessStreamProtocol):
    """Tells when the process ends, even if a child of it keeps its output open."""

    def __init__(self, loop: asyncio.AbstractEventLoop, ending: Ending) -> None:
        super().__init__(_CHUNK, loop)
        self.ending = ending
        self.running_loop = loop
        self.transport: asyncio.SubprocessTransport | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.transport = transport

    def process_exited(self) -> None:
        super().process_exited()
        assert self.transport is not None
        reason = describe_exit(self.transport.get_returncode())
        self.running_loop.call_later(_LAST_WORDS_SECONDS, self.ending.end, reason)

    async def end_after_exit(self, reason: str) -> None:
        """End it with its exit, which is waited for; with `reason` if it does not exit."""
        await _wait_until_exit(self.transport, _EXIT_SECONDS)
        code = None if self.transport is None else self.transport.get_returncode()
        self.ending.end(reason if code is None else describe_exit(code))


class _Reader:
    def __init__(self, process: _Process, limit: int) -> None:
        assert process.stdout is not None
        self._process = process
        self._stdout = process.stdout
        self._limit = limit
        self._buffer = bytearray()

    async def receive(self) -> SessionMessage | Exception:
        """Read the next message, or the error of a line. Raises `EndOfStream` and `TooLong`."""
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            # Only new bytes are searched. Otherwise a long line in small chunks takes quadratic time.
            searched = len(self._buffer)
            if searched > self._limit:
                break
            try:
                chunk = await self._stdout.read(_CHUNK)
            except OSError:
                chunk = b""
            if not chunk:
                await self._process.end_after_exit("it closed its output")
                raise anyio.EndOfStream
            self._buffer += chunk
        if end < 0 or end > self._limit:
            raise TooLong(f"it sent a message that is longer than {self._limit} bytes")
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        try:
            return SessionMessage(parse_message(line))
        except ValueError as error:
            # With an id, the error fails the one call that it answers. Without, it belongs to no call.
            id = _read_id(line)
            if id is None:
                return error
            unreadable = ErrorData(code=PARSE_ERROR, message="its answer cannot be read")
            return SessionMessage(JSONRPCError(jsonrpc="2.0", id=id, error=unreadable))

    async def aclose(self) -> None:
        """Do nothing: the connection closes the process."""


class _Writer:
    def __init__(self, process: _Process, limit: int) -> None:
        assert process.stdin is not None
        self._process = process
        self._stdin = process.stdin
        self._limit = limit

    async def send(self, item: SessionMessage, /) -> None:
        """Write a message as one line.

        A request waits for a server that does not read; an answer to the server does not.
        """
        line = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        try:
            if isinstance(item.message, JSONRPCRequest):
                await self._stdin.drain()
            elif self._stdin.transport.get_write_buffer_size() > self._limit:
                return
            if self._stdin.transport.is_closing():
                raise ConnectionResetError
            self._stdin.write(line)
        except (OSError, RuntimeError):
            await self._process.end_after_exit("it closed its input")
            raise anyio.BrokenResourceError from None

    async def aclose(self) -> None:
        """Do nothing: the connection closes the process."""


@asynccontextmanager
async def open_limited_stdio(
    command: Sequence[str],
    environment: Mapping[str, str],
    limit: int,
    ending: Ending,
    guard: ServerGuard | None = None,
) -> AsyncIterator[tuple[_Reader, _Writer]]:
    """Open the streams of a new process. Raises `OSError` if it cannot be started.

    A `guard` ends it if this process is killed.
    """
    loop = asyncio.get_running_loop()
    _, process = await loop.subprocess_exec(
        lambda: _Process(loop, ending),
        *command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env=get_default_environment() | dict(environment),
        start_new_session=True,
    )
    transport = process.transport
    assert transport is not None
    group = transport.get_pid()
    if guard is not None:
        guard.add(group)
    try:
        yield _Reader(process, limit), _Writer(process, limit)
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process, transport)
        if guard is not None:
            guard.remove(group)


async def _end(process: _Process, transport: asyncio.SubprocessTransport) -> None:
    """Close the input of a process, and end its whole group."""
    assert process.stdin is not None
    group = transport.get_pid()
    process.stdin.close()
    await _wait_until_exit(transport, LEAVES_SECONDS)
    if transport.get_returncode() is None:
        _signal(group, signal.SIGTERM)
        await _wait_until_exit(transport, LEAVES_SECONDS)
    # Children of a process that has left may still run.
    _signal(group, signal.SIGKILL)
    await _wait_until_exit(transport, LEAVES_SECONDS)
    with suppress(PermissionError):
        transport.close()
    await asyncio.sleep(0)


def _signal(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


async def _wait_until_exit(transport: asyncio.SubprocessTransport | None, seconds: float) -> None:
    """Wait until a process has exited. `wait` of a process would also wait for children that hold its pipes."""
    deadline = asyncio.get_running_loop().time() + seconds
    while transport is not None and transport.get_returncode() is None:
        if asyncio.get_running_loop().time() >= deadline:
            return
        await asyncio.sleep(0.005)


def describe_exit(code: int | None) -> str:
    """How a process ended."""
    if code is None:
        return "it ended"
    if code >= 0:
        return f"it ended with exit code {code}"
    try:
        return f"it was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"it was ended by signal {-code}"


def parse_message(line: bytes) -> JSONRPCMessage:
    """Parse a line as a message. Raises `ValueError`.

    Its keys decide its kind, which is faster than trying each kind.
    """
    value = from_json(line)
    if not isinstance(value, dict):
        raise ValueError("no object")
    if "method" in value:
        kind: Any = JSONRPCRequest if "id" in value else JSONRPCNotification
    else:
        kind = JSONRPCResponse if "result" in value else JSONRPCError
    message: JSONRPCMessage = kind.model_validate(value, by_name=False)
    return message


def _read_id(line: bytes) -> int | None:
    """Read the id of an unreadable answer with a more tolerant parser, so that its call fails at once."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    id = value.get("id") if isinstance(value, dict) and "method" not in value else None
    return id if isinstance(id, int) else None
