"""Handing work to roles and escalating to them: the chain of command, declared rights and organization layers.

This is the part of the access layer `role binding` that binds roles to other roles.
"""

from __future__ import annotations

from orgkernel.decisions.access.evaluation import Evaluation
from orgkernel.decisions.access.identity import SubjectIdentity
from orgkernel.decisions.access.layer import ReasonCode, Sentence
from orgkernel.decisions.access.layers.position import WORKER_CANNOT_DISPATCH
from orgkernel.decisions.access.lines import locate_edges, locate_in_profile
from orgkernel.decisions.access.resource import HANDOFF
from orgkernel.decisions.reasons import cite_place
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import USER
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge, EdgeKind


def compute_chain_of_command_bits(
    view: OrgView, identity: SubjectIdentity, target: str, action: str
) -> tuple[int, int]:
    """The bits of the codes that give a subject the right to hand work to or escalate to a role, and of those that are
    missing.

    One role with the right is enough. Missing codes are returned only if no role has it.
    """
    if not identity.is_crew:
        has_chain = action == HANDOFF and find_chain_of_command(
            view, list_names_in_chain_of_command(identity), target
        )
        return (CHAIN_OF_COMMAND.bit, 0) if has_chain else (0, 0)
    sources = lacks = 0
    for role_id in identity.roles:
        of_role = _compute_handoff_bits if action == HANDOFF else _compute_escalation_bits
        gives, missing = of_role(view, role_id, target)
        sources |= gives
        lacks |= missing
    if sources:
        return sources, 0
    return 0, lacks or TARGET_NOT_ALLOWED.bit


def list_names_in_chain_of_command(identity: SubjectIdentity) -> tuple[str, ...]:
    """The names by which a chain of command can refer to a subject outside the organization."""
    if identity.kind != "person":
        return ()
    return (identity.id, USER) if identity.is_owner else (identity.id,)


def find_chain_of_command(view: OrgView, superiors: tuple[str, ...], target: str) -> tuple[Edge, ...]:
    """The chain of command from a role up to one of these superiors; empty if it leads to none of them."""
    chain = view.list_chain_above(target)
    for number, edge in enumerate(chain):
        if edge.target in superiors and edge.target != target:
            return chain[: number + 1]
    return ()


def _find_right(view: OrgView, role_id: str, target: str) -> Edge | None:
    """The declared right of a role to hand work to another."""
    edges = view.list_edges_from(EdgeKind.MAY_HAND_WORK_TO, role_id)
    return next((edge for edge in edges if edge.target == target), None)


def _find_escalation(view: OrgView, role_id: str, target: str) -> tuple[Edge, ...]:
    """The edges that let a role escalate to another: a PACE tier, or the chain of command up to it."""
    tier = next((edge for edge in view.list_escalations(role_id) if edge.target == target), None)
    if tier is not None:
        return (tier,)
    chain = view.list_chain_above(role_id)
    reached = next((number for number, edge in enumerate(chain) if edge.target == target), None)
    return () if reached is None else chain[: reached + 1]


def _do_layers_forbid(view: OrgView, role_id: str, target: str) -> bool:
    """Whether both roles are in organization layers and no hand-off edge leads from one to the other."""
    organization, posts = view.records.organization, view.records.posts
    source, destination = posts[role_id].profile.layer, posts[target].profile.layer
    if not organization.dispatch_edges or source is None or destination is None:
        return False
    edges = organization.dispatch_edges
    return not any(edge.source == source and edge.target == destination for edge in edges)


def _compute_handoff_bits(view: OrgView, role_id: str, target: str) -> tuple[int, int]:
    sources = lacks = 0
    profile = view.records.posts[role_id].profile
    if _find_right(view, role_id, target) is not None:
        sources |= MAY_HAND_OFF.bit
    if find_chain_of_command(view, (role_id,), target):
        if profile.can_delegate:
            sources |= CHAIN_OF_COMMAND.bit
        else:
            lacks |= CANNOT_DELEGATE.bit
    elif not sources:
        lacks |= TARGET_NOT_ALLOWED.bit | (0 if profile.can_delegate else CANNOT_DELEGATE.bit)
    if _do_layers_forbid(view, role_id, target):
        sources, lacks = 0, lacks | DISPATCH_EDGE_FORBIDDEN.bit
    if profile.position == "worker":
        # A worker never hands work down, even if a chain of command or a right says otherwise.
        sources, lacks = 0, lacks | WORKER_CANNOT_DISPATCH.bit
    return sources, lacks


def _compute_escalation_bits(view: OrgView, role_id: str, target: str) -> tuple[int, int]:
    escalation = _find_escalation(view, role_id, target)
    return (REPORTS_TO.bit, 0) if escalation else (0, TARGET_NOT_ALLOWED.bit)


def _explain_cannot_delegate(evaluation: Evaluation) -> Sentence:
    posts = evaluation.view.records.posts
    texts, why = [], []
    for role in evaluation.roles:
        post = posts[role]
        if not post.profile.can_delegate:
            stated = ("chain_of_command", "can_delegate")
            route = stated if post.has(*stated) else ("role_type",)
            because = "`can_delegate` is false" if route == stated else f"it is a {post.profile.role_type}"
            texts.append(f"role {quote(role)} may not delegate, because {because}")
            why.append(cite_place(f"{route[-1]} of role {role}", locate_in_profile(post, *route)))
    return "; ".join(texts), tuple(why)


def _explain_target_not_allowed(evaluation: Evaluation) -> Sentence:
    """Explain the chain of command that exists instead: above the target for a hand-off, else above the subject."""
    who, what, view = evaluation.who, evaluation.what, evaluation.view
    if evaluation.action == HANDOFF:
        text = f"{who} does not command {what}, and no `handoff` right names it"
        return text, locate_edges(view.list_chain_above(evaluation.resource.id)[:1])
    text = f"{what} is not a superior of {who}, and no escalation tier names it"
    return text, locate_edges(edge for role in evaluation.roles for edge in view.list_chain_above(role)[:1])


def _explain_edge_forbidden(evaluation: Evaluation) -> Sentence:
    view, target = evaluation.view, evaluation.resource.id
    records = evaluation.view.records
    posts = records.posts
    forbidden = dict.fromkeys(
        posts[role].profile.layer for role in evaluation.roles if _do_layers_forbid(view, role, target)
    )
    layer = quote(posts[target].profile.layer)
    text = (
        f"no hand-off edge leads from layer {listing(forbidden)} to layer {layer}, where {evaluation.what} is"
    )
    return text, (cite_place("dispatch_edges", records.edges_place),)


def _explain_chain_of_command(evaluation: Evaluation) -> Sentence:
    superiors = evaluation.roles or list_names_in_chain_of_command(evaluation.subject.identity)
    view, target = evaluation.view, evaluation.resource.id
    chains = (find_chain_of_command(view, (superior,), target) for superior in superiors)
    text = f"{evaluation.who} commands {evaluation.what}"
    return text, locate_edges(edge for chain in chains for edge in chain)


def _may_hand_off(evaluation: Evaluation) -> Sentence:
    view, target = evaluation.view, evaluation.resource.id
    edges = (_find_right(view, role, target) for role in evaluation.roles)
    rights = [edge for edge in edges if edge is not None]
    return "; ".join(map(str, rights)), locate_edges(rights)


def _explain_reports_to(evaluation: Evaluation) -> Sentence:
    view, target = evaluation.view, evaluation.resource.id
    chains = (_find_escalation(view, role, target) for role in evaluation.roles)
    text = f"{evaluation.who} may escalate to {evaluation.what}"
    return text, locate_edges(edge for chain in chains for edge in chain)


CANNOT_DELEGATE = ReasonCode("CANNOT_DELEGATE", _explain_cannot_delegate, "", remedies=("grant", "role"))
TARGET_NOT_ALLOWED = ReasonCode(
    "TARGET_NOT_ALLOWED", _explain_target_not_allowed, "", remedies=("grant", "role")
)
DISPATCH_EDGE_FORBIDDEN = ReasonCode(
    "DISPATCH_EDGE_FORBIDDEN", _explain_edge_forbidden, "", remedies=("grant", "role")
)
CHAIN_OF_COMMAND = ReasonCode("CHAIN_OF_COMMAND", _explain_chain_of_command, "granted", is_static=True)
MAY_HAND_OFF = ReasonCode("MAY_HAND_OFF", _may_hand_off, "granted", is_static=True)
REPORTS_TO = ReasonCode("REPORTS_TO", _explain_reports_to, "granted", is_static=True)
