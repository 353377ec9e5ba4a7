"""The subjects and resources that a list has to examine: all that could be granted anything."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.layers.chain_of_command import (
    find_chain_of_command,
    list_names_in_chain_of_command,
)
from orgkernel.decisions.access.resource import Resource
from orgkernel.decisions.access.stored_index import list_root_resources
from orgkernel.decisions.access.subject import Subject
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.documents.records import DATA_TIERS, STAR
from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind

# The number of a subject's own roles that are skipped among the roles that could help it.
_MAX_OWN_ROLES = 50


def find_candidate_subjects(
    tables: AccessTables, state: StateView, resource: Resource, kinds: tuple[str, ...]
) -> tuple[str, ...]:
    """Subjects that a role, a policy or a grant could give the resource to, in the order of declaration."""
    if resource.unknown:
        return ()
    view = tables.view
    # A subject whose grants were all revoked keeps an empty entry.
    granted = {key for key in state.grants if state.grants[key]} if state.grants else set()
    subjects: list[str] = []
    roles = find_roles_with(tables, resource) if "role" in kinds or view.records.agents else ()
    if "role" in kinds:
        also = [key[5:] for key in granted if key.startswith("role:") and view.is_role(key[5:])]
        everybody = sorted({*roles, *also}, key=view.order.__getitem__) if also else roles
        subjects += (f"role:{role_id}" for role_id in everybody)
    if "agent" in kinds and view.records.agents:
        giving = {*roles, *(key[5:] for key in granted if key.startswith("role:"))}
        agents = {
            agent_id for role_id in giving for agent_id in view.list_sources_to(EdgeKind.FILLS, role_id)
        }
        agents.update(
            key[6:] for key in granted if key.startswith("agent:") and key[6:] in view.records.agents
        )
        subjects += (
            f"agent:{agent_id}" for agent_id in sorted(agents, key=_map_agent_positions(view).__getitem__)
        )
    # Only a policy, a grant or a right to hand work down gives anything to a subject outside the crew.
    if granted or tables.policies.policies or resource.kind == "role":
        for kind in kinds:
            subjects += (
                each
                for each in tables.outside.get(kind, ())
                if _may_be_given(tables, each, granted, resource)
            )
    return tuple(subjects)


@PerView
def _map_agent_positions(view: OrgView) -> Mapping[str, int]:
    """The position of each agent in the rosters, keyed by agent id."""
    return {agent_id: number for number, agent_id in enumerate(view.records.agents)}


def _may_be_given(
    tables: AccessTables, subject: str, granted_subjects: Collection[str], resource: Resource
) -> bool:
    """Whether a policy, a grant or the chain of command could give the resource to a subject outside the crew."""
    outsider = tables.find_subject(subject)
    if outsider is None:
        return False
    return (
        bool(outsider.policies)
        or resource.kind == "role"
        or any(key in granted_subjects for key in outsider.keys)
    )


def find_roles_with(tables: AccessTables, resource: Resource) -> tuple[str, ...]:
    """Roles that have the resource through their own profile, in the order of the hierarchy."""
    role_ids = tables.holding.get(resource.resource)
    if role_ids is None:
        role_ids = tables.holding[resource.resource] = _find_roles_with(tables, resource)
    return role_ids


def _find_roles_with(tables: AccessTables, resource: Resource) -> tuple[str, ...]:
    view = tables.view
    if resource.kind == "tool":
        holding = set(view.get_holder_levels(resource.id))
        # An essential tool needs no entry in a profile, so it is not among the holders that the edges name.
        if resource.tool is not None and resource.tool.essential:
            holding.update(role for role in view.roles if resource.id in view.list_essential_tools(role))
        role_ids: Iterable[str] = holding
    elif resource.kind == "role":
        role_ids = {
            *(edge.source for edge in view.list_edges_to(EdgeKind.MAY_HAND_WORK_TO, resource.id)),
            *(edge.target for edge in view.list_chain_above(resource.id)),
            *(edge.source for edge in view.list_edges_to(EdgeKind.ESCALATES_TO, resource.id)),
            *view.find_below((resource.id,)),
        }
    else:
        role_ids = [role for role in view.roles if resource.resource in _find_bound_resources(tables, role)]
    return tuple(sorted((role for role in role_ids if view.is_role(role)), key=view.order.__getitem__))


def _find_bound_resources(tables: AccessTables, role_id: str) -> Iterable[str]:
    subject = tables.find_subject(f"role:{role_id}")
    return () if subject is None else subject.bound


def find_candidate_resources(
    tables: AccessTables, state: StateView, subject: Subject, kinds: tuple[str, ...]
) -> tuple[str, ...]:
    """Resources that a subject could have, of these kinds."""
    view = tables.view
    resources: dict[str, None] = dict.fromkeys(subject.bound)
    if subject.essential:
        resources.update((each, None) for each in sorted(subject.essential))
    granted = sorted(
        {root for key in subject.keys for root in list_root_resources(state.grants.get(key, ()))}
    )
    everything = bool(subject.policies) and not subject.is_crew
    if everything or any(root.endswith(STAR) for root in granted):
        resources.update((f"tool:{each}", None) for each in view.records.tools)
        resources.update((f"credential:{each}", None) for each in tables.credentials)
        resources.update((f"data:{each}", None) for each in DATA_TIERS)
    for root in granted:
        if root.startswith("data:"):
            resources.update((f"data:{each}", None) for each in DATA_TIERS)
        resources[root] = None
    if "role" in kinds:
        resources.update((f"role:{each}", None) for each in _find_reachable_roles(tables, subject))
    beginnings = tuple(f"{kind}:" for kind in kinds)
    return tuple(each for each in resources if each.startswith(beginnings) and STAR not in each)


def _find_reachable_roles(tables: AccessTables, subject: Subject) -> Iterator[str]:
    """Roles a subject could hand work to or escalate to."""
    view = tables.view
    if not subject.is_crew:
        superiors = list_names_in_chain_of_command(subject.identity)
        yield from (role for role in view.roles if superiors and find_chain_of_command(view, superiors, role))
        return
    reached: set[str] = set()
    for role_id in subject.identity.roles:
        reached |= view.find_below((role_id,)) - {role_id}
        reached.update(edge.target for edge in view.list_edges_from(EdgeKind.MAY_HAND_WORK_TO, role_id))
        reached.update(edge.target for edge in view.list_chain_above(role_id))
        reached.update(edge.target for edge in view.list_escalations(role_id))
    yield from sorted((role for role in reached if view.is_role(role)), key=view.order.__getitem__)


def find_helpful_roles(tables: AccessTables, resource: Resource, most: int) -> tuple[str, ...]:
    """Roles that have a resource, can see it, or are listed in its `restricted_to`, in the order of the hierarchy."""
    view = tables.view
    if len(view.roles) <= most:
        # A role can help in other ways too, for example if a tool is essential for it. If there are few roles, try all.
        return view.roles
    known = tables.helpful.get(resource.resource)
    if known is None:
        role_ids = {*find_roles_with(tables, resource), *(resource.restricted_to or ())}
        for department in resource.departments or ():
            role_ids.update(role_id for role_id, _ in view.list_ends_to(EdgeKind.BELONGS_TO, department))
        ordered = sorted(filter(view.is_role, role_ids), key=view.order.__getitem__)
        known = tables.helpful[resource.resource] = tuple(ordered[: most + _MAX_OWN_ROLES])
    return known
