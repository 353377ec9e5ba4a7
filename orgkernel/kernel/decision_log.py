"""A decision as it is written into the audit (policies and governance §5.1)."""

from __future__ import annotations

from orgkernel.decisions.access.decision import AccessDecision
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.tables import tables_of
from orgkernel.graph.questions import OrgView
from orgkernel.state.records import AuditEntry


def build_entry(
    view: OrgView,
    request: AccessRequest,
    decision: AccessDecision,
    *,
    at: float,
    actor: str = "",
    seconds: float | None = None,
) -> AuditEntry:
    """What was asked and answered; `actor` is the credential of whoever asked."""
    context = request.context
    subject = tables_of(view).subject(request.subject)
    relationship = ""
    matched: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    if subject is None or subject.identity.kind == "unknown":
        relationship = "unknown"
    elif subject.identity.relationship is not None:
        relationship = subject.identity.relationship
    if subject is not None and subject.policies:
        matched = tuple(policy.id for policy in subject.matching(context))
        denied = tuple(policy.id for policy in subject.policy_set(context).policies if policy.denies)
    is_sender = request.subject.startswith("sender:")
    return AuditEntry(
        "decision",
        at,
        decision.outcome,
        subject=subject.subject if subject is not None else request.subject,
        actor=actor,
        action=request.action,
        resource=request.resource,
        code=decision.code,
        org_id=view.org_id,
        relationship=relationship,
        channel=context.channel or "",
        sender=request.subject.partition(":")[2] if is_sender else "",
        session=context.session or "",
        level=decision.level_effective,
        grants=decision.grants,
        policies_matched=matched,
        policies_denied=denied,
        snapshot=decision.snapshot,
        state_version=decision.state_version,
        seconds=seconds,
    )
