"""Decisions that are written down before they are told (design §9): an answer is sent when its row is on the disk."""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from functools import partial
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
    """Decides and writes down, and waits for the rows on the event loop. Questions that arrive together share one commit."""

    def __init__(self, kernel: Kernel, store_access: StoreAccess) -> None:
        self._kernel = kernel
        self._store_access = store_access

    @property
    def writes_down(self) -> bool:
        """Whether what is decided now becomes a row of the audit. Raises `StoreError`."""
        return self._store_access.held() is not None

    def begin(self, org: str, request: AccessRequest, caller: Caller) -> Decided:
        """Decide, and hand the row in. Raises what `Kernel.decide` raises, and `StoreError`."""
        return decide(self._kernel, self._store_access.held(), org, request, caller.actor)

    async def finish(self, decided: Decided) -> Answered:
        """The answer, once its row is on the disk. Raises `StoreError` when it could not be written."""
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
    """What a ticket resolves with, without blocking the loop; raises its error, and `StoreBusy` when it takes too long."""
    if not ticket.is_done:
        loop = asyncio.get_running_loop()
        waker = _wakers.get(loop)
        if waker is None:
            waker = _wakers[loop] = _Waker(loop)
        done = loop.create_future()
        ticket.on_done(partial(waker.wake, done))
        ends = loop.call_later(WORK_SECONDS, _give_up, done)
        try:
            await done
        finally:
            ends.cancel()
    return ticket.result()


def _give_up(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_exception(
            StoreBusy("the store did not answer in time", "whether it was written is not known")
        )


class _Waker:
    """Wakes those whose rows are written: a commit has many rows, and the loop is called once for all of them."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        # Whoever holds the waker holds the loop, and the waker is found by the loop: it must not keep it alive.
        self._loop = weakref.ref(loop)
        self._done: deque[asyncio.Future[None]] = deque()
        self._is_called = False

    def wake(self, done: asyncio.Future[None], _: Ticket) -> None:
        """In the writer's thread."""
        self._done.append(done)
        if not self._is_called:
            self._is_called = True
            loop = self._loop()
            if loop is not None:
                loop.call_soon_threadsafe(self._wake_all)

    def _wake_all(self) -> None:
        # INVARIANT: cleared before looking, so that what is appended afterwards calls again.
        self._is_called = False
        while self._done:
            done = self._done.popleft()
            if not done.done():  # the client may have gone
                done.set_result(None)


_wakers: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Waker] = weakref.WeakKeyDictionary()
