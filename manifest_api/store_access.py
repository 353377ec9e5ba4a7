"""The store of the server. It may exist at the start or be created later.

The event loop never waits for a database. Before each request is answered, the state in memory is updated from the
store. A single thread does nothing but read the state. If the store hangs, requests that need it are refused after a
short wait, and all others are answered.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from manifest_api.capacity import DEFAULT_BUDGET, Capacity
from manifest_api.spans import span
from orgkernel.decisions.evidence.crew_records import RankMove
from orgkernel.decisions.evidence.limit_usage import Charge, LimitUsage
from orgkernel.decisions.evidence.state_records import ApiKey, AuditFinding, ToolUsage
from orgkernel.decisions.evidence.state_view import EMPTY_STATE, Grant, StateView
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import NOT_IN_TIME, PERHAPS_WRITTEN, OrgkernelError, StoreBusy, StoreError
from orgkernel.kernel.registry_state import RegistryState, Reload
from orgkernel.kernel.stored import StoreLocation, open_store
from orgkernel.operations import upkeep
from orgkernel.operations.keys import list_expiring_keys
from orgkernel.operations.waiting import WORK_SECONDS
from orgkernel.runtime.utc import as_utc

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

logger = logging.getLogger("orgkernel.server")

T = TypeVar("T")
PATIENCE = 2.0
"""Seconds that a request waits for the state before it is refused."""
_THREADS = 16
MEASURE_SECONDS = 5.0
"""Seconds between two measurements of the store."""
PRUNE_SECONDS = 3_600.0
"""Seconds between two searches for audit rows that are older than the retention."""
_TELL_SECONDS = 86_400.0
EVERY_SECONDS = 60.0
"""Seconds between two searches for expired records."""


class Retention(NamedTuple):
    """Days for which audit rows are kept."""

    decisions: float = 90.0
    history: float = 365.0


class StoreAccess:
    """The store at a location. A question never creates a store; the first key does.

    INVARIANT: a store that exists and cannot be read is an error (503), never an empty state, because restrictions must
    hold.
    """

    def __init__(
        self, location: StoreLocation | None, patience: float = PATIENCE, budget: int = DEFAULT_BUDGET
    ) -> None:
        """`budget` is the number of bytes that the store may use."""
        self.capacity = Capacity(location, budget)
        self._location = location
        self._patience = patience
        self._opening = threading.Lock()
        self._store: Store | None = None
        self._problem: Exception | None = None
        self._reader, self._workers = _create_threads()
        self._asking = threading.Lock()
        self._next_read: Future[None] | None = None
        self._reading_since: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether the store has been opened."""
        return self._store is not None

    def open(self) -> Store | None:
        """The store, opened once. None if it does not exist yet. Not for the event loop. Raises `StoreError`."""
        if self._store is not None or self._location is None or self._is_missing:
            return self._store
        with self._opening:
            if self._store is None:
                self._store = open_store(self._location, create=False)
        return self._store

    def find_lost(self) -> tuple[AuditFinding, ...]:
        """The finding about a store that is missing although there are checkpoints of it. Not for the event loop."""
        return () if self._location is None else upkeep.find_lost_store(self._location)

    def read_now(self) -> None:
        """Update the state from the store. Not for the event loop. Raises `StoreError`."""
        store = self.open()
        if store is not None:
            store.refresh()

    async def refresh(self) -> None:
        """Read the state like `read_now`, with a short timeout. `held` raises the error."""
        if self._location is None:
            return
        store = self._store
        if (store is None and self._is_missing) or (store is not None and store.is_current()):
            self._problem = None
            return
        read = self._submit_read()
        since = self._reading_since
        if since is not None and time.monotonic() - since > self._patience:
            self._problem = StoreBusy("the store does not answer", "try again later")
        elif not await _is_done(read, self._patience):
            self._problem = StoreBusy(NOT_IN_TIME, "try again later")

    def held(self) -> Store | None:
        """The store with the state for this request. None if there is no store. Raises `StoreError`."""
        problem = self._problem
        if problem is not None:
            # Every caller raises a copy, because a traceback grows with each raise. Only orgkernel errors can be copied safely.
            raise copy.copy(problem) if isinstance(problem, OrgkernelError) else problem
        if self._store is None and self._location is not None and not self._is_missing:
            return self.open()
        return self._store

    def read_view(self, org_id: str | None = None) -> StateView:
        """The state that decisions of an organization depend on. Raises `StoreError`."""
        store = self.held()
        return EMPTY_STATE if store is None else store.get_last_view(org_id)

    def read_past(self, org_id: str, at: float) -> StateView:
        """The state as it was at a time. Raises `StoreError` and `Refused`.

        It reads the store, so do not call it on the event loop.
        """
        store = self.held()
        return EMPTY_STATE if store is None else store.read_past(org_id, at)

    def list_rank_changes(
        self, org_id: str, agent_id: str, start: str | None, until: float | None = None
    ) -> tuple[RankMove, ...]:
        """Changes of an agent's rank up to a time, oldest first. Raises `StoreError`. It reads the store."""
        store = self.held()
        return () if store is None else store.list_rank_changes(org_id, agent_id, start, until)

    def list_tool_usage(self, agent_ids: Collection[str]) -> tuple[ToolUsage, ...] | None:
        """The calls of these agents, counted by agent and tool; None without a store. Raises `StoreError`. It reads the store."""
        store = self.held()
        return None if store is None else store.list_tool_usage(agent_ids)

    @property
    def limits(self) -> UsageInStore:
        """The reader of the usage of limits."""
        return UsageInStore(self)

    async def work(self, work: Callable[[Store], T], seconds: float = WORK_SECONDS) -> T | None:
        """Run a function with the store in a thread. None if there is no store. Raises `StoreBusy` after a timeout."""
        store = self.held()
        if store is None:
            return None
        with span("store"):
            future = self._workers.submit(copy_context().run, work, store)
            if not await _is_done(future, seconds):
                future.cancel()
                raise StoreBusy(NOT_IN_TIME, PERHAPS_WRITTEN)
            return future.result()

    def close(self) -> None:
        """Wait until everything is written, and close the store."""
        for threads in (self._reader, self._workers):
            threads.shutdown(cancel_futures=True)
        # No thread runs until the next question; a read that was not begun never will be.
        self._reader, self._workers = _create_threads()
        self._next_read = None
        with self._opening:
            store, self._store = self._store, None
        if store is not None:
            store.close()

    @property
    def _is_missing(self) -> bool:
        location = self._location
        return location is not None and bool(location.path) and not os.path.exists(location.path)

    def _submit_read(self) -> Future[None]:
        """The next read. A read that is running may have begun before this request and miss a change."""
        with self._asking:
            if self._next_read is None:
                self._reader.submit(self._read)  # which waits for this lock
                self._next_read = Future()
            return self._next_read

    def _read(self) -> None:
        with self._asking:
            read, self._next_read = self._next_read, None
            self._reading_since = time.monotonic()
        assert read is not None
        try:
            self.read_now()
            self._problem = None
        except Exception as error:
            self._problem = error
        finally:
            self._reading_since = None
            read.set_result(None)


class UsageInStore:
    """The usage of limits, which is counted in the store and not held in memory."""

    def __init__(self, store_access: StoreAccess) -> None:
        self._store_access = store_access

    def read_usage(self, org_id: str, charges: Sequence[Charge]) -> tuple[LimitUsage, ...] | None:
        """The usage of the counters that charges name. None if there is no store. Raises `StoreError`.

        It reads the store, so do not call it on the event loop.
        """
        store = self._store_access.held()
        return None if store is None else store.limits.read_usage(org_id, charges)


class VanishedGrants:
    """Puts the grants of subjects that are no longer declared to sleep, at every load of the documents.

    INVARIANT: no load is passed over. What the store could not take is tried again, with the load it was found in,
    so a subject that was missing in one load and is there in the next does not find its grants awake.
    """

    def __init__(self, store_access: StoreAccess) -> None:
        self._store_access = store_access
        self._loads: list[tuple[RegistryState, Reload]] = []
        self._writing = asyncio.Lock()

    async def note(self, state: RegistryState, report: Reload) -> None:
        """Take a load, and try to record its effect."""
        self._loads.append((state, report))
        await self.retry()

    async def retry(self) -> None:
        """Record the effects of loads that were not recorded yet."""
        async with self._writing:  # another caller would remove the load after the one that it has written
            try:
                while self._loads:
                    state, report = self._loads[0]
                    await self._store_access.refresh()
                    slept = await self._store_access.work(partial(_put_to_sleep, state, report))
                    del self._loads[0]
                    for grant in slept or ():
                        logger.warning(
                            "grant %s is asleep: no document declares %s",
                            grant.grant_id, quote(grant.subject),
                        )  # fmt: skip
            except StoreError as error:
                logger.warning(
                    "grants could not be put to sleep; this will be tried again: %s", error.message
                )


def _put_to_sleep(state: RegistryState, report: Reload, store: Store) -> tuple[Grant, ...]:
    return upkeep.note_vanished(store, state, report.removed)


async def audit_expired_records(
    store_access: StoreAccess,
    vanishing: VanishedGrants,
    every_seconds: float = EVERY_SECONDS,
    first_seconds: float = upkeep.FIRST_SECONDS,
) -> None:
    """Audit expired records at intervals, and log keys that expire soon, until cancelled (docs/how-to/store.md).

    Decisions do not depend on it: an expired record has no effect from the moment it expires. It waits until the clock is believed,
    at first for `first_seconds`.
    """
    warned_at: dict[str, float] = {}
    trust: upkeep.ClockTrust | None = None
    while True:
        await asyncio.sleep(every_seconds)
        await vanishing.retry()
        try:
            await store_access.refresh()
            if trust is None:
                trust = await store_access.work(
                    lambda store: upkeep.ClockTrust(store, time.time(), time.monotonic(), first_seconds)
                )
            if trust is not None:
                future = await store_access.work(partial(_note_expired, trust))
                if future:
                    logger.warning("%d rows were dated after the clock; their terms now begin", future)
            expiring = await store_access.work(lambda store: list_expiring_keys(store, time.time()))
            _tell_expiring(expiring or (), warned_at, time.monotonic())
        except StoreError as error:
            logger.warning("expired records could not be audited and will be tried again: %s", error.message)


def _note_expired(trust: upkeep.ClockTrust, store: Store) -> int:
    return upkeep.note_expired(store, trust, time.time(), time.monotonic())


def _tell_expiring(keys: Sequence[ApiKey], warned_at: dict[str, float], now: float) -> None:
    """Log each key that expires soon, once a day."""
    for key in keys:
        if key.key_id not in warned_at or now - warned_at[key.key_id] >= _TELL_SECONDS:
            warned_at[key.key_id] = now
            logger.warning(
                "the key %s (%s) expires at %s; replace it with `orgkernel key rotate %s`",
                key.key_id, quote(key.name), as_utc(key.expires_at), key.key_id,
            )  # fmt: skip


async def keep_within_budget(
    store_access: StoreAccess,
    retention: Retention | None = None,
    every_seconds: float = MEASURE_SECONDS,
    prune_seconds: float = PRUNE_SECONDS,
) -> None:
    """Measure the store at intervals, and drop audit rows that are older than the retention, until cancelled."""
    prune_at = 0.0
    trust: upkeep.ClockTrust | None = None
    while True:
        await asyncio.sleep(every_seconds)
        if not store_access.is_open:
            continue  # nothing was written
        try:
            await store_access.refresh()
            used = await store_access.work(upkeep.measure)
            store_access.capacity.note_size(used or 0)
            if retention is None or time.monotonic() < prune_at:
                continue
            if trust is None:
                trust = await store_access.work(
                    lambda store: upkeep.ClockTrust(store, time.time(), time.monotonic())
                )
            elif not await _has_doubt(store_access, trust):
                prune = partial(upkeep.prune, decision_days=retention[0], history_days=retention[1])
                counts = await store_access.work(prune, PRUNE_SECONDS)
                prune_at = time.monotonic() + prune_seconds
                if counts is not None and counts[0]:
                    logger.info("dropped %d rows of the audit that were older than the retention", counts[0])
        except OrgkernelError as error:
            logger.warning(
                "the store could not be measured or pruned; this will be tried again: %s", error.message
            )


async def _has_doubt(store_access: StoreAccess, trust: upkeep.ClockTrust) -> bool:
    """Whether the clock may not decide which rows are old."""
    doubt = await store_access.work(lambda store: trust.find_doubt(store, time.time(), time.monotonic()))
    return doubt != ""


def _create_threads() -> tuple[ThreadPoolExecutor, ThreadPoolExecutor]:
    """The thread that reads the state, and the threads that use the store."""
    return ThreadPoolExecutor(1, "orgkernel-state"), ThreadPoolExecutor(_THREADS, "orgkernel-work")


async def _is_done(future: Future[T], seconds: float) -> bool:
    """Whether the work of a thread ended in time."""
    waited = asyncio.wrap_future(future)
    waited.add_done_callback(
        lambda each: each.cancelled() or each.exception()
    )  # the error reaches the caller through `future`
    await asyncio.wait([waited], timeout=seconds)
    return future.done()
