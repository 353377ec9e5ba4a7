"""Which subjects and resources a list has to look at: all that anything could give something to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from orgkernel.decisions.access.cells import Cell, declared_credentials
from orgkernel.decisions.access.command import find_command, names_in_command
from orgkernel.decisions.access.holders import Holder
from orgkernel.decisions.access.tables import AccessTables
from orgkernel.decisions.state_view import StateView
from orgkernel.graph.schema import EdgeKind
from orgkernel.records.access_policies import DATA_TIERS, STAR

# Roles of a subject's own that are passed over among those that could help it.
_MOST_OWN = 50


def candidate_subjects(
    tables: AccessTables, state: StateView, cell: Cell, kinds: tuple[str, ...]
) -> tuple[str, ...]:
    """Subjects that a role, a policy or a grant could give the resource to, in the order of declaration."""
    if cell.unknown:
        return ()
    view = tables.view
    granted = {key for key in state.grants if state.grants[key]} if state.grants else set()
    found: list[str] = []
    roles = roles_given(tables, cell) if "role" in kinds or view.records.agents else ()
    if "role" in kinds:
        also = [key[5:] for key in granted if key.startswith("role:") and view.is_role(key[5:])]
        everybody = sorted({*roles, *also}, key=view.order.__getitem__) if also else roles
        found += (f"role:{role_id}" for role_id in everybody)
    if "agent" in kinds and view.records.agents:
        giving = {*roles, *(key[5:] for key in granted if key.startswith("role:"))}
        for agent_id in view.records.agents:
            fills = any(edge.target in giving for edge in view.roles_filled_by(agent_id))
            if fills or f"agent:{agent_id}" in granted:
                found.append(f"agent:{agent_id}")
    if granted or tables.policies.policies or cell.kind == "role":
        for kind in kinds:
            found += (
                each for each in tables.outside.get(kind, ()) if _could_have(tables, each, granted, cell)
            )
    return tuple(found)


def _could_have(tables: AccessTables, subject: str, granted: Collection[str], cell: Cell) -> bool:
    """Whether a policy or a grant speaks of somebody outside the crew, or the chain of command may."""
    holder = tables.holder(subject)
    if holder is None:
        return False
    return bool(holder.policies) or cell.kind == "role" or any(key in granted for key in holder.keys)


def roles_given(tables: AccessTables, cell: Cell) -> tuple[str, ...]:
    """Roles that get the resource by themselves, in the order of the hierarchy."""
    return tables.view.remember(("roles given", cell.resource), lambda: _roles_given(tables, cell))


def _roles_given(tables: AccessTables, cell: Cell) -> tuple[str, ...]:
    view = tables.view
    if cell.kind == "tool":
        holding = set(view.holder_levels_of(cell.id))
        if cell.tool is not None and cell.tool.essential:
            holding.update(role for role in view.roles if cell.id in view.essential_tools_of(role))
        found: Iterable[str] = holding
    elif cell.kind == "role":
        found = {
            *(edge.source for edge in view.edges_to(EdgeKind.MAY_DISPATCH, cell.id)),
            *(edge.target for edge in view.chain_above(cell.id)),
            *(edge.source for edge in view.edges_to(EdgeKind.ESCALATES_TO, cell.id)),
            *view.below((cell.id,)),
        }
    else:
        found = [role for role in view.roles if cell.resource in _bound(tables, role)]
    return tuple(sorted((role for role in found if view.is_role(role)), key=view.order.__getitem__))


def _bound(tables: AccessTables, role_id: str) -> Iterable[str]:
    holder = tables.holder(f"role:{role_id}")
    return () if holder is None else holder.bound


def candidate_resources(
    tables: AccessTables, state: StateView, holder: Holder, kinds: tuple[str, ...]
) -> tuple[str, ...]:
    """Resources that a subject could have, of these kinds."""
    view = tables.view
    found: dict[str, None] = dict.fromkeys(holder.bound)
    if holder.essential:
        found.update((each, None) for each in sorted(holder.essential))
    patterns = {
        resource for key in holder.keys for grant in state.grants.get(key, ()) for resource in grant.resources
    }
    everything = bool(holder.policies) and not holder.is_crew
    if everything or any(STAR in pattern for pattern in patterns):
        found.update((f"tool:{each}", None) for each in view.records.tools)
        found.update((f"credential:{each}", None) for each in declared_credentials(view))
        found.update((f"data:{each}", None) for each in DATA_TIERS)
    for pattern in sorted(patterns):
        kind, _, name = pattern.partition(":")
        if kind == "data":
            found.update((f"data:{each}", None) for each in DATA_TIERS)
        found[f"{kind}:{name.partition(':')[0]}"] = None
    if "role" in kinds:
        found.update((f"role:{each}", None) for each in _reachable(tables, holder))
    beginnings = tuple(f"{kind}:" for kind in kinds)
    return tuple(each for each in found if each.startswith(beginnings) and STAR not in each)


def _reachable(tables: AccessTables, holder: Holder) -> Iterator[str]:
    """Roles a subject could dispatch or escalate to."""
    view = tables.view
    if not holder.is_crew:
        superiors = names_in_command(holder.identity)
        yield from (role for role in view.roles if superiors and find_command(view, superiors, role))
        return
    reached: set[str] = set()
    for role_id in holder.identity.roles:
        reached |= view.below((role_id,)) - {role_id}
        reached.update(edge.target for edge in view.edges_from(EdgeKind.MAY_DISPATCH, role_id))
        reached.update(edge.target for edge in view.chain_above(role_id))
        reached.update(edge.target for edge in view.escalations_of(role_id))
    yield from sorted((role for role in reached if view.is_role(role)), key=view.order.__getitem__)


def helpful_roles(tables: AccessTables, cell: Cell, most: int) -> tuple[str, ...]:
    """Roles that are given a resource, that see it, or that it is restricted to, in the order of the hierarchy."""
    view = tables.view
    if len(view.roles) <= most:
        # A role can help in ways of its own, as when a tool is essential for it: where they are few, try all.
        return view.roles
    found = {*roles_given(tables, cell), *(each for each in cell.restricted_to or () if view.is_role(each))}
    for department in cell.departments or ():
        found.update(role_id for role_id, _ in view.ends_to(EdgeKind.BELONGS_TO, department))
    ordered = sorted((role for role in found if view.is_role(role)), key=view.order.__getitem__)
    return tuple(ordered[: most + _MOST_OWN])
