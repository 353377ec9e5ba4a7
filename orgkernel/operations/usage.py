"""Note what the toolbox has called: how each call ended, and the gaps that were reported to the top."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from orgkernel.decisions.state_records import AuditEntry

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

_AGENT = "agent:"


def record_use(
    store: Store, org_id: str, subject: str, tool_id: str, action: str, *, code: str, seconds: float, decision: str
) -> None:  # fmt: skip
    """Note a call and how it ended, once that is on the disk; raises `StoreError`.

    Uses are counted for agents; of a role or a person there is the row of the audit alone.
    """
    if subject.startswith(_AGENT):
        ticket = store.usage.record(
            subject.removeprefix(_AGENT), tool_id, action=action, ok=not code, code=code, seconds=seconds,
            org_id=org_id, decision=decision,
        )  # fmt: skip
    else:
        ticket = store.audit.submit(
            AuditEntry(
                "usage", time.time(), "failed" if code else "succeeded", subject=subject, action=action,
                resource=f"tool:{tool_id}", code=code, org_id=org_id, record_id=decision, seconds=seconds,
            )
        )  # fmt: skip
    ticket.result()


def record_gap(
    store: Store, org_id: str, subject: str, tool_id: str, action: str, *, top: str, code: str, text: str
) -> str:
    """Note that nobody could do what a tool was needed for; the name of the audit row. Raises `StoreError`."""
    return store.audit.write(
        AuditEntry(
            "usage", time.time(), "reported", subject=subject, actor=top, action=action, resource=f"tool:{tool_id}",
            code=code, org_id=org_id, reason=text,
        )
    )  # fmt: skip
