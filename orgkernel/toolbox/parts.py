"""The parts of a toolbox: callbacks of the host, locks of exclusive tools, and adapters."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orgkernel.decisions.evidence.state_view import ToolLock
from orgkernel.documents.records import Tool
from orgkernel.errors import OrgkernelError, StoreError
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.locks import is_held, lock_for_call, unlock_after_call
from orgkernel.operations.permits import Permits
from orgkernel.operations.waiting import run_in_store_thread
from orgkernel.toolbox.adapters.adapter import Adapter
from orgkernel.toolbox.path_targets import find_files_folder, find_other_targets
from orgkernel.toolbox.providers import Provider

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

Credentials = Callable[[str], str | None]
"""A function that returns the value of a credential, or None."""


@dataclass(frozen=True, slots=True)
class Handover:
    """Callbacks of the host for tasks that no tool can do. Each is called with a `Gap`, sync or async.

    The answer None means that the callback cannot do it either.
    """

    reason: Callable[..., Any] | None = None
    """`reason(gap)`: the caller's own reasoning. Without this callback, the result is handed back to the caller."""
    ask: Callable[..., Any] | None = None
    """`ask(helper, gap)`: ask a peer, written `agent:ID`, or a superior, written `role:ID`, nearest first."""
    report: Callable[..., Any] | None = None
    """`report(top, gap)`: report to the top. The answer does not matter."""


@dataclass(slots=True)
class _Held:
    lock: ToolLock
    calls: int
    is_ours: bool
    """Whether a call took the lock. Then the last call releases it."""


class Exclusive:
    """The locks of exclusive tools during calls. Its methods wait for the store.

    A call takes the lock if the caller does not hold it. The holder of a lock can call the tool several times at
    once, and the lock is released when the last of these calls has ended. An abandoned call keeps the lock until it
    ends or the lock expires. What could not be released because the store failed is released before the next lock is
    taken.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._gate = threading.Lock()
        self._held: dict[tuple[str, str, str], _Held] = {}
        self._unreleased: list[ToolLock] = []

    def enter(self, org_id: str, tool_id: str, subject: str, timeout: float | None) -> ToolLock:
        """Use the held lock, or take it. Raises `Conflict` (`TOOL_LOCKED`) and `StoreError`."""
        key = org_id, tool_id, subject
        with self._gate:
            unreleased, self._unreleased = self._unreleased, []
            for each in unreleased:
                self._release(each)
            held = self._held.get(key)
            if held is not None and is_held(self._store, held.lock):
                held.calls += 1
                return held.lock
            lock, is_ours = lock_for_call(self._store, org_id, tool_id, subject, timeout)
            self._held[key] = _Held(lock, 1, is_ours)
            return lock

    async def enter_soon(self, org_id: str, tool_id: str, subject: str, timeout: float | None) -> ToolLock:
        """`enter` for an event loop. If the caller is canceled while it waits, the lock is released as soon as
        the thread has acquired it.
        """
        taken: list[ToolLock] = []
        is_canceled = False
        gate = threading.Lock()

        def take() -> ToolLock:
            lock = self.enter(org_id, tool_id, subject, timeout)
            with gate:
                taken.append(lock)
                is_late = is_canceled
            if is_late:
                self.leave(lock)
            return lock

        try:
            return await run_in_store_thread(take)
        except asyncio.CancelledError:
            with gate:
                is_canceled = True
                left = tuple(taken)
            for lock in left:
                threading.Thread(target=self.leave, args=(lock,), daemon=True).start()
            raise

    def leave(self, lock: ToolLock) -> bool:
        """Note that a call has ended. Returns whether the lock was valid to the end."""
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
                    self._release(lock)
            return stands

    def _release(self, lock: ToolLock) -> None:
        try:
            unlock_after_call(self._store, lock)
        except StoreError:
            self._unreleased.append(lock)
        except OrgkernelError:
            pass  # lost in the meantime, so there is nothing to release


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
    is_state_held: bool = False
    """Whether the state is in memory and kept current by another thread, so that decisions never wait."""
    overlaps: bool = False
    """Whether a call that changes nothing runs while the row of its decision is written, and how a call ended is written
    behind its answer. Nothing is answered before the row of the decision is on the disk, in either case.
    """
    unrecorded: Callable[[str], None] | None = None
    """Called for an end that could not be recorded after an answer."""

    @property
    def kernel(self) -> Kernel:
        """The current kernel."""
        return self.permits.kernel

    def view(self, org: str) -> OrgView:
        """The current version of the organization."""
        return self.kernel.organization(org).snapshot.index

    def tool(self, org: str, tool_id: str) -> Tool | None:
        """The declaration of a tool. None if it is not declared."""
        definition = self.view(org).records.tools.get(tool_id)
        return None if definition is None else definition.record

    def find_path_in(self, org: str, tool_id: str, tool_input: Mapping[str, Any]) -> str | None:
        """The path for the decision.

        A path that the caller states outside of the input is ignored, because no tool reads it.

        Where the files of the tool are on this machine, links are followed, and the decision uses their target.
        Arguments that the catalog declares as paths are always checked.
        """
        provider, tool = self.providers.get(tool_id), self.tool(org, tool_id)
        named = None if provider is None else provider.path_from
        declared = (tool.path_arguments or ()) if tool is not None else ()
        value = tool_input.get(named) if named is not None else None
        path = value if isinstance(value, str) else None
        folder = find_files_folder(provider)
        if folder is not None:
            root = self.view(org).records.organization.workspace_root
            arguments = dict.fromkeys((*(() if named is None else (named,)), *declared))
            targets = find_other_targets(tool_input, arguments, folder, root)
            if targets:
                # One resource names one path; two cannot be compared, which no permission for a path covers.
                return targets[0] if len(targets) == 1 else ""
        return path
