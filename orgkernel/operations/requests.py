"""Ask for a permission, and answer: yes once, for a day or for good; or no."""

from __future__ import annotations

from orgkernel.decisions.state_records import AccessRequest, Approval
from orgkernel.decisions.state_view import Grant
from orgkernel.operations.context import Context
from orgkernel.operations.drafts import RequestDraft
from orgkernel.operations.rights import require_declared, require_may_give


def ask(context: Context, draft: RequestDraft) -> AccessRequest:
    """Ask for a permission; raises `Refused`, and `TooManyRequests`. An agent can ask only for itself.

    What no document declares cannot be asked for, because nobody could approve it.
    """
    requester = context.actor.speaks_for(draft.requester, "requester")
    if context.kernel is not None:
        wanted = Grant("", requester, draft.resources, draft.level, draft.waives, draft.org_id)
        require_declared(context.kernel.state, wanted)
    return context.store.requests.create(
        requester, draft.resources, kind=draft.kind, level=draft.level, waives=draft.waives, org_id=draft.org_id,
        channel=draft.channel, session=draft.session, reason=draft.reason, summary=draft.summary,
        original_message=draft.original_message, tool_call_id=draft.tool_call_id,
        context={"credential": context.actor.name},
    )  # fmt: skip


def approve(
    context: Context, request_id: str, approval: Approval = "once", reason: str = ""
) -> tuple[AccessRequest, Grant]:
    """Say yes; returns the request and the grant. Approving is granting, so it needs the same right.

    Raises `Refused`, `UnknownRecord`, and `Conflict` (`NOT_PENDING`) when it was answered already.
    """
    asked = context.store.requests.get(request_id)
    if asked is not None:
        wanted = Grant("", asked.requester, asked.resources, asked.level, asked.waives, asked.org_id)
        require_may_give(context, wanted)
    return context.store.requests.approve(request_id, approval, responder=context.actor.name, reason=reason)


def deny(context: Context, request_id: str, reason: str = "") -> AccessRequest:
    """Say no; raises `UnknownRecord`, and `Conflict` (`NOT_PENDING`) when it was answered already."""
    return context.store.requests.deny(request_id, responder=context.actor.name, reason=reason)
