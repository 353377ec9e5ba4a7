"""The asker of a single process: the subject that it was started for, with one open store."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.evidence.state_records import KeyScope
from orgkernel.decisions.evidence.state_view import EMPTY_STATE, StateView
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.stored import StoreLocation, is_there, open_store
from orgkernel.mcp.asker import Asker
from orgkernel.operations.context import Actor, Context
from orgkernel.operations.decisions import Answered, decide, decide_and_wait

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

T = TypeVar("T")
SCOPES: frozenset[KeyScope] = frozenset({"read", "request", "report"})
"""The scopes of a process for the subject it was started for."""
_LOOK_SECONDS = 1.0
"""Seconds between two looks at whether the documents have changed."""


class LocalAsker(Asker):
    """A subject that asks on this machine."""

    def __init__(
        self, kernel: Kernel, org_id: str, subject: str, location: StoreLocation, base: AccessRequest
    ) -> None:
        super().__init__(org_id, subject, SCOPES, base)
        self._location = location
        self._store: Store | None = None
        self._opening = threading.Lock()
        self._kernel = kernel.with_store(self)
        self._documents = kernel
        self.look_seconds = _LOOK_SECONDS
        self._looked_at = time.monotonic()
        self._actor = Actor(subject, subject)

    def read_view(self, org_id: str | None = None) -> StateView:
        """The state now; nothing where nothing was ever stored. Raises `StoreError`."""
        store = self._open()
        return EMPTY_STATE if store is None else store.read_view(org_id)

    async def ask(self, question: Callable[[Kernel], T]) -> T:
        """Ask the documents as they are now."""
        return await asyncio.to_thread(lambda: question(self._get_current()))

    async def decide(self, request: AccessRequest) -> Answered:
        """Decide, and write it down if there is a store."""

        def work() -> Answered:
            kernel, store = self._get_current(), self._open()
            if store is None:
                return decide(kernel, None, self.org_id, request, self._actor).answer()
            return decide_and_wait(kernel, store, self.org_id, request, self._actor)

        return await asyncio.to_thread(work)

    async def operate(self, operation: Callable[[Context], T]) -> T:
        """Make a change. The first one makes the store."""

        def work() -> T:
            kernel, store = self._get_current(), self._open(create=True)
            assert store is not None
            return operation(Context(kernel, store, self._actor))

        return await asyncio.to_thread(work)

    def open_store(self) -> Store:
        """Open the store, or create it. Raises `StoreError`."""
        store = self._open(create=True)
        assert store is not None
        return store

    def close(self) -> None:
        """Close the store."""
        with self._opening:
            store, self._store = self._store, None
        if store is not None:
            store.close()

    def _open(self, *, create: bool = False) -> Store | None:
        with self._opening:
            if self._store is None and (create or is_there(self._location)):
                self._store = open_store(self._location, create=create)
            return self._store

    def _get_current(self) -> Kernel:
        """The kernel, with the documents read again if they have changed. Broken ones leave the last good version."""
        now = time.monotonic()
        if now - self._looked_at >= self.look_seconds:
            self._looked_at = now
            if self._documents.reload().changed:
                self._kernel = self._documents.with_store(self)
        return self._kernel
