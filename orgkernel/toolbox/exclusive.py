"""Exclusive tools: the lock a call needs, taken where the caller does not hold it, and given back (facts: crew §3.5).

Whoever holds a tool may call it several times at once; the lock is given back when the last of these calls has ended. A
call that goes on although nobody waits for it any more keeps the lock until it ends, or the lock runs out.
"""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orgkernel.decisions.state_view import ToolLock
from orgkernel.errors import OrgkernelError
from orgkernel.operations.locks import is_held, lock_for_call, unlock_after_call

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

Key = tuple[str, str, str]


@dataclass(slots=True)
class _Held:
    lock: ToolLock
    calls: int
    is_ours: bool
    """Whether a call took it, so that the last call gives it back."""


class Exclusive:
    """The locks that calls of one toolbox work under. Its methods wait for the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._gate = threading.Lock()
        self._held: dict[Key, _Held] = {}

    def enter(self, org_id: str, tool_id: str, subject: str, timeout: float | None) -> ToolLock:
        """Work under a lock that is held, or take one; raises `Conflict` (`TOOL_LOCKED`) and `StoreError`."""
        key = org_id, tool_id, subject
        with self._gate:
            held = self._held.get(key)
            if held is not None and is_held(self._store, held.lock):
                held.calls += 1
                return held.lock
            lock, is_ours = lock_for_call(self._store, org_id, tool_id, subject, timeout)
            self._held[key] = _Held(lock, 1, is_ours)
            return lock

    def leave(self, lock: ToolLock) -> bool:
        """A call under a lock has ended; whether the lock was good to the end."""
        key = lock.org_id, lock.tool_id, lock.holder
        with self._gate:
            stands = is_held(self._store, lock)
            held = self._held.get(key)
            if held is None or held.lock.token != lock.token:
                return stands
            held.calls -= 1
            if held.calls == 0:
                del self._held[key]
                if held.is_ours:
                    # Lost meanwhile, or the store is gone: then it runs out, or is not ours to give back.
                    with contextlib.suppress(OrgkernelError):
                        unlock_after_call(self._store, lock)
            return stands
