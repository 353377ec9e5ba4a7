"""Give a permission in addition to roles and policies, and take it back."""

from __future__ import annotations

from orgkernel.decisions.state_view import Grant
from orgkernel.operations.context import Context
from orgkernel.operations.drafts import GrantDraft
from orgkernel.operations.rights import require_may_give


def issue_grant(context: Context, draft: GrantDraft) -> Grant:
    """Give a permission; raises `Refused`."""
    require_may_give(
        context, Grant("", draft.subject, draft.resources, draft.level, draft.waives, draft.org_id)
    )
    return context.store.grants.issue(
        draft.subject, draft.resources, issued_by=context.actor.name, level=draft.level, waives=draft.waives,
        org_id=draft.org_id, channel=draft.channel, session=draft.session, reason=draft.reason,
        expires_at=draft.expires_at, uses=None if draft.uses is None else int(draft.uses),
    )  # fmt: skip


def revoke_grant(context: Context, grant_id: str, reason: str = "") -> Grant:
    """Take a grant back; its history stays. Raises `UnknownRecord`, and `Conflict` when it is revoked already."""
    return context.store.grants.revoke(grant_id, actor=context.actor.name, reason=reason)
