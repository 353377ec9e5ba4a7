"""A transport that sends the head of an answer together with its body: each packet wakes the client, and costs a system call."""

from __future__ import annotations

import asyncio
from typing import Any

_MAX_HELD_BYTES = 64 * 1024


class WholeAnswers:
    """Collects the data that is written in one turn of the event loop, and sends it at once.

    A stream is not delayed, because each turn sends its data. Data larger than a few packets is not collected, so
    limits on unsent answers still work.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> None:
        """Send data soon, after the collected data."""
        if not self._held:
            self._loop.call_soon(self.flush)
        self._held.append(data)
        self._size += len(data)
        if self._size > _MAX_HELD_BYTES:
            self.flush()

    def flush(self) -> None:
        """Send the collected data."""
        if self._held:
            held, self._held, self._size = self._held, [], 0
            if not self._transport.is_closing():  # the client has disconnected
                self._transport.writelines(held)

    def close(self) -> None:
        """Send the collected data, and close."""
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        """Close at once."""
        self._held, self._size = [], 0
        self._transport.abort()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
