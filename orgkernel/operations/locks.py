"""Acquire, release and break the locks of exclusive tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.evidence.state_view import ToolLock
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import OrgkernelError, Refused
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.authority import require_authority
from orgkernel.operations.context import Context
from orgkernel.operations.decisions import decide_and_wait
from orgkernel.operations.rights import UNKNOWN_NAME, choose_subject, open_noted_store

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

MAY_NOT_LOCK = "MAY_NOT_LOCK"
_FOR_A_CALL = "a call"
_IN_OTHER_HANDS = ("LOCKED",)
"""The code of a lock held by another subject. If it is the only failure, the store decides, because it knows the
current holder.
"""


def acquire_lock(
    context: Context,
    org: str,
    tool: str,
    holder: str | None = None,
    circumstances: AccessRequest = AccessRequest("", "lock", ""),  # noqa: B008  (frozen)
    *,
    seconds: float | None = None,
    reason: str = "",
) -> ToolLock:
    """Acquire an exclusive tool, if its holder may. The decision is made and recorded like a use of the tool.

    Each lock of a tool has a higher token than the one before. Raises `Refused`, and `Conflict` (`TOOL_LOCKED`).
    """
    kernel = context.documents
    org_id, most = _require_exclusive(kernel, org, tool)
    holder = choose_subject(context, holder, "holder", org_id)
    request = msgspec.structs.replace(circumstances, subject=holder, action="lock", resource=f"tool:{tool}")
    decision, reasons, _ = decide_and_wait(kernel, context.store, org_id, request, context.actor)
    if decision.outcome != "allow" and decision.codes != _IN_OTHER_HANDS:
        reasons_text = "; ".join(f"{each.code}: {each.text}" for each in reasons)
        raise Refused(f"{quote(holder)} may not lock {quote(tool)}", reasons_text, MAY_NOT_LOCK)
    lasts = min((each for each in (seconds, most) if each is not None), default=None)
    return context.store.locks.acquire(org_id, tool, holder, timeout=lasts, reason=reason)


def release_lock(context: Context, org: str, tool: str, token: int, holder: str | None = None) -> ToolLock:
    """Release a tool by the token of its lock. Raises `Conflict` (`STALE_TOKEN`) if that lock is no longer held."""
    org_id = _get_org_id(context, org)
    holder = choose_subject(context, holder, "holder", org_id)
    return context.store.locks.release(org_id, tool, holder, token)


def break_lock(context: Context, org: str, tool: str, reason: str = "") -> ToolLock:
    """Break the lock of a tool, so its token becomes stale. Raises `UnknownRecord` if the tool is not locked.

    It needs a right over the holder; raises `Refused`, and `Conflict` if another subject has acquired the tool in the meantime.
    """
    org_id = _get_org_id(context, org)
    lock = next((each for each in context.store.locks.list(org_id) if each.tool_id == tool), None)
    right, token = None, None
    if lock is not None and context.actor.member:
        what = f"break the lock of {quote(lock.holder)}"
        right = require_authority(context, lock.holder, what, itself="break its own lock", org_id=org_id)
        token = lock.token
    store = open_noted_store(context, right)
    return store.locks.break_(org_id, tool, actor=context.actor.name, reason=reason, token=token)


def lock_for_call(
    store: Store, org_id: str, tool_id: str, holder: str, timeout: float | None
) -> tuple[ToolLock, bool]:
    """The lock for a call, and whether it was acquired for the call. The call itself is decided afterwards.

    Raises `Conflict` (`TOOL_LOCKED`) if another subject holds the tool, or another process acquired it for a call of the
    same holder, which would release it in the middle of this call.
    """
    lock = next((each for each in store.locks.list(org_id) if each.tool_id == tool_id), None)
    if lock is not None and lock.holder == holder and lock.reason != _FOR_A_CALL:
        return lock, False
    taken = store.locks.acquire(org_id, tool_id, holder, timeout=timeout, reason=_FOR_A_CALL, only_free=True)
    return taken, True


def unlock_after_call(store: Store, lock: ToolLock) -> None:
    """Release the lock of a call. Raises `Conflict` if it was lost in the meantime."""
    store.locks.release(lock.org_id, lock.tool_id, lock.holder, lock.token)


def is_held(store: Store, lock: ToolLock) -> bool:
    """Whether a lock is still held; False also if the store cannot tell."""
    try:
        store.locks.check(lock.org_id, lock.tool_id, lock.holder, lock.token)
    except OrgkernelError:
        return False
    return True


def _get_org_id(context: Context, org: str) -> str:
    return org if context.kernel is None else context.kernel.organization(org).snapshot.org_id


def _require_exclusive(kernel: Kernel, org: str, tool: str) -> tuple[str, float | None]:
    """The organization, and the longest time for which the tool can be held. Raises `Refused` for a tool that needs no lock."""
    snapshot = kernel.organization(org).snapshot
    tools = snapshot.index.records.tools
    exclusive = [each for each in tools if tools[each].record.concurrency == "exclusive"]
    if tool not in exclusive:
        what = "needs no lock" if tool in tools else "is not declared"
        help = did_you_mean(tool, exclusive) or (
            f"exclusive tools are {listing(exclusive)}" if exclusive else "no tool is exclusive"
        )
        raise Refused(f"the tool {quote(tool)} {what}", help, UNKNOWN_NAME)
    return snapshot.org_id, tools[tool].record.lock_timeout_seconds
