"""Which subjects and resources a list has to look at: all that anything could give something to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.decisions.access.cells import Cell, declared_credentials
from orgkernel.decisions.access.command import find_command, names_in_command
from orgkernel.decisions.access.holders import Holder
from orgkernel.decisions.access.subjects import UNKNOWN_SENDER
from orgkernel.decisions.access.tables import AccessTables
from orgkernel.decisions.state_view import StateView
from orgkernel.graph.schema import EdgeKind
from orgkernel.records.access_policies import DATA_TIERS, STAR
from orgkernel.records.directory import BUILT_IN_ORIGINS
from orgkernel.records.organization import USER


def candidate_subjects(
    tables: AccessTables, state: StateView, cell: Cell, kinds: tuple[str, ...]
) -> tuple[str, ...]:
    """Subjects that a role, a policy or a grant could give the resource to, in the order of declaration."""
    if cell.unknown:
        return ()
    view = tables.view
    granted = {key for key in state.grants if state.grants[key]}
    found: list[str] = []
    roles = roles_given(tables, cell)
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
        for kind, names in _outside(tables).items():
            found += (f"{kind}:{name}" for name in names if kind in kinds)
    return tuple(found)


def _outside(tables: AccessTables) -> dict[str, tuple[str, ...]]:
    """Everybody outside the crew."""
    records = tables.view.records
    return {
        "person": tuple(dict.fromkeys((*records.people, USER, UNKNOWN_SENDER))),
        "system": tuple(dict.fromkeys((*BUILT_IN_ORIGINS, *records.system_origins))),
        "webhook": tuple(records.webhooks),
    }


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
    found: dict[str, None] = {}
    found.update((each, None) for each in holder.bound)
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
    return tuple(each for each in found if each.partition(":")[0] in kinds and STAR not in each)


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
