"""Which subjects and resources a list has to look at: all that anything could give something to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.layers.chain_of_command import (
    find_chain_of_command,
    names_in_chain_of_command,
)
from orgkernel.decisions.access.resource import Resource
from orgkernel.decisions.access.stored_index import roots_of
from orgkernel.decisions.access.subject import Subject
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.documents.records import DATA_TIERS, STAR
from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind

# Roles of a subject's own that are passed over among those that could help it.
_MOST_OWN = 50


def candidate_subjects(
    tables: AccessTables, state: StateView, resource: Resource, kinds: tuple[str, ...]
) -> tuple[str, ...]:
    """Subjects that a role, a policy or a grant could give the resource to, in the order of declaration."""
    if resource.unknown:
        return ()
    view = tables.view
    granted = {key for key in state.grants if state.grants[key]} if state.grants else set()
    found: list[str] = []
    roles = roles_given(tables, resource) if "role" in kinds or view.records.agents else ()
    if "role" in kinds:
        also = [key[5:] for key in granted if key.startswith("role:") and view.is_role(key[5:])]
        everybody = sorted({*roles, *also}, key=view.order.__getitem__) if also else roles
        found += (f"role:{role_id}" for role_id in everybody)
    if "agent" in kinds and view.records.agents:
        giving = {*roles, *(key[5:] for key in granted if key.startswith("role:"))}
        agents = {agent_id for role_id in giving for agent_id in view.sources_to(EdgeKind.FILLS, role_id)}
        agents.update(
            key[6:] for key in granted if key.startswith("agent:") and key[6:] in view.records.agents
        )
        found += (f"agent:{agent_id}" for agent_id in sorted(agents, key=_order_of_agents(view).__getitem__))
    if granted or tables.policies.policies or resource.kind == "role":
        for kind in kinds:
            found += (
                each for each in tables.outside.get(kind, ()) if _could_have(tables, each, granted, resource)
            )
    return tuple(found)


@PerView
def _order_of_agents(view: OrgView) -> Mapping[str, int]:
    """The place of each agent in the rosters."""
    return {agent_id: number for number, agent_id in enumerate(view.records.agents)}


def _could_have(tables: AccessTables, subject: str, granted: Collection[str], resource: Resource) -> bool:
    """Whether a policy or a grant speaks of somebody outside the crew, or the chain of command may."""
    found = tables.subject(subject)
    if found is None:
        return False
    return bool(found.policies) or resource.kind == "role" or any(key in granted for key in found.keys)


def roles_given(tables: AccessTables, resource: Resource) -> tuple[str, ...]:
    """Roles that get the resource by themselves, in the order of the hierarchy."""
    found = tables.holding.get(resource.resource)
    if found is None:
        found = tables.holding[resource.resource] = _roles_given(tables, resource)
    return found


def _roles_given(tables: AccessTables, resource: Resource) -> tuple[str, ...]:
    view = tables.view
    if resource.kind == "tool":
        holding = set(view.holder_levels_of(resource.id))
        if resource.tool is not None and resource.tool.essential:
            holding.update(role for role in view.roles if resource.id in view.essential_tools_of(role))
        found: Iterable[str] = holding
    elif resource.kind == "role":
        found = {
            *(edge.source for edge in view.edges_to(EdgeKind.MAY_DISPATCH, resource.id)),
            *(edge.target for edge in view.chain_above(resource.id)),
            *(edge.source for edge in view.edges_to(EdgeKind.ESCALATES_TO, resource.id)),
            *view.below((resource.id,)),
        }
    else:
        found = [role for role in view.roles if resource.resource in _bound(tables, role)]
    return tuple(sorted((role for role in found if view.is_role(role)), key=view.order.__getitem__))


def _bound(tables: AccessTables, role_id: str) -> Iterable[str]:
    subject = tables.subject(f"role:{role_id}")
    return () if subject is None else subject.bound


def candidate_resources(
    tables: AccessTables, state: StateView, subject: Subject, kinds: tuple[str, ...]
) -> tuple[str, ...]:
    """Resources that a subject could have, of these kinds."""
    view = tables.view
    found: dict[str, None] = dict.fromkeys(subject.bound)
    if subject.essential:
        found.update((each, None) for each in sorted(subject.essential))
    granted = sorted({root for key in subject.keys for root in roots_of(state.grants.get(key, ()))})
    everything = bool(subject.policies) and not subject.is_crew
    if everything or any(root.endswith(STAR) for root in granted):
        found.update((f"tool:{each}", None) for each in view.records.tools)
        found.update((f"credential:{each}", None) for each in tables.credentials)
        found.update((f"data:{each}", None) for each in DATA_TIERS)
    for root in granted:
        if root.startswith("data:"):
            found.update((f"data:{each}", None) for each in DATA_TIERS)
        found[root] = None
    if "role" in kinds:
        found.update((f"role:{each}", None) for each in _reachable(tables, subject))
    beginnings = tuple(f"{kind}:" for kind in kinds)
    return tuple(each for each in found if each.startswith(beginnings) and STAR not in each)


def _reachable(tables: AccessTables, subject: Subject) -> Iterator[str]:
    """Roles a subject could dispatch or escalate to."""
    view = tables.view
    if not subject.is_crew:
        superiors = names_in_chain_of_command(subject.identity)
        yield from (role for role in view.roles if superiors and find_chain_of_command(view, superiors, role))
        return
    reached: set[str] = set()
    for role_id in subject.identity.roles:
        reached |= view.below((role_id,)) - {role_id}
        reached.update(edge.target for edge in view.edges_from(EdgeKind.MAY_DISPATCH, role_id))
        reached.update(edge.target for edge in view.chain_above(role_id))
        reached.update(edge.target for edge in view.escalations_of(role_id))
    yield from sorted((role for role in reached if view.is_role(role)), key=view.order.__getitem__)


def helpful_roles(tables: AccessTables, resource: Resource, most: int) -> tuple[str, ...]:
    """Roles that are given a resource, that see it, or that it is restricted to, in the order of the hierarchy."""
    view = tables.view
    if len(view.roles) <= most:
        # A role can help in ways of its own, as when a tool is essential for it: where they are few, try all.
        return view.roles
    known = tables.helpful.get(resource.resource)
    if known is None:
        found = {*roles_given(tables, resource), *(resource.restricted_to or ())}
        for department in resource.departments or ():
            found.update(role_id for role_id, _ in view.ends_to(EdgeKind.BELONGS_TO, department))
        ordered = sorted(filter(view.is_role, found), key=view.order.__getitem__)
        known = tables.helpful[resource.resource] = tuple(ordered[: most + _MOST_OWN])
    return known
