"""What a toolbox is put together from: whom the host turns to, the locks of exclusive tools, and what calls the tools."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orgkernel.decisions.state_view import ToolLock
from orgkernel.errors import OrgkernelError
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.locks import is_held, lock_for_call, unlock_after_call
from orgkernel.operations.permits import Permits
from orgkernel.records.tool_catalog import Tool
from orgkernel.toolbox.adapters.adapter import Adapter
from orgkernel.toolbox.providers import Provider

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

Credentials = Callable[[str], str | None]
"""From the name of a credential to its value; None where there is none."""


@dataclass(frozen=True, slots=True)
class Handover:
    """Whom to turn to when no tool can, as the host reaches them. Each is called with a `Gap`, sync or async.

    None as an answer means: I cannot either.
    """

    reason: Callable[..., Any] | None = None
    """`reason(gap)`: the caller's own reasoning. Without it the result is handed back to the caller."""
    ask: Callable[..., Any] | None = None
    """`ask(superior, gap)`: a superior, as `role:ID`, nearest first."""
    report: Callable[..., Any] | None = None
    """`report(top, gap)`: whoever is at the top is told; the answer does not matter."""


@dataclass(slots=True)
class _Held:
    lock: ToolLock
    calls: int
    is_ours: bool
    """Whether a call took it, so that the last call gives it back."""


class Exclusive:
    """The locks that calls of exclusive tools work under. Its methods wait for the store.

    A call takes the lock where the caller does not hold it. Whoever holds a tool may call it several times at once; the
    lock is given back when the last of these calls has ended. A call that goes on although nobody waits for it any more
    keeps the lock until it ends, or the lock runs out.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._gate = threading.Lock()
        self._held: dict[tuple[str, str, str], _Held] = {}

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


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one toolbox."""

    store: Store | None
    permits: Permits
    providers: Mapping[str, Provider]
    adapters: Mapping[str, Adapter]
    exclusive: Exclusive | None
    credentials: Credentials | None
    handover: Handover

    @property
    def kernel(self) -> Kernel:
        """The kernel, as it is now."""
        return self.permits.kernel

    def view(self, org: str) -> OrgView:
        """The organization as it is served now."""
        return self.kernel.organization(org).snapshot.index

    def tool(self, org: str, tool_id: str) -> Tool | None:
        """The declaration of a tool; None where nothing declares it."""
        found = self.view(org).records.tools.get(tool_id)
        return None if found is None else found.record

    def path_in(self, tool_id: str, tool_input: Mapping[str, Any]) -> str | None:
        """The path an input names: never one the caller states beside it, because the tool does not read that."""
        provider = self.providers.get(tool_id)
        if provider is None or provider.path_from is None:
            return None
        path = tool_input.get(provider.path_from)
        return path if isinstance(path, str) else None
