"""Passing on: a subject can grant only what it may use itself without asking, not for longer, for more uses, or in other
circumstances.

An operator and an owner can grant everything that is declared. An agent or a role can grant tools that its `may_grant`
names; a person can grant to its subordinates. Each can grant at most what it may use itself, now and without asking,
ignoring its own grants that do not cover the new one: those with a limited number of uses, an earlier expiry, or another
channel, session or part. So a grant with a limited number of uses is never passed on, because several subjects could
use it up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.decide import ask
from orgkernel.decisions.access.evaluation import Assumptions, Evaluation, evaluate
from orgkernel.decisions.access.layers.circumstances import describe_circumstances
from orgkernel.decisions.access.layers.file_scope import is_in_file_scope
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.resource import FULL, LEVEL, Resource
from orgkernel.decisions.access.stored import is_active, replace_stored
from orgkernel.decisions.access.stored_index import find_about, get_root_resource
from orgkernel.decisions.access.subject import Subject
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.state_records import Approval, PermissionRequest, grant_asked_for
from orgkernel.decisions.evidence.state_view import Grant, Restriction, StateView, ToolLock
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import LEVELS
from orgkernel.errors import Refused
from orgkernel.graph.questions import OrgView
from orgkernel.operations.authority import find_grantable_tools, refuse_superior, require_right
from orgkernel.operations.context import OPERATOR, Context
from orgkernel.operations.resource_parts import does_cover, may_overlap, split_part
from orgkernel.operations.rights import (
    MAY_NOT_GRANT,
    SELF_GRANT,
    ActingSubject,
    Right,
    build_outside_refusal,
    does_know_resource,
    find_member,
    list_views,
    refuse_itself,
    require_declared,
)
from orgkernel.runtime.utc import as_utc
from orgkernel.state.requests import GRANTED

if TYPE_CHECKING:
    from orgkernel.kernel.access import OrganizationAccess

_PLAIN = Grant("", "", ())
_COMPARED = {
    "grant_id", "subject", "resources", "level", "waives", "org_id", "channel", "session", "reason", "issued_by", "issued_at",
    "expires_at", "revoked_at", "uses_left", "request_id", "action", "input_digest",
    "snapshot", "approved_by",
}  # fmt: skip
"""The fields of a grant that are compared with the new grant, or that do not limit it."""

_UNBOUND: dict[str, Any] = dict.fromkeys(("channel", "session", "expires_at", "action", "input_digest"))
"""The bonds that are removed from a covering grant, because they have been compared."""


def require_may_give(
    context: Context, new_grant: Grant, itself: str = "give itself a permission"
) -> Right | None:
    """The right to issue a grant; None for an operator.

    `itself` is the act in the message if the actor is the subject. Raises `Refused`: `UNKNOWN_NAME` for an undeclared name,
    `SELF_GRANT`, `NO_AUTHORITY`, and `MAY_NOT_GRANT` for a permission that the actor does not have.
    """
    if context.kernel is not None:
        require_declared(context.kernel.state, new_grant)
    member = find_member(context.kernel, context.actor)
    if member is None:
        return None
    if member.is_owner_of(new_grant.org_id):
        if new_grant.subject == member.subject:
            raise Refused(f"{quote(member.subject)} cannot {itself}", "an owner has everything", SELF_GRANT)
        return member.owner_right
    refuse_itself(context, member, new_grant.subject, itself)
    assert context.kernel is not None
    what = f"give {quote(new_grant.subject)} a permission"
    refuse_superior(context.kernel, member, new_grant.subject, what, new_grant.org_id)
    if new_grant.waives:
        raise build_outside_refusal(member.subject, f"lift {listing(new_grant.waives)}")
    is_crew = any(identity.is_crew for _, identity in member.known)
    for resource in new_grant.resources:
        for view in list_views(context.kernel.state, new_grant.org_id):
            if does_know_resource(view, resource):
                if is_crew:
                    _require_may_grant(view, member, resource, new_grant.level)
                _require_held(context.kernel.access(view.org_id), member, new_grant, resource)
    return require_right(
        context.kernel, member, new_grant.subject, what, new_grant.org_id, new_grant.resources
    )


def require_may_approve(context: Context, request: PermissionRequest, approval: Approval) -> Right | None:
    """The right to approve a request, which is the right to grant it. Raises as `require_may_give`.

    An actor cannot approve its own request under another identity: neither the person who runs the requesting agent nor the
    credential that filed the request can.
    """
    now, holds = context.store.context.clock(), GRANTED.get(approval)
    wanted = replace(grant_asked_for(request), expires_at=None if holds is None else now + holds)
    right = require_may_give(context, wanted)
    request_context, actor = request.context or {}, context.actor
    is_same = request_context.get("credential") == actor.name or (
        "person" in request_context and request_context["person"] in (actor.member, actor.person)
    )
    is_trusted = actor.name == OPERATOR or (right is not None and right.kind == "owner")
    if is_same and not is_trusted:
        raise Refused(
            f"{quote(actor.name)} asked for this itself, and cannot approve it",
            "another subject has to answer the request",
            SELF_GRANT,
        )
    return right


def _require_may_grant(view: OrgView, member: ActingSubject, resource: str, level: str) -> None:
    """Raise `Refused` (`MAY_NOT_GRANT`) if no role of the grantor may grant the tool at that level."""
    kind, _, tool = get_root_resource(resource).partition(":")
    edge = find_grantable_tools(view, member).get(tool) if kind == "tool" else None
    if edge is None:
        raise Refused(
            f"{quote(member.subject)} may not grant {quote(resource)}",
            "name the tool in `may_grant` of its role, or let the owner or an operator grant it",
            MAY_NOT_GRANT,
        )
    if LEVEL[level] > LEVEL[edge.attribute]:
        raise Refused(
            f"{quote(member.subject)} may not grant {quote(resource)} at level {quote(level)}",
            f"it may grant level {quote(edge.attribute)}: {edge} at {edge.place.file}:{edge.place.line}",
            MAY_NOT_GRANT,
        )


def _require_held(
    org_access: OrganizationAccess, member: ActingSubject, new_grant: Grant, resource: str
) -> None:
    """Raise `Refused` (`MAY_NOT_GRANT`) if the grantor itself is not allowed what the grant gives."""
    tables = get_access_tables(org_access.view)
    giver = tables.find_subject(member.subject)
    whole, part = split_part(resource)
    target, _ = tables.find(whole)
    shown = quote(resource)
    if (
        giver is None or target.unknown
    ):  # a pattern such as `tool:name*`, or a grantor of another organization
        raise Refused(
            f"{quote(member.subject)} may not grant {shown} in {quote(org_access.view.org_id)}",
            "name every tool and the organization, or let the owner or an operator grant it",
            MAY_NOT_GRANT,
        )
    held = _select_held(org_access, giver, new_grant, part, target)
    context = replace(
        org_access.build_current_context(), channel=new_grant.channel, session=new_grant.session
    )
    needed = (
        LEVEL[new_grant.level]
        if target.kind == "tool"
        else min(LEVEL[new_grant.level], *target.required.values())
    )
    for action in _list_actions_at(target, needed) if new_grant.action is None else (new_grant.action,):
        request = AccessRequest(member.subject, action, whole, context)
        evaluation = evaluate(_ask_part(tables, request, held, part))
        asks = evaluation.outcome == "ask" or _does_ask_anywhere(_ask_part(tables, request, held, part))
        where = _describe_escape(
            evaluation, tables.find_subject(new_grant.subject), replace(new_grant, resources=(whole,))
        )
        holds = (
            evaluation.outcome in ("allow", "conditional")
            and min(evaluation.granted, evaluation.ceiling) >= needed
        )
        if holds and not asks and not where:
            continue
        help = f"`orgkernel why {member.subject} {action} {whole}` shows what denies it"
        has, cannot = f"{quote(member.subject)} has {shown}", f"and cannot grant {quote(new_grant.level)}"
        if short := _explain_short_grants(org_access, giver, new_grant, part, target):
            text = f"{has} through {short}, {cannot} beyond that"
            help = "give no more than that grant, or let the owner or an operator grant it"
        elif asks:
            text = f"{quote(member.subject)} needs an approval to use {shown} itself, so it cannot grant it"
        elif holds:
            text = f"{quote(member.subject)} may not use {shown} itself if {where}, so it cannot grant it"
        else:
            text = f"{has} at level {quote(LEVELS[evaluation.left])} itself, {cannot}"
        raise Refused(text, help, MAY_NOT_GRANT)


def _ask_part(
    tables: AccessTables, request: AccessRequest, held_state: StateView, part: str | None
) -> Evaluation:
    """The evaluation for the grantor itself. A file scope that contains the part is not a failure."""
    evaluation = ask(tables, request, held_state)
    evaluation.required = evaluation.resource.required.get(request.action, FULL)
    if part is not None and is_in_file_scope(evaluation, part):
        evaluation.assumed = Assumptions(in_file_scope=True)
    return evaluation


def _list_actions_at(target: Resource, level: int) -> tuple[str, ...]:
    """The actions that a level permits; if it permits none, the action that requires the lowest level."""
    given = tuple(action for action in target.actions if target.required[action] <= level)
    return given or (target.least_action,)


def _describe_escape(evaluation: Evaluation, receiver: Subject | None, given: Grant) -> str:
    """The circumstances in which the grantor is limited and the receiver would not be, in words; empty if there are
    none.

    A policy for all subjects, such as one for groups, also limits the receiver. A policy about only the grantor
    does not.
    """
    for each in evaluation.unstated:
        there = each.evaluation
        bound = 0
        if receiver is not None:
            request = replace(there.request, subject=receiver.subject)
            assumed = (there.assumed or Assumptions())._replace(grants=(given,))
            received = Evaluation(
                evaluation.tables,
                evaluation.state,
                request,
                evaluation.action,
                receiver,
                evaluation.resource,
                None,
                assumed,
            )
            received.treats_unstated_as_unmet = True
            bound = evaluate(received).failing
        if there.failing & ~bound:
            return describe_circumstances(each.needed)
    return ""


def _does_ask_anywhere(evaluation: Evaluation) -> bool:
    """Whether the grantor has to ask in some circumstances, because a grant applies in all of them."""
    order = evaluation.tables.order
    evaluation.treats_unstated_as_unmet = True
    for layer in order.depending:
        layer.suppose(evaluation, False)
    return bool(evaluate(evaluation).failing & order.asking)


# -- permissions of the grantor ----------------------------------------------------------------------------------------


def _select_held(
    org_access: OrganizationAccess, giver: Subject, new_grant: Grant, part: str | None, target: Resource
) -> StateView:
    """The state with the grantor's rows about the resource, without grants that do not cover the new one.

    The remaining rows are widened to the whole resource, so the check for the part can be made on the whole.
    """
    state, root = org_access.state, org_access.view.records.organization.workspace_root
    now = org_access.build_current_context().now
    grants = {
        key: tuple(
            replace(each, **_UNBOUND, resources=resources)
            for about in find_about(state.grants, (key,), target)
            for each in about.rows
            if is_active(each, org_access.view.org_id, now)
            and not _explain_shortfall(each, new_grant)
            and (resources := _find_covering_resources(each, part, root))
        )
        for key in giver.keys
    }
    restrictions = {
        key: tuple(
            replace(each, resources=tuple(map(get_root_resource, each.resources)))
            for about in find_about(state.restrictions, (key,), target)
            for each in (_narrow_restriction(row, part, root) for row in about.rows)
            if each.resources
        )
        for key in giver.keys
    }
    return _add_lock(replace_stored(state, grants, restrictions), org_access.view.org_id, target, giver)


def _add_lock(state: StateView, org_id: str, target: Resource, giver: Subject) -> StateView:
    """The state in which the grantor holds the lock of an exclusive tool, because a lock is not part of a grant."""
    if not target.exclusive:
        return state
    return replace(
        state, locks={**state.locks, target.id: ToolLock(org_id, target.id, giver.subject, 0, 0.0)}
    )


def _explain_shortfall(grant: Grant, new_grant: Grant) -> str:
    """The respect in which a grant does not cover the new one, in words; empty if it does."""
    ends = grant.expires_at
    if grant.uses_left is not None:
        return "is for a number of uses"
    if ends is not None and (new_grant.expires_at is None or new_grant.expires_at > ends):
        return f"ends at {as_utc(ends)}"
    for field in ("channel", "session"):
        only = getattr(grant, field)
        if only is not None and only != getattr(new_grant, field):
            return f"is valid only in the {field} {quote(only)}"
    if grant.action is not None and grant.action != new_grant.action:
        return f"is only for the action {quote(grant.action)}"
    if grant.input_digest is not None and grant.input_digest != new_grant.input_digest:
        return "is only for one input"
    if grant.snapshot is not None and grant.snapshot != new_grant.snapshot:
        return "is only for one version of the documents"
    for field in (
        grant.__struct_fields__
    ):  # INVARIANT: a grant with a bond that is not compared here is not passed on.
        if field not in _COMPARED and getattr(grant, field) != getattr(_PLAIN, field):
            return f"is bound by its {quote(field)}"
    return ""


def _find_covering_resources(grant: Grant, part: str | None, root: str | None) -> tuple[str, ...]:
    """The resources of a grant that cover a part, each widened to the whole."""
    split = map(split_part, grant.resources)
    return tuple(whole for whole, held in split if held is None or does_cover(held, part, root))


def _narrow_restriction(restriction: Restriction, part: str | None, root: str | None) -> Restriction:
    """A restriction with the resources that could overlap with a part."""
    reaching = (each for each in restriction.resources if may_overlap(split_part(each)[1], part, root))
    return replace(restriction, resources=tuple(reaching))


def _explain_short_grants(
    org_access: OrganizationAccess, giver: Subject, new_grant: Grant, part: str | None, target: Resource
) -> str:
    """The grants of the grantor about the resource that do not cover the new one, in words."""
    shortfalls: list[str] = []
    root = org_access.view.records.organization.workspace_root
    now, org_id = org_access.build_current_context().now, org_access.view.org_id
    for grant in (
        row for about in find_about(org_access.state.grants, giver.keys, target) for row in about.rows
    ):
        if is_active(grant, org_id, now) and target.resource in map(get_root_resource, grant.resources):
            lacking = _explain_shortfall(grant, new_grant) or (
                "" if _find_covering_resources(grant, part, root) else "is for a part of it"
            )
            if lacking:
                shortfalls.append(f"the grant {quote(grant.grant_id)}, which {lacking}")
    return " and ".join(shortfalls)
