"""Approvals of a request where policies require several, or those of certain subjects.

Each approver needs the right to grant what is requested, now and again when the last approval arrives. The requester is
none of them, nor is a subject that shares a principal with it: the person who runs it, who filed the request, or for whom it
acts. Two approvers that share a principal are one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from orgkernel.decisions.access.decide import ask
from orgkernel.decisions.access.layers.policies import (
    count_approvers,
    describe_approvals,
    find_policies_with_approvals,
)
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.state_records import ApiKey, Approval, PermissionRequest, RequestApproval
from orgkernel.decisions.evidence.state_view import EMPTY_STATE, Grant
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import RequiredApprovals
from orgkernel.errors import Conflict, Refused
from orgkernel.graph.questions import OrgView
from orgkernel.operations.context import OPERATOR, Actor, Context
from orgkernel.operations.passing_on import require_may_approve
from orgkernel.operations.rights import SELF_GRANT, list_views, open_noted_store
from orgkernel.operations.widening import find_resources
from orgkernel.state.requests import APPROVED_MEANWHILE, ApprovalStep

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

NOT_AN_APPROVER, ALREADY_APPROVED = "NOT_AN_APPROVER", "ALREADY_APPROVED"
_MAX_TRIES = 20
"""How often an approval is checked again because another one was stored meanwhile."""


class ApprovalNeed(msgspec.Struct, frozen=True, kw_only=True):
    """What one policy requires of a request, and what is missing of it."""

    policy: str
    file: str
    line: int
    count: int
    """The number of different approvers."""
    by: tuple[str, ...]
    """The subjects that they are or belong to; empty for every subject that may grant the resource."""
    approved_by: tuple[str, ...]
    """The approvers so far that count now."""
    missing: int
    """The number of approvals that are still needed."""


class _Policy(msgspec.Struct, frozen=True):
    """A policy that requires approvals, in its organization."""

    view: OrgView
    policy_id: str
    required: RequiredApprovals


def find_needs(context: Context, request: PermissionRequest) -> tuple[ApprovalNeed, ...]:
    """What policies require of a request, with the approvals that count now. Empty if one approval is enough."""
    policies = _find_policies(context, request)
    if not policies:
        return ()
    counted = tuple(each.approver for each in _list_counting(context, request))
    return tuple(_build_need(each, counted) for each in policies)


def approve_with_others(
    context: Context, request: PermissionRequest, approval: Approval, reason: str
) -> tuple[PermissionRequest, Grant | None]:
    """Approve a request, together with the other approvers that policies require.

    Returns the request, and the grant if this was the last approval. Raises as `require_may_approve`, `Refused`
    (`NOT_AN_APPROVER`), and `Conflict` (`ALREADY_APPROVED`, `NOT_PENDING`).
    """
    for _ in range(_MAX_TRIES):
        policies = _find_policies(context, request)
        right = require_may_approve(context, request, approval)
        store = open_noted_store(context, right)
        responder = context.actor.name
        if not policies or request.status != "pending":
            return store.requests.approve(request.request_id, approval, responder=responder, reason=reason)
        try:
            return store.requests.approve(
                request.request_id, approval, responder=responder, reason=reason,
                step=_check_step(context, request, policies, approval, reason),
            )  # fmt: skip
        except Conflict as conflict:
            if conflict.code != APPROVED_MEANWHILE:
                raise
            request = context.store.requests.get(request.request_id) or request
    raise Conflict(
        f"the request {quote(request.request_id)} is being approved by others",
        "approve it again",
        APPROVED_MEANWHILE,
    )


def describe_missing(needs: Iterable[ApprovalNeed]) -> str:
    """How many approvals are still needed, and from whom, in words; empty if none is."""
    return " and ".join(
        dict.fromkeys(
            describe_approvals(RequiredApprovals(count=each.count, by=each.by), each.missing)
            for each in needs
            if each.missing
        )
    )


def _check_step(
    context: Context,
    request: PermissionRequest,
    policies: tuple[_Policy, ...],
    approval: Approval,
    reason: str,
) -> ApprovalStep:
    approver, principals = _identify_approver(context, request, policies)
    counting = _list_counting(context, request)
    for each in counting:
        if shared := sorted(principals.intersection(each.principals)):
            raise Conflict(
                f"{quote(each.approver)} has approved the request already, and {quote(approver)} shares {listing(shared)} "
                "with it",
                f"the request still needs {describe_missing(find_needs(context, request))}",
                ALREADY_APPROVED,
            )
    added = RequestApproval(approver, 0.0, approval, context.actor.name, tuple(sorted(principals)), reason)
    approved_by = (*(each.approver for each in counting), approver)
    is_last = not any(_build_need(each, approved_by).missing for each in policies)
    return ApprovalStep(added, request.approvals, approved_by, is_last)


def _build_need(policy: _Policy, approvers: tuple[str, ...]) -> ApprovalNeed:
    required, definition = policy.required, policy.view.records.policies[policy.policy_id]
    place = definition.place("approvals")
    count = count_approvers(get_access_tables(policy.view), required, approvers)
    return ApprovalNeed(
        policy=policy.policy_id, file=place.file, line=place.line, count=required.count, by=required.by,
        approved_by=tuple(each for each in approvers if _is_one_of(policy, each)),
        missing=max(0, required.count - count),
    )  # fmt: skip


def _is_one_of(policy: _Policy, approver: str) -> bool:
    return count_approvers(get_access_tables(policy.view), policy.required, (approver,)) > 0


def _find_policies(context: Context, request: PermissionRequest) -> tuple[_Policy, ...]:
    """The policies that require approvals of a request, in any circumstances, because a grant can outlast these."""
    if context.kernel is None:
        return ()
    policies = dict[tuple[str, str], _Policy]()
    for view in list_views(context.kernel.state, request.org_id or ""):
        tables = get_access_tables(view)
        if not tables.policies.require_approvals:
            continue
        tool_input = _read_input(context.store, request)
        for written in request.resources:
            for resource in find_resources(view, written):
                named = written if tool_input is not None and "*" not in written else resource.resource
                question = AccessRequest(
                    request.requester,
                    request.action or resource.least_action,
                    named,
                    AccessContext(input=tool_input),
                )
                for policy in find_policies_with_approvals(ask(tables, question, EMPTY_STATE)):
                    assert policy.approvals is not None
                    policies[view.org_id, policy.id] = _Policy(view, policy.id, policy.approvals)
    return tuple(policies.values())


def _read_input(store: Store, request: PermissionRequest) -> dict[str, Any] | None:
    """The input of the call, if the request is for one call and it is kept."""
    encoded = None if request.input_digest is None else store.requests.get_input(request.request_id)
    decoded = None if encoded is None else msgspec.json.decode(encoded)
    return decoded if isinstance(decoded, dict) else None


# -- approvers ---------------------------------------------------------------------------------------------------------


def _identify_approver(
    context: Context, request: PermissionRequest, policies: tuple[_Policy, ...]
) -> tuple[str, frozenset[str]]:
    """The approver and its principals. Raises `Refused` for one that the policies do not count."""
    actor = context.actor
    approver = actor.member or OPERATOR
    principals = _list_principals(context, actor)
    shared = sorted((principals | {actor.name}) & _list_asker_principals(context, request))
    if shared:
        raise Refused(
            f"{quote(approver)} cannot approve the request, because it shares {listing(shared)} with the requester",
            f"policy {listing(each.policy_id for each in policies)} requires other approvers",
            SELF_GRANT,
        )
    if not any(_is_one_of(each, approver) for each in policies):
        by = dict.fromkeys(word for each in policies for word in each.required.by)
        raise Refused(
            f"{quote(approver)} is no approver of policy {listing(each.policy_id for each in policies)}",
            f"approvers are {listing(by)}",
            NOT_AN_APPROVER,
        )
    return approver, principals


def _list_counting(context: Context, request: PermissionRequest) -> list[RequestApproval]:
    """The earlier approvals that count now."""
    if not request.approvals:
        return []
    asking = _list_asker_principals(context, request)
    return [each for each in request.approvals if _does_count(context, request, each, asking)]


def _does_count(
    context: Context, request: PermissionRequest, approval: RequestApproval, asking: frozenset[str]
) -> bool:
    """Whether an earlier approval counts now: its credential is not revoked, its approver still may approve, and it shares no
    principal with those who are `asking`.
    """
    approver = approval.approver
    member = "" if approver == OPERATOR else approver
    person = next((each for each in approval.principals if each.startswith("person:") and each != member), "")
    key = _find_key(context, approval.credential)
    if key is not None and key.revoked_at is not None:
        return False
    then = msgspec.structs.replace(
        context,
        actor=Actor(approval.credential, member, person=person, orgs=None if key is None else key.bound_to),
    )
    try:
        require_may_approve(then, request, approval.approval)
    except Refused:
        return False
    return asking.isdisjoint({*_list_principals(context, then.actor), approval.credential})


def _list_principals(context: Context, actor: Actor) -> frozenset[str]:
    """The approver, the agents in its role, and the people who run them. All operators are one."""
    if not actor.member:
        return frozenset((OPERATOR,))
    return _add_principals(context, {actor.member, *({actor.person} if actor.person else ())})


def _list_asker_principals(context: Context, request: PermissionRequest) -> frozenset[str]:
    """The requester with its principals, and the subject that filed the request or for whom it acts."""
    stated = request.context or {}
    names = {request.requester, *stated.get("principals", ())}
    names |= {stated["person"]} if "person" in stated else set()
    return _add_principals(
        context, names | _list_credential_principals(context, stated.get("credential", ""))
    )


def _list_credential_principals(context: Context, credential: str) -> set[str]:
    """A credential, and the subject that it belongs to; for one of no subject, the operator."""
    key = _find_key(context, credential)
    if key is None:
        return {credential}
    agent = {f"agent:{key.agent_id}"} if key.agent_id else set()
    person = {f"person:{key.person_id}"} if key.person_id else set()
    return {credential, *(agent | person or {OPERATOR})}


def _find_key(context: Context, credential: str) -> ApiKey | None:
    """The API key that a credential of the audit names. None for another credential."""
    key_id = credential.removeprefix("caller:")
    return next((each for each in context.store.keys.list() if each.key_id == key_id), None)


def _add_principals(context: Context, names: set[str]) -> frozenset[str]:
    """Names with the agents in the roles among them, and the people who run the agents, by their keys."""
    assert context.kernel is not None
    for view in list_views(context.kernel.state):
        for role in [name.removeprefix("role:") for name in names if name.startswith("role:")]:
            if view.is_role(role):
                names |= {f"agent:{edge.source}" for edge in view.list_agents_in(role)}
    agents = {name.removeprefix("agent:") for name in names if name.startswith("agent:")}
    if agents:
        names |= {
            f"person:{key.person_id}"
            for key in context.store.keys.list()
            if key.agent_id in agents and key.person_id and key.revoked_at is None
        }
    return frozenset(names)
