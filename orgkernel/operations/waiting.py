"""Wait for a row or a change on an event loop."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from orgkernel.errors import StoreBusy

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Ticket

WORK_SECONDS = 10.0
"""Seconds that reading or changing the store may take."""


async def resolved(ticket: Ticket) -> Any:
    """The result of a ticket, without blocking the event loop. Raises its error, and `StoreBusy` after a timeout."""
    if not ticket.is_done:
        loop, done = asyncio.get_running_loop(), asyncio.Event()

        def wake(_: Ticket) -> None:
            with suppress(RuntimeError):  # the loop was closed: nobody waits any more
                loop.call_soon_threadsafe(done.set)

        ticket.on_done(wake)
        try:
            async with asyncio.timeout(WORK_SECONDS):
                await done.wait()
        except TimeoutError:
            raise StoreBusy(
                "the store did not answer in time", "it is not known whether the change was written"
            ) from None
    return ticket.result()
