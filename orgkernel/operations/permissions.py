"""Grant a permission, restrict one, or ask for one and answer; and take back what was granted or restricted.

A draft is what is to be written. The bounds on its texts are for whoever decodes a draft; the store has its own.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from orgkernel.decisions.state_records import Approval, PermissionRequest, RequestKind
from orgkernel.decisions.state_view import Grant, Restriction, Waiver
from orgkernel.diagnostics.wording import quote
from orgkernel.operations.authority import require_authority
from orgkernel.operations.context import Context
from orgkernel.operations.passing_on import require_may_approve, require_may_give
from orgkernel.operations.rights import find_member, noted_in, require_declared, speaks_for
from orgkernel.records.levels import ToolLevel

LONGEST_WORD = 200
ID = "[!-~]{1,150}$"
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_WORD)]
Text = Annotated[str, msgspec.Meta(max_length=4_000)]
Grantee = Annotated[str, msgspec.Meta(pattern=f"^(agent|person|role|system|webhook|relationship|tag):{ID}")]
Requester = Annotated[str, msgspec.Meta(pattern=f"^(agent|person|role|system|webhook):{ID}")]
GrantableResource = Annotated[str, msgspec.Meta(pattern=f"^(tool|credential|data):{ID}")]
Resources = Annotated[tuple[GrantableResource, ...], msgspec.Meta(min_length=1, max_length=100)]
Many = Annotated[float, msgspec.Meta(ge=1, le=1_000_000, multiple_of=1)]


class GrantDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A permission to be given. Who gives it is said by the credential."""

    subject: Grantee
    resources: Resources
    level: ToolLevel = "full"
    waives: tuple[Waiver, ...] = ()
    org_id: Name | None = None
    channel: Name | None = None
    session: Name | None = None
    reason: Text = ""
    expires_at: float | None = None
    """Seconds since 1970-01-01 UTC."""
    uses: Many | None = None


class RestrictionDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The most somebody is left of something. Who says so is said by the credential."""

    subject: Grantee
    resources: Resources
    level: ToolLevel = "none"
    """The most that is left."""
    org_id: Name | None = None
    reason: Text = ""
    expires_at: float | None = None
    """Seconds since 1970-01-01 UTC."""


class RequestDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A permission that is asked for."""

    requester: Requester | None = None
    """Left out by the credential of an agent, which asks for that agent and for nobody else."""
    resources: Resources
    kind: RequestKind = "access"
    level: ToolLevel = "full"
    waives: tuple[Waiver, ...] = ()
    org_id: Name | None = None
    channel: Name | None = None
    session: Name | None = None
    reason: Text = ""
    summary: Text = ""
    original_message: Text = ""
    tool_call_id: Name | None = None


def issue_grant(context: Context, draft: GrantDraft) -> Grant:
    """Give a permission; raises `Refused`."""
    wanted = Grant(
        "", draft.subject, draft.resources, draft.level, draft.waives, draft.org_id, draft.channel, draft.session,
        expires_at=draft.expires_at,
    )  # fmt: skip
    store = noted_in(context, require_may_give(context, wanted))
    return store.grants.issue(
        draft.subject, draft.resources, issued_by=context.actor.name, level=draft.level, waives=draft.waives,
        org_id=draft.org_id, channel=draft.channel, session=draft.session, reason=draft.reason,
        expires_at=draft.expires_at, uses=None if draft.uses is None else int(draft.uses),
    )  # fmt: skip


def revoke_grant(context: Context, grant_id: str, reason: str = "") -> Grant:
    """Take a grant back; its history stays. Raises `UnknownRecord`, and `Conflict` when it is revoked already.

    It needs a right over whoever holds the grant; raises `Refused`.
    """
    found, right = context.store.grants.get(grant_id), None
    if found is not None:
        right = require_authority(
            context, found.subject, f"revoke a grant of {quote(found.subject)}",
            itself="revoke a grant of itself", org_id=found.org_id, resources=found.resources,
        )  # fmt: skip
    store = noted_in(context, right)
    return store.grants.revoke(grant_id, actor=context.actor.name, reason=reason)


def issue_restriction(context: Context, draft: RestrictionDraft) -> Restriction:
    """Restrict somebody; raises `Refused`. Names are checked: a misspelled one would restrict nobody, unnoticed.

    It opens nothing, so that it needs a right over the subject and no more.
    """
    if context.kernel is not None:
        require_declared(context.kernel.state, Grant("", draft.subject, draft.resources, org_id=draft.org_id))
    right = require_authority(
        context, draft.subject, f"restrict {quote(draft.subject)}", itself="restrict itself",
        org_id=draft.org_id, resources=draft.resources,
    )  # fmt: skip
    store = noted_in(context, right)
    return store.restrictions.issue(
        draft.subject, draft.resources, issued_by=context.actor.name, level=draft.level, org_id=draft.org_id,
        reason=draft.reason, expires_at=draft.expires_at,
    )  # fmt: skip


def lift_restriction(context: Context, restriction_id: str, reason: str = "") -> Restriction:
    """Lift a restriction; its history stays. Raises `UnknownRecord`, and `Conflict` when it is lifted already.

    It needs the right to grant the full level, because that is what lifting does; raises `Refused`.
    """
    found = context.store.restrictions.get(restriction_id) if context.actor.member else None
    right = None
    if found is not None:
        wanted = Grant("", found.subject, found.resources, "full", org_id=found.org_id)
        right = require_may_give(context, wanted, "lift a restriction of itself")
    store = noted_in(context, right)
    return store.restrictions.revoke(restriction_id, actor=context.actor.name, reason=reason)


def ask(context: Context, draft: RequestDraft) -> PermissionRequest:
    """Ask for a permission; raises `Refused`, and `TooManyRequests`. An agent can ask only for itself.

    What no document declares cannot be asked for, because nobody could approve it.
    """
    find_member(context.kernel, context.actor)
    requester = speaks_for(context, draft.requester, "requester")
    if context.kernel is not None:
        wanted = Grant("", requester, draft.resources, draft.level, draft.waives, draft.org_id)
        require_declared(context.kernel.state, wanted)
    return context.store.requests.create(
        requester, draft.resources, kind=draft.kind, level=draft.level, waives=draft.waives, org_id=draft.org_id,
        channel=draft.channel, session=draft.session, reason=draft.reason, summary=draft.summary,
        original_message=draft.original_message, tool_call_id=draft.tool_call_id,
        context=_asked_by(context),
    )  # fmt: skip


def approve(
    context: Context, request_id: str, approval: Approval = "once", reason: str = ""
) -> tuple[PermissionRequest, Grant]:
    """Say yes; returns the request and the grant. Approving is granting, so it needs the same right.

    Raises `Refused`, `UnknownRecord`, and `Conflict` (`NOT_PENDING`) when it was answered already.
    """
    asked = context.store.requests.get(request_id)
    right = None if asked is None else require_may_approve(context, asked, approval)
    store = noted_in(context, right)
    return store.requests.approve(request_id, approval, responder=context.actor.name, reason=reason)


def deny(context: Context, request_id: str, reason: str = "") -> PermissionRequest:
    """Say no; raises `UnknownRecord`, and `Conflict` (`NOT_PENDING`) when it was answered already.

    It needs a right over whoever asked; raises `Refused`.
    """
    asked, right = context.store.requests.get(request_id), None
    if asked is not None:
        right = require_authority(
            context, asked.requester, f"answer a request of {quote(asked.requester)}",
            itself="answer its own request", org_id=asked.org_id, resources=asked.resources,
        )  # fmt: skip
    store = noted_in(context, right)
    return store.requests.deny(request_id, responder=context.actor.name, reason=reason)


def _asked_by(context: Context) -> dict[str, str]:
    """Who asked in the name of the requester, so that the same person does not answer."""
    person = {"person": context.actor.person} if context.actor.person else {}
    return {"credential": context.actor.name, **person}
