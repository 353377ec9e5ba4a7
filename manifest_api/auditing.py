"""Decisions that are written down before they are told (design §9): an answer is sent when its row is on the disk."""

from __future__ import annotations

import asyncio
import time
import weakref
from collections import deque
from functools import partial
from typing import Any

import msgspec

from manifest_api.guards.caller import Caller
from manifest_api.store_access import WORK_SECONDS, Remembered
from manifest_api.use_limits import as_told, uses_of
from orgkernel.decisions.access.decision import AccessDecision
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.reasons import Reason
from orgkernel.errors import Conflict, StoreBusy
from orgkernel.kernel.decision_log import build_entry
from orgkernel.kernel.kernel import Kernel
from orgkernel.state.ticket import Ticket

_TRIES = 3
_USED_UP = Reason("GRANT_USED_UP", "the grant it needs was used up by somebody else in the meantime")

Answered = tuple[AccessDecision, tuple[Reason, ...], str]
"""A decision, its reasons, and the name of its audit row; empty where nothing is remembered."""


class Auditor:
    """Decides and writes down. Several questions that arrive together share one commit."""

    def __init__(self, kernel: Kernel, remembered: Remembered) -> None:
        self._kernel = kernel
        self._remembered = remembered

    @property
    def writes_down(self) -> bool:
        """Whether what is decided now becomes a row of the audit. Raises `StoreError`."""
        return self._remembered.held() is not None

    def begin(self, org: str, request: AccessRequest, caller: Caller) -> _Started:
        """Decide, and hand the row in. Raises what `Kernel.decide` raises, and `StoreError`."""
        began = time.perf_counter()
        desk = self._kernel.access_desk(org)
        request = desk.at_this_moment(request)
        decision, reasons = as_told(*desk.decide_with_reasons(request), request, caller)
        store = self._remembered.held()
        if store is None:
            return _Started(org, request, caller, decision, reasons, None)
        entry = build_entry(
            desk.view, request, decision, at=request.context.now, actor=caller.credential,
            seconds=time.perf_counter() - began,
        )  # fmt: skip
        ticket = store.audit.submit(entry, uses_of(decision, caller))
        return _Started(org, request, caller, decision, reasons, ticket)

    async def finish(self, started: _Started) -> Answered:
        """The answer, once its row is on the disk. Raises `StoreError` when it could not be written."""
        for _ in range(_TRIES):
            if started.told is not None:
                return started.told
            assert started.ticket is not None
            try:
                row: str = await resolved(started.ticket)
            except Conflict:
                # Somebody else used the grant up: what is true now is another answer.
                await self._remembered.refresh()
                started = self.begin(started.org, started.asked, started.caller)
            else:
                return _as_done(started), started.reasons, row
        decision = started.decision
        denied = AccessDecision(
            "deny", _USED_UP.code, (_USED_UP.code,), decision.level_required, "none", (), decision.snapshot,
            decision.state_version,
        )  # fmt: skip
        return denied, (_USED_UP,), ""


class _Started(msgspec.Struct, frozen=True):
    """A question that is decided, and whose row is on its way."""

    org: str
    asked: AccessRequest
    caller: Caller
    decision: AccessDecision
    reasons: tuple[Reason, ...]
    ticket: Ticket | None

    @property
    def told(self) -> Answered | None:
        """The answer that nobody has to wait for; None where its row is on its way."""
        return (self.decision, self.reasons, "") if self.ticket is None else None


def _as_done(started: _Started) -> AccessDecision:
    """The decision without the obligations that writing it down has met."""
    decision = started.decision
    used = {f"consume_grant:{grant}" for grant in uses_of(decision, started.caller)}
    if not used:
        return decision
    left = tuple(each for each in decision.obligations if each not in used)
    return msgspec.structs.replace(decision, obligations=left)


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
