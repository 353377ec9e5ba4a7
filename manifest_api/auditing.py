"""Audited decisions: an answer is sent after its audit row is on disk (docs/how-to/store.md)."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from manifest_api.guards.caller import Caller
from manifest_api.store_access import WORK_SECONDS, StoreAccess
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.errors import Conflict, StoreBusy
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.decisions import TRIES, Answered, Decided, decide

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Ticket


class Auditor:
    """Decides, writes audit rows and waits for them on the event loop. Simultaneous questions share one commit."""

    def __init__(self, kernel: Kernel, store_access: StoreAccess) -> None:
        self._kernel = kernel
        self._store_access = store_access

    @property
    def kernel(self) -> Kernel:
        """The kernel that decides."""
        return self._kernel

    @property
    def writes_down(self) -> bool:
        """Whether a decision made now is audited. Raises `StoreError`."""
        return self._store_access.held() is not None

    def begin(self, org: str, request: AccessRequest, caller: Caller) -> Decided:
        """Decide, and submit the audit row. Raises what `Kernel.decide` raises, and `StoreError`."""
        return decide(self._kernel, self._store_access.held(), org, request, caller.actor)

    async def finish(self, decided: Decided) -> Answered:
        """The answer, after its row is on disk. Raises `StoreError` if the row could not be written."""
        for _ in range(TRIES):
            if decided.ticket is None:
                return decided.answer()
            try:
                return decided.answer(await resolved(decided.ticket))
            except Conflict:
                # Somebody else used the grant up: what is true now is another answer.
                await self._store_access.refresh()
                store = self._store_access.held()
                decided = decide(self._kernel, store, decided.org, decided.asked, decided.actor)
        return decided.used_up()


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
