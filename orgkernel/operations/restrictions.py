"""Leave somebody less than roles, policies and grants give, and lift that again."""

from __future__ import annotations

from orgkernel.decisions.state_view import Grant, Restriction
from orgkernel.operations.context import Context
from orgkernel.operations.drafts import RestrictionDraft
from orgkernel.operations.rights import require_may_give


def issue_restriction(context: Context, draft: RestrictionDraft) -> Restriction:
    """Restrict somebody; raises `Refused`. Names are checked: a misspelled one would restrict nobody, unnoticed.

    An agent or a role can restrict only what it may grant, and only others.
    """
    require_may_give(
        context, Grant("", draft.subject, draft.resources, "observe", org_id=draft.org_id), "restrict itself"
    )
    return context.store.restrictions.issue(
        draft.subject, draft.resources, issued_by=context.actor.name, level=draft.level, org_id=draft.org_id,
        reason=draft.reason, expires_at=draft.expires_at,
    )  # fmt: skip


def lift_restriction(context: Context, restriction_id: str, reason: str = "") -> Restriction:
    """Lift a restriction; its history stays. Raises `UnknownRecord`, and `Conflict` when it is lifted already.

    An agent or a role needs the right to grant the full level, because that is what lifting does.
    """
    found = context.store.restrictions.get(restriction_id) if context.actor.member else None
    if found is not None:
        require_may_give(
            context,
            Grant("", found.subject, found.resources, "full", org_id=found.org_id),
            "lift a restriction of itself",
        )
    return context.store.restrictions.revoke(restriction_id, actor=context.actor.name, reason=reason)
