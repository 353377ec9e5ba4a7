"""What is remembered of calls: how each ended, and the gaps that were reported to the top."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from orgkernel.errors import OrgkernelError
from orgkernel.state.records import AuditEntry
from orgkernel.toolbox.calling import in_thread

if TYPE_CHECKING:
    from orgkernel.state.ports import State

AGENT = "agent:"


async def record_use(
    store: State | None, org_id: str, subject: str, tool_id: str, action: str, *, code: str, seconds: float,
    decision: str,
) -> str:  # fmt: skip
    """Note a call and how it ended; why that could not be written, where it could not: the tool has run all the same.

    Uses are counted for agents; of a role or a person there is the row of the audit alone.
    """
    if store is None:
        return ""
    try:
        if subject.startswith(AGENT):
            ticket = store.usage.record(
                subject.removeprefix(AGENT), tool_id, action=action, ok=not code, code=code, seconds=seconds,
                org_id=org_id, decision=decision,
            )  # fmt: skip
        else:
            activity = "failed" if code else "succeeded"
            ticket = store.audit.submit(
                AuditEntry(
                    "usage", time.time(), activity, subject=subject, action=action, resource=f"tool:{tool_id}",
                    code=code, org_id=org_id, record_id=decision, seconds=seconds,
                )
            )  # fmt: skip
        await in_thread(ticket.result)
    except OrgkernelError as error:
        return error.message
    return ""


async def record_gap(
    store: State, org_id: str, subject: str, tool_id: str, action: str, *, top: str, code: str, text: str
) -> str:
    """Note that nobody could do what a tool was needed for; the name of the audit row. Raises `StoreError`."""
    entry = AuditEntry(
        "usage", time.time(), "reported", subject=subject, actor=top, action=action, resource=f"tool:{tool_id}",
        code=code, org_id=org_id, reason=text,
    )  # fmt: skip
    name: str = await in_thread(store.audit.write, entry)
    return name
