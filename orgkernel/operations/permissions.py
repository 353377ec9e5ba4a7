"""Grant and restrict permissions, request them and answer requests; and revoke grants and restrictions.

A draft describes the row to write. The limits on its texts apply when a draft is decoded; the store has its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec.structs import replace

from orgkernel.decisions.access.layers.policies import ALL_APPROVERS
from orgkernel.decisions.access.tool_input import digest_input, encode_input
from orgkernel.decisions.evidence.state_records import (
    Approval,
    PermissionRequest,
    RequestKind,
    grant_asked_for,
)
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS, Grant, Restriction, Waiver
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import LEVELS, ToolLevel
from orgkernel.errors import Conflict, Refused, UnknownRecord
from orgkernel.operations.approvals import ApprovalNeed, approve_with_others, find_needs
from orgkernel.operations.authority import require_authority
from orgkernel.operations.call_arguments import CallArgument, describe_arguments
from orgkernel.operations.context import Context
from orgkernel.operations.grantors import find_grantors
from orgkernel.operations.organizations import choose_organization, require_in, require_one
from orgkernel.operations.passing_on import require_may_approve, require_may_give
from orgkernel.operations.resource_parts import split_part
from orgkernel.operations.rights import (
    UNKNOWN_NAME,
    choose_subject,
    find_member,
    list_views,
    open_noted_store,
    require_declared,
)
from orgkernel.operations.widening import Widening, find_narrowing, find_resources, find_widening
from orgkernel.runtime.paths import is_comparable_glob

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel

OTHER_ORGANIZATION, BAD_VALUE, SNAPSHOT_CHANGED = "OTHER_ORGANIZATION", "BAD_VALUE", "SNAPSHOT_CHANGED"
MAX_WORD_LENGTH = 200
ID = "[!-~]{1,150}$"
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_WORD_LENGTH)]
Text = Annotated[str, msgspec.Meta(max_length=4_000)]
Grantee = Annotated[str, msgspec.Meta(pattern=f"^(agent|person|role|system|webhook|relationship|tag):{ID}")]
Requester = Annotated[str, msgspec.Meta(pattern=f"^(agent|person|role|system|webhook):{ID}")]
# A part of a tool can contain spaces and letters of every language.
GrantableResource = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^(credential|data|tool):[!-~]{1,150}$|^tool:[A-Za-z0-9_.*-]{1,200}:[^\x00-\x1f\x7f]{0,1000}$"
    ),
]
Resources = Annotated[tuple[GrantableResource, ...], msgspec.Meta(min_length=1, max_length=100)]
Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
SnapshotDigest = Annotated[str, msgspec.Meta(pattern="^sha256:[0-9a-f]{64}$")]
Many = Annotated[float, msgspec.Meta(ge=1, le=1_000_000, multiple_of=1)]


class GrantTerms(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The permission to grant. The credential determines who grants it."""

    subject: Grantee
    resources: Resources
    level: ToolLevel | None = None
    """The level; by default full, or the level that `action` requires."""
    waives: tuple[Waiver, ...] = ()
    channel: Name | None = None
    session: Name | None = None
    action: Name | None = None
    """The only action that it permits; left out for every action of the level."""
    input_digest: Digest | None = None
    """The SHA-256 of the only input that it permits, as JSON with sorted keys and no spaces."""
    snapshot: SnapshotDigest | None = None
    """The only version of the documents that it applies to: the digest in answers; left out for every version."""
    reason: Text = ""
    expires_at: float | None = None
    """The expiry in seconds since 1970-01-01 UTC."""
    uses: Many | None = None


class GrantDraft(GrantTerms, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A permission to grant, and the organization."""

    org_id: Name | None = None
    """The organization, or `*` for all of them; left out if there is only one."""


class RestrictionTerms(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A ceiling for a subject. The credential determines who sets it."""

    subject: Grantee
    resources: Resources
    level: ToolLevel = "none"
    """The highest level that it allows."""
    reason: Text = ""
    expires_at: float | None = None
    """The expiry in seconds since 1970-01-01 UTC."""


class RestrictionDraft(RestrictionTerms, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A ceiling for a subject, and the organization."""

    org_id: Name | None = None
    """The organization, or `*` for all of them; left out if there is only one."""


class RequestTerms(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The requested permission."""

    requester: Requester | None = None
    """The requesting subject; left out for the credential of an agent, which can request only for that agent."""
    resources: Resources
    kind: RequestKind = "access"
    level: ToolLevel | None = None
    """The level; by default full, or the level that `action` requires."""
    waives: tuple[Waiver, ...] = ()
    channel: Name | None = None
    session: Name | None = None
    action: Name | None = None
    """The only requested action; left out for every action of the level."""
    input_digest: Digest | None = None
    """The SHA-256 of the only input that is requested, as JSON with sorted keys and no spaces."""
    input: dict[str, Any] | None = None
    """The only input that is requested, instead of its digest. Approvers see it until the request ends."""
    snapshot: SnapshotDigest | None = None
    """The only version of the documents that the request is for: the digest in answers; left out for every version."""
    reason: Text = ""
    summary: Text = ""
    original_message: Text = ""
    tool_call_id: Name | None = None


class RequestDraft(RequestTerms, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A requested permission, and the organization."""

    org_id: Name | None = None
    """The organization, or `*` for all of them; left out if there is only one."""


ArgumentsState = Literal["full", "masked", "withheld", "not_kept"]


class RequestInFull(msgspec.Struct, frozen=True, kw_only=True):
    """A request, the access that granting it would add, and the arguments of the call that it is for."""

    request: PermissionRequest
    widens: tuple[Widening, ...]
    grantors: tuple[str, ...]
    """The subjects that could approve it now, the nearest superior first. An operator always can, and is not listed."""
    needs: tuple[ApprovalNeed, ...] = ()
    """The approvals that policies require, and how many of them are missing. Empty if one approval is enough."""
    arguments: tuple[CallArgument, ...] = ()
    arguments_state: ArgumentsState = "not_kept"
    """Whether the arguments are shown in full, masked and cut, withheld from a caller who may not approve, or not kept: because
    the request is not for one call, has ended, or has a very long input."""


class GrantPreview(msgspec.Struct, frozen=True, kw_only=True):
    """What a grant would add, and who could issue it. Nothing is stored."""

    widens: tuple[Widening, ...]
    grantors: tuple[str, ...]
    """The subjects that could issue it now, the nearest superior first. An operator always can, and is not listed."""


class RevocationPreview(msgspec.Struct, frozen=True, kw_only=True):
    """What the subject of a grant would lose without it. Nothing is stored."""

    grant: Grant
    narrows: tuple[Widening, ...]


def issue_grant(context: Context, draft: GrantDraft) -> Grant:
    """Grant a permission. Raises `Refused`."""
    wanted = _build_wanted_grant(context, choose_organization(context, draft.org_id), draft.subject, draft)
    store = open_noted_store(context, require_may_give(context, replace(wanted, expires_at=draft.expires_at)))
    return store.grants.issue(
        wanted.subject, wanted.resources, issued_by=context.actor.name, level=wanted.level, waives=wanted.waives,
        org_id=wanted.org_id, channel=wanted.channel, session=wanted.session, reason=draft.reason,
        expires_at=draft.expires_at, uses=None if draft.uses is None else int(draft.uses), action=wanted.action,
        input_digest=wanted.input_digest, snapshot=wanted.snapshot,
    )  # fmt: skip


def _can_contain_paths(part: str) -> bool:
    """Whether a path can certainly be inside a part, wherever the workspace is."""
    if part.startswith(("~", "!")):
        return False
    return any(is_comparable_glob(part, root) for root in (None, "/0/0", "C:/0/0"))


def revoke_grant(context: Context, grant_id: str, reason: str = "", *, org: str | None = None) -> Grant:
    """Revoke a grant; its history is kept. Raises `UnknownRecord`, and `Conflict` if it is already revoked.

    It needs a right over the holder of the grant, and raises `Refused` without it.
    """
    grant, right = context.store.grants.get(grant_id), None
    require_in(context, org, grant, f"grant {quote(grant_id)}")
    if grant is not None:
        right = require_authority(
            context, grant.subject, f"revoke a grant of {quote(grant.subject)}",
            itself="revoke a grant of itself", org_id=grant.org_id, resources=grant.resources,
        )  # fmt: skip
    store = open_noted_store(context, right)
    return store.grants.revoke(grant_id, actor=context.actor.name, reason=reason)


def _get_grant(context: Context, grant_id: str, org: str | None) -> Grant:
    """A grant of an organization. Raises `UnknownRecord`."""
    grant = context.store.grants.get(grant_id)
    require_in(context, org, grant, f"grant {quote(grant_id)}")
    if grant is None:
        raise UnknownRecord(f"there is no grant {quote(grant_id)}", "`orgkernel grant list --all` shows all")
    return grant


def wake_grant(context: Context, grant_id: str, org: str | None = None, reason: str = "") -> Grant:
    """Wake a sleeping grant, so it applies again. It needs the same right as granting. Raises `Refused`,
    `UnknownRecord` and `Conflict`.

    A grant without an organization is woken for the named or served one.
    """
    grant = _get_grant(context, grant_id, org)
    org_id = grant.org_id
    if org_id == ALL_ORGANIZATIONS or org is not None:
        org_id = choose_organization(context, org)
    if grant.org_id not in (ALL_ORGANIZATIONS, org_id):
        raise Refused(
            f"the grant {quote(grant_id)} belongs to organization {quote(grant.org_id)}",
            "issue another one with `orgkernel grant issue`",
            OTHER_ORGANIZATION,
        )
    store = open_noted_store(context, require_may_give(context, replace(grant, org_id=org_id)))
    require_current(context, org_id, grant.snapshot)
    return store.grants.wake(grant_id, org_id=org_id, actor=context.actor.name, reason=reason)


def issue_restriction(context: Context, draft: RestrictionDraft) -> Restriction:
    """Restrict a subject. Raises `Refused`. Names are checked, because a restriction of a misspelled name would have no
    effect.

    A restriction never allows more, so it needs only a right over the subject.
    """
    org_id = choose_organization(context, draft.org_id)
    if context.kernel is not None:
        require_declared(context.kernel.state, Grant("", draft.subject, draft.resources, org_id=org_id))
    right = require_authority(
        context, draft.subject, f"restrict {quote(draft.subject)}", itself="restrict itself",
        org_id=org_id, resources=draft.resources,
    )  # fmt: skip
    store = open_noted_store(context, right)
    return store.restrictions.issue(
        draft.subject, draft.resources, issued_by=context.actor.name, level=draft.level, org_id=org_id,
        reason=draft.reason, expires_at=draft.expires_at,
    )  # fmt: skip


def lift_restriction(
    context: Context, restriction_id: str, reason: str = "", *, org: str | None = None
) -> Restriction:
    """Lift a restriction; its history is kept. Raises `UnknownRecord`, and `Conflict` if it is lifted already.

    It needs the right to grant the full level, because lifting has that effect. Raises `Refused` without it.
    """
    restriction, right = context.store.restrictions.get(restriction_id), None
    require_in(context, org, restriction, f"restriction {quote(restriction_id)}")
    if restriction is not None and context.actor.member:
        wanted = Grant("", restriction.subject, restriction.resources, "full", org_id=restriction.org_id)
        right = require_may_give(context, wanted, "lift a restriction of itself")
    store = open_noted_store(context, right)
    return store.restrictions.revoke(restriction_id, actor=context.actor.name, reason=reason)


def ask(context: Context, draft: RequestDraft, principals: Sequence[str] = ()) -> PermissionRequest:
    """Request a permission. Raises `Refused`, and `TooManyRequests`. An agent can request only for itself.

    `principals` are those for whom the requester acts. Where policies require several approvals, they give none. An undeclared name cannot be requested, because the request could not be approved.
    """
    draft, tool_input = _bind_input(draft)
    org_id = choose_organization(context, draft.org_id)
    find_member(context.kernel, context.actor, org_id)
    requester = choose_subject(context, draft.requester, "requester", org_id)
    wanted = _build_wanted_grant(context, org_id, requester, draft)
    if context.kernel is not None:
        require_declared(context.kernel.state, wanted)
    return context.store.requests.create(
        wanted.subject, wanted.resources, kind=draft.kind, level=wanted.level, waives=wanted.waives, org_id=wanted.org_id,
        channel=wanted.channel, session=wanted.session, reason=draft.reason, summary=draft.summary,
        original_message=draft.original_message, tool_call_id=draft.tool_call_id,
        context=_get_asker(context, principals), action=wanted.action, input_digest=wanted.input_digest,
        snapshot=wanted.snapshot, tool_input=tool_input,
    )  # fmt: skip


def _bind_input(draft: RequestDraft) -> tuple[RequestDraft, bytes | None]:
    """The draft bound to its input by the digest, and the encoded input. Raises `Refused` if the two do not belong together."""
    if draft.input is None:
        return draft, None
    try:
        tool_input = encode_input(draft.input)
    except ValueError as error:
        raise Refused(
            f"the input is not valid JSON: {error}", "state the arguments as JSON", BAD_VALUE
        ) from None
    digest = digest_input(tool_input)
    if draft.input_digest not in (None, digest):
        raise Refused("`input_digest` is not the digest of `input`", "leave `input_digest` out", BAD_VALUE)
    return replace(draft, input_digest=digest), tool_input


def approve(
    context: Context,
    request_id: str,
    approval: Approval = "once",
    reason: str = "",
    *,
    org: str | None = None,
) -> tuple[PermissionRequest, Grant | None]:
    """Approve a request. Returns the request, and the grant. It needs the same right as granting.

    Where policies require several approvals, there is no grant before the last of them. Raises `Refused`,
    `UnknownRecord`, and `Conflict`: `NOT_PENDING` if it was answered already, `SNAPSHOT_CHANGED` if it is for another
    version of the documents, `ALREADY_APPROVED` if the approver has approved it.
    """
    request = context.store.requests.get(request_id)
    require_in(context, org, request, f"request {quote(request_id)}")
    if request is None:
        return context.store.requests.approve(
            request_id, approval, responder=context.actor.name, reason=reason
        )
    if request.status == "pending":
        require_may_approve(context, request, approval)
        require_current(context, request.org_id or "", request.snapshot)
    return approve_with_others(context, request, approval, reason)


def deny(context: Context, request_id: str, reason: str = "", *, org: str | None = None) -> PermissionRequest:
    """Deny a request. Raises `UnknownRecord`, and `Conflict` (`NOT_PENDING`) if it was answered already.

    It needs a right over the requester, and raises `Refused` without it.
    """
    request, right = context.store.requests.get(request_id), None
    require_in(context, org, request, f"request {quote(request_id)}")
    if request is not None:
        right = require_authority(
            context, request.requester, f"answer a request of {quote(request.requester)}",
            itself="answer its own request", org_id=request.org_id, resources=request.resources,
        )  # fmt: skip
    store = open_noted_store(context, right)
    return store.requests.deny(request_id, responder=context.actor.name, reason=reason)


def describe_request(
    context: Context,
    request_id: str,
    *,
    org: str | None = None,
    arguments: Literal["full", "masked", "withheld"] = "masked",
) -> RequestInFull:
    """A request, the access that granting it would add, if there are documents, and the arguments of its call.

    Raises `UnknownRecord`, and `BadStore` for arguments that cannot be decrypted.
    """
    request = context.store.requests.get(request_id)
    require_in(context, org, request, f"request {quote(request_id)}")
    if request is None:
        raise UnknownRecord(f"there is no request {quote(request_id)}", "`orgkernel request list` shows all")
    wanted = replace(grant_asked_for(request), approved_by=(ALL_APPROVERS,))
    tool_input = context.store.requests.get_input(request_id)
    state: ArgumentsState = "not_kept" if tool_input is None else arguments
    return RequestInFull(
        request=request,
        widens=() if context.kernel is None else find_widening(context.kernel, wanted),
        grantors=() if context.kernel is None else find_grantors(context.kernel, wanted),
        needs=find_needs(context, request),
        arguments=()
        if tool_input is None or arguments == "withheld"
        else describe_arguments(tool_input, full=arguments == "full"),
        arguments_state=state,
    )


def preview_grant(context: Context, draft: GrantDraft) -> GrantPreview:
    """What a grant would add, and who could issue it. Raises `Refused` if it would have no effect on a resource.

    It needs no right, because it is a question: who may issue the grant is part of the answer.
    """
    wanted = _build_wanted_grant(context, choose_organization(context, draft.org_id), draft.subject, draft)
    if context.kernel is None:
        return GrantPreview(widens=(), grantors=())
    wanted = replace(wanted, expires_at=draft.expires_at)
    require_declared(context.kernel.state, wanted)
    return GrantPreview(
        widens=find_widening(context.kernel, wanted), grantors=find_grantors(context.kernel, wanted)
    )


def preview_revocation(context: Context, grant_id: str, *, org: str | None = None) -> RevocationPreview:
    """What the subject of a grant would lose if the grant were revoked now. Raises `UnknownRecord`."""
    grant = _get_grant(context, grant_id, org)
    narrows = () if context.kernel is None else find_narrowing(context.kernel, grant)
    return RevocationPreview(grant=grant, narrows=narrows)


def _build_wanted_grant(
    context: Context, org_id: str, subject: str, draft: GrantDraft | RequestDraft
) -> Grant:
    """The grant that a draft describes. Raises `Refused` if it would have no effect on one of its resources."""
    if draft.level == LEVELS[0]:
        raise Refused(
            f"level {quote(draft.level)} grants nothing",
            f"name a level from {listing(LEVELS[1:])}; to reduce access, use `orgkernel restriction issue`",
            BAD_VALUE,
        )
    for resource in draft.resources:
        part = split_part(resource)[1]
        if part is not None and not _can_contain_paths(part):
            raise Refused(
                f"the part of {quote(resource)} certainly contains no path, so the grant gives nothing",
                "write a path or a glob relative to the workspace, one for each alternative",
                BAD_VALUE,
            )
    require_current(context, org_id, draft.snapshot)
    level = draft.level or "full"
    if draft.action is not None and context.kernel is not None:
        required = [
            _list_required_levels(context.kernel, org_id, each, draft.action) for each in draft.resources
        ]
        level = draft.level or LEVELS[max(map(max, required))]
        needed = LEVELS[max(map(min, required))]
        if LEVELS.index(level) < LEVELS.index(needed):
            raise Refused(
                f"the action {quote(draft.action)} requires level {quote(needed)}, so level {quote(level)} grants nothing",
                f"name level {quote(needed)}, or leave the level out",
                BAD_VALUE,
            )
    return Grant(
        "", subject, draft.resources, level, draft.waives, org_id, draft.channel, draft.session, action=draft.action,
        input_digest=draft.input_digest, snapshot=draft.snapshot,
    )  # fmt: skip


def require_current(context: Context, org_id: str, snapshot: str | None) -> None:
    """Raise `Conflict` (`SNAPSHOT_CHANGED`) for a grant that is for another version of the documents, so it would have
    no effect.
    """
    if snapshot is None:
        return
    require_one(org_id, "a snapshot")
    views = () if context.kernel is None else list_views(context.kernel.state, org_id)
    for view in views:
        if view.digest != snapshot:
            raise Conflict(
                f"{quote(snapshot)} is not the current version of the documents of {quote(org_id)}",
                f"decide again: the documents are at {quote(view.digest)} now, and earlier answers are no longer valid",
                SNAPSHOT_CHANGED,
            )


def _list_required_levels(kernel: Kernel, org_id: str, name: str, action: str) -> list[int]:
    """The levels that an action requires, for each resource that a word matches; level 0 for an undeclared one.

    Raises `Refused` for an action that the resource does not have.
    """
    resources = [each for view in list_views(kernel.state, org_id) for each in find_resources(view, name)]
    required = [each.required[action] for each in resources if action in each.required]
    if resources and not required:
        raise Refused(
            f"{quote(name)} has no action {quote(action)}",
            "`orgkernel what-can SUBJECT` lists actions",
            UNKNOWN_NAME,
        )
    return required or [0]


def _get_asker(context: Context, principals: Sequence[str]) -> dict[str, Any]:
    """The actor that filed the request for the requester, so the same person cannot approve it, and for whom that acts."""
    person = {"person": context.actor.person} if context.actor.person else {}
    acts_for = {"principals": list(principals)} if principals else {}
    return {"credential": context.actor.name, **person, **acts_for}
