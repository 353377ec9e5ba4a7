"""What the audit says about a decision (policies and governance §5.1, §5.3: allow and deny alike)."""

from __future__ import annotations

from orgkernel.decisions.access.decision import AccessDecision
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.state.records import AuditEntry


def decision_entry(org_id: str, request: AccessRequest, decision: AccessDecision, at: float) -> AuditEntry:
    """A row for the audit; the input of a tool is not among it, because it can hold anything."""
    return AuditEntry(
        "decision",
        at,
        decision.outcome,
        subject=request.subject,
        actor=request.on_behalf_of or "",
        action=request.action,
        resource=request.resource,
        code=decision.code,
        org_id=org_id,
        channel=request.context.channel or "",
        session=request.context.session or "",
        level=decision.level_required,
        grants=decision.grants,
        snapshot=decision.snapshot,
        state_version=decision.state_version,
    )
