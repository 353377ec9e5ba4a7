"""Who may dispatch whom, and escalate to whom: the chain of command, declared rights and layers (design §6)."""

from __future__ import annotations

from orgkernel.decisions.access import codes
from orgkernel.decisions.access.cells import DISPATCH
from orgkernel.decisions.access.subjects import Identity
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.records.organization import USER


def command_sources(view: OrgView, identity: Identity, target: str, action: str) -> tuple[int, int]:
    """The bits of what gives a subject the right to dispatch a role or escalate to it, and of what it lacks.

    Any of the subject's roles will do; only where none gives the right, what each lacks is said.
    """
    sources = lacks = 0
    if not identity.is_crew:
        commands = find_command(view, names_in_command(identity), target)
        return (codes.COMMANDS, 0) if commands and action == DISPATCH else (0, codes.NO_POLICY_MATCH)
    for role_id in identity.roles:
        gives, missing = (
            _of_role(view, role_id, target) if action == DISPATCH else _escalation(view, role_id, target)
        )
        sources |= gives
        lacks |= missing
    if sources:
        return sources, 0
    return 0, lacks or codes.TARGET_NOT_ALLOWED


def names_in_command(identity: Identity) -> tuple[str, ...]:
    """The words under which a chain of command can name somebody outside the organization."""
    if identity.kind != "person":
        return ()
    return (identity.id, USER) if identity.is_owner else (identity.id,)


def find_command(view: OrgView, superiors: tuple[str, ...], target: str) -> tuple[Edge, ...]:
    """The chain of command from a role up to one of these superiors; empty where none commands it."""
    chain = view.chain_above(target)
    for number, edge in enumerate(chain):
        if edge.target in superiors and edge.target != target:
            return chain[: number + 1]
    return ()


def find_right(view: OrgView, role_id: str, target: str) -> Edge | None:
    """The declared right of a role to dispatch another."""
    edges = view.edges_from(EdgeKind.MAY_DISPATCH, role_id)
    return next((edge for edge in edges if edge.target == target), None)


def find_escalation(view: OrgView, role_id: str, target: str) -> tuple[Edge, ...]:
    """The edges by which a role may turn to another: those of a tier, or the chain of command up to it."""
    tier = next((edge for edge in view.escalations_of(role_id) if edge.target == target), None)
    if tier is not None:
        return (tier,)
    chain = view.chain_above(role_id)
    reached = next((number for number, edge in enumerate(chain) if edge.target == target), None)
    return () if reached is None else chain[: reached + 1]


def layers_forbid(view: OrgView, role_id: str, target: str) -> bool:
    """Whether both roles lie in layers and no dispatch edge leads from one to the other."""
    organization, posts = view.records.organization, view.records.posts
    source_layer, target_layer = posts[role_id].profile.layer, posts[target].profile.layer
    if not organization.dispatch_edges or source_layer is None or target_layer is None:
        return False
    return not any(
        edge.source == source_layer and edge.target == target_layer for edge in organization.dispatch_edges
    )


def _of_role(view: OrgView, role_id: str, target: str) -> tuple[int, int]:
    sources = lacks = 0
    profile = view.records.posts[role_id].profile
    if find_right(view, role_id, target) is not None:
        sources |= codes.MAY_DISPATCH
    if find_command(view, (role_id,), target):
        if profile.can_delegate:
            sources |= codes.COMMANDS
        else:
            lacks |= codes.CANNOT_DELEGATE
    elif not sources:
        lacks |= codes.TARGET_NOT_ALLOWED | (0 if profile.can_delegate else codes.CANNOT_DELEGATE)
    if layers_forbid(view, role_id, target):
        sources, lacks = 0, lacks | codes.DISPATCH_EDGE_FORBIDDEN
    if profile.position == "worker":
        sources, lacks = 0, lacks | codes.WORKER_CANNOT_DISPATCH
    return sources, lacks


def _escalation(view: OrgView, role_id: str, target: str) -> tuple[int, int]:
    return (codes.REPORTS_TO, 0) if find_escalation(view, role_id, target) else (0, codes.TARGET_NOT_ALLOWED)
