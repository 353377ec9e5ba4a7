"""Passing on: nobody gives more than they hold without asking, for longer, for more uses, or in other circumstances.

An operator and an owner give what is declared. An agent or a role gives tools that its `may_grant` names; a person gives to
those it commands. Each gives at most what it is allowed itself, now and without asking, by what is left when every stored
grant is taken away that does not cover what is given: one for a number of uses, one that ends earlier, one for another
channel, session or part. So a grant for a number of uses is never passed on: several could use up what was given once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.decide import ask
from orgkernel.decisions.access.evaluation import Assumed, Evaluation, evaluate
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
    "snapshot",
}  # fmt: skip
"""The fields of a grant that bind nobody, or that are compared with what is given."""

_UNBOUND: dict[str, Any] = dict.fromkeys(("channel", "session", "expires_at", "action", "input_digest"))
"""What a grant that covers what is given is asked about without: it has been compared."""


def require_may_give(
    context: Context, wanted: Grant, itself: str = "give itself a permission"
) -> Right | None:
    """The right to give what a grant would give; None for an operator.

    `itself` is what the message says the actor cannot do for itself. Raises `Refused`: `UNKNOWN_NAME` for what nothing
    declares, `SELF_GRANT`, `NO_AUTHORITY`, and `MAY_NOT_GRANT` for what the actor does not hold.
    """
    if context.kernel is not None:
        require_declared(context.kernel.state, wanted)
    member = find_member(context.kernel, context.actor)
    if member is None:
        return None
    if member.is_owner_of(wanted.org_id):
        if wanted.subject == member.subject:
            raise Refused(f"{quote(member.subject)} cannot {itself}", "an owner has everything", SELF_GRANT)
        return member.owner_right
    refuse_itself(context, member, wanted.subject, itself)
    assert context.kernel is not None
    what = f"give {quote(wanted.subject)} a permission"
    refuse_superior(context.kernel, member, wanted.subject, what, wanted.org_id)
    if wanted.waives:
        raise build_outside_refusal(member.subject, f"lift {listing(wanted.waives)}")
    is_crew = any(identity.is_crew for _, identity in member.known)
    for resource in wanted.resources:
        for view in list_views(context.kernel.state, wanted.org_id):
            if does_know_resource(view, resource):
                if is_crew:
                    _require_may_grant(view, member, resource, wanted.level)
                _require_held(context.kernel.access(view.org_id), member, wanted, resource)
    return require_right(context.kernel, member, wanted.subject, what, wanted.org_id, wanted.resources)


def require_may_approve(context: Context, request: PermissionRequest, approval: Approval) -> Right | None:
    """The right to say yes to a request: approving is granting. Raises as `require_may_give`.

    Nobody approves what they asked for by way of another identity: not the person who runs the agent that asked, and
    not the credential that asked in its name.
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
            "somebody else has to answer the request",
            SELF_GRANT,
        )
    return right


def _require_may_grant(view: OrgView, member: ActingSubject, resource: str, level: str) -> None:
    """Raise `Refused` (`MAY_NOT_GRANT`) if no role of the giver may give the tool at that level."""
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


def _require_held(desk: OrganizationAccess, member: ActingSubject, wanted: Grant, resource: str) -> None:
    """Raise `Refused` (`MAY_NOT_GRANT`) if the giver is not allowed itself what it would give."""
    tables = get_access_tables(desk.view)
    giver = tables.find_subject(member.subject)
    whole, part = split_part(resource)
    target, _ = tables.find(whole)
    shown = quote(resource)
    if giver is None or target.unknown:  # a pattern such as `tool:name*`, or a giver of another organization
        raise Refused(
            f"{quote(member.subject)} may not grant {shown} in {quote(desk.view.org_id)}",
            "name every tool and the organization, or let the owner or an operator grant it",
            MAY_NOT_GRANT,
        )
    held = _select_held(desk, giver, wanted, part, target)
    context = replace(desk.build_current_context(), channel=wanted.channel, session=wanted.session)
    needed = (
        LEVEL[wanted.level] if target.kind == "tool" else min(LEVEL[wanted.level], *target.required.values())
    )
    for action in _list_actions_at(target, needed) if wanted.action is None else (wanted.action,):
        request = AccessRequest(member.subject, action, whole, context)
        evaluation = evaluate(_ask_part(tables, request, held, part))
        asks = evaluation.outcome == "ask" or _does_ask_anywhere(_ask_part(tables, request, held, part))
        where = _describe_escape(
            evaluation, tables.find_subject(wanted.subject), replace(wanted, resources=(whole,))
        )
        holds = (
            evaluation.outcome in ("allow", "conditional")
            and min(evaluation.granted, evaluation.ceiling) >= needed
        )
        if holds and not asks and not where:
            continue
        help = f"`orgkernel why {member.subject} {action} {whole}` says what holds it back"
        has, cannot = f"{quote(member.subject)} has {shown}", f"and cannot grant {quote(wanted.level)}"
        if short := _explain_short_grants(desk, giver, wanted, part, target):
            text = f"{has} by {short}, {cannot} beyond that"
            help = "give less than that grant, or let the owner or an operator grant it"
        elif asks:
            text = f"{quote(member.subject)} has to ask for {shown} itself, and cannot grant it"
        elif holds:
            text = f"{quote(member.subject)} may not use {shown} itself where {where}, and cannot grant it"
        else:
            text = f"{has} at level {quote(LEVELS[evaluation.left])} itself, {cannot}"
        raise Refused(text, help, MAY_NOT_GRANT)


def _ask_part(tables: AccessTables, request: AccessRequest, held: StateView, part: str | None) -> Evaluation:
    """The question whether the giver may do something itself; a scope that holds the part does not stand against it."""
    evaluation = ask(tables, request, held)
    evaluation.required = evaluation.resource.required.get(request.action, FULL)
    if part is not None and is_in_file_scope(evaluation, part):
        evaluation.assumed = Assumed(in_file_scope=True)
    return evaluation


def _list_actions_at(target: Resource, level: int) -> tuple[str, ...]:
    """The actions that are given with a level; where it is enough for none, the one that requires the least."""
    given = tuple(action for action in target.actions if target.required[action] <= level)
    return given or (target.least_action,)


def _describe_escape(evaluation: Evaluation, receiver: Subject | None, given: Grant) -> str:
    """Where the giver is held back and the receiver of the grant would not be, in words; empty if nowhere.

    A policy about everybody, such as one for groups, binds the receiver too. One about the giver alone does not.
    """
    for each in evaluation.unstated:
        there = each.evaluation
        bound = 0
        if receiver is not None:
            request = replace(there.request, subject=receiver.subject)
            assumed = Assumed(grants=(given,))
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
            received.is_complete = True
            bound = evaluate(received).failing
        if there.failing & ~bound:
            return " and ".join(f"{quote(name)} is {quote(value)}" for name, value in each.needed.items())
    return ""


def _does_ask_anywhere(evaluation: Evaluation) -> bool:
    """Whether the giver has to ask in some circumstances, for a grant answers for all of them."""
    order = evaluation.tables.order
    evaluation.is_complete = True
    for layer in order.depending:
        layer.suppose(evaluation, False)
    return bool(evaluate(evaluation).failing & order.asking)


# -- what somebody holds to give ---------------------------------------------------------------------------------------


def _select_held(
    desk: OrganizationAccess, giver: Subject, wanted: Grant, part: str | None, target: Resource
) -> StateView:
    """The state with those rows of the giver that are about the resource, without grants that do not cover what is given.

    What is left is about the whole resource, so that the question whether the giver holds the part is asked of it all.
    """
    state, root = desk.state, desk.view.records.organization.workspace_root
    now = desk.build_current_context().now
    grants = {
        key: tuple(
            replace(each, **_UNBOUND, resources=resources)
            for about in find_about(state.grants, (key,), target)
            for each in about.rows
            if is_active(each, desk.view.org_id, now)
            and not _explain_shortfall(each, wanted)
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
    return _add_lock(replace_stored(state, grants, restrictions), desk.view.org_id, target, giver)


def _add_lock(state: StateView, org_id: str, target: Resource, giver: Subject) -> StateView:
    """The state in which the giver holds the lock of an exclusive tool: who may use it next is nothing that is given."""
    if not target.exclusive:
        return state
    return replace(
        state, locks={**state.locks, target.id: ToolLock(org_id, target.id, giver.subject, 0, 0.0)}
    )


def _explain_shortfall(grant: Grant, wanted: Grant) -> str:
    """How a grant falls short of what is given, in words; empty where it does not."""
    ends = grant.expires_at
    if grant.uses_left is not None:
        return "is for a number of uses"
    if ends is not None and (wanted.expires_at is None or wanted.expires_at > ends):
        return f"ends at {as_utc(ends)}"
    for field in ("channel", "session"):
        only = getattr(grant, field)
        if only is not None and only != getattr(wanted, field):
            return f"holds only in the {field} {quote(only)}"
    if grant.action is not None and grant.action != wanted.action:
        return f"is for the action {quote(grant.action)} alone"
    if grant.input_digest is not None and grant.input_digest != wanted.input_digest:
        return "is for one input alone"
    if grant.snapshot is not None and grant.snapshot != wanted.snapshot:
        return "is for one version of the documents alone"
    for field in grant.__struct_fields__:  # INVARIANT: a bond that nobody compares here is not passed on.
        if field not in _COMPARED and getattr(grant, field) != getattr(_PLAIN, field):
            return f"is bound by its {quote(field)}"
    return ""


def _find_covering_resources(grant: Grant, part: str | None, root: str | None) -> tuple[str, ...]:
    """The resources of a grant that cover a part, each as a whole."""
    split = map(split_part, grant.resources)
    return tuple(whole for whole, held in split if held is None or does_cover(held, part, root))


def _narrow_restriction(restriction: Restriction, part: str | None, root: str | None) -> Restriction:
    """A restriction with those of its resources that may reach a part."""
    reaching = (each for each in restriction.resources if may_overlap(split_part(each)[1], part, root))
    return replace(restriction, resources=tuple(reaching))


def _explain_short_grants(
    desk: OrganizationAccess, giver: Subject, wanted: Grant, part: str | None, target: Resource
) -> str:
    """The grants of the giver that speak of the resource and fall short, in words."""
    shortfalls: list[str] = []
    root = desk.view.records.organization.workspace_root
    now, org_id = desk.build_current_context().now, desk.view.org_id
    for grant in (row for about in find_about(desk.state.grants, giver.keys, target) for row in about.rows):
        if is_active(grant, org_id, now) and target.resource in map(get_root_resource, grant.resources):
            lacking = _explain_shortfall(grant, wanted) or (
                "" if _find_covering_resources(grant, part, root) else "is for a part of it"
            )
            if lacking:
                shortfalls.append(f"the grant {quote(grant.grant_id)}, which {lacking}")
    return " and ".join(shortfalls)
