"""Server-sent events (HTML Living Standard §9.2): reports as they come, from a number on."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from manifest_api.feed import Feed
from manifest_api.guards.head import IS_HEAD
from orgkernel.decisions.state_view import StoredReport
from orgkernel.errors import OrgkernelError

logger = logging.getLogger("orgkernel.server")

MEDIA_TYPE = "text/event-stream"
HEARTBEAT_SECONDS = 15.0
"""A line at least this often, so that nobody on the way takes the connection for dead."""
SEND_SECONDS = 20.0
"""Who takes nothing for so long is dropped; it can come back and go on where it was."""
LASTS_SECONDS = 600.0
"""Then the client has to come back, past the gate: a key may have been revoked meanwhile."""
_RETRY_MS = 2_000


class _Gone(Exception):
    """The client takes nothing any more."""


class EventStream(Response):
    """A response that goes on: an event for each report that is wanted, each with its number as id."""

    media_type = MEDIA_TYPE

    def __init__(
        self,
        feed: Feed,
        number: int,
        encode: Callable[[StoredReport], bytes | None],
        *,
        is_reset: bool = False,
        lasts: float = LASTS_SECONDS,
    ) -> None:
        """Events for the reports after `number` that `encode` makes something of; `is_reset` says what came before is lost."""
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._feed = feed
        self._number = number
        self._encode = encode
        self._is_reset = is_reset
        self._lasts = lasts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        if scope.get(IS_HEAD):
            await send(start)
            await send({"type": "http.response.body", "body": b""})
            return
        async with self._feed.following():
            await send(start)
            writing = asyncio.create_task(self._write(send))
            leaving = asyncio.create_task(_until_gone(receive))
            try:
                await asyncio.wait((writing, leaving), return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (writing, leaving):
                    task.cancel()
                await asyncio.gather(writing, leaving, return_exceptions=True)
        if writing.cancelled():
            return
        error = writing.exception()
        if isinstance(error, _Gone):
            logger.warning(
                "a follower of the reports took nothing for %g seconds and was dropped", SEND_SECONDS
            )
        elif isinstance(error, OrgkernelError):
            logger.error("reports cannot be followed: %s", error.message)
            await _send(send, b"", more=False)
        elif error is not None:
            raise error

    async def _write(self, send: Send) -> None:
        end = time.monotonic() + self._lasts
        reset = b"event: reset\ndata: {}\n" if self._is_reset else b""
        await _send(send, b"retry: %d\n%bid: %d\n\n" % (_RETRY_MS, reset, self._number))
        while not self._feed.is_closed and time.monotonic() < end:
            reports = await self._feed.after(self._number, min(HEARTBEAT_SECONDS, self._lasts))
            events = []
            for report in reports:
                data = self._encode(report)
                if data is not None:
                    events.append(b"event: report\nid: %d\ndata: %b\n\n" % (report.number, data))
                self._number = report.number
            # An id without data moves the place of a client whose filter let nothing through.
            await _send(send, b"".join(events) if events else b": still here\nid: %d\n\n" % self._number)
        await _send(send, b"", more=False)


async def _send(send: Send, body: bytes, *, more: bool = True) -> None:
    try:
        async with asyncio.timeout(SEND_SECONDS):
            await send({"type": "http.response.body", "body": body, "more_body": more})
    except TimeoutError:
        raise _Gone from None


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
