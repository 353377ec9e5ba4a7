"""Answers about roles that nothing but the documents decides: the fast way for lists, by tables.

Where nothing is stored for a role, no policy about it depends on circumstances and the request is part of no run, what
it can do with a tool follows from two numbers. The law `forward_and_reverse_agree` holds these answers against those
decided one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from orgkernel.decisions.access.cells import FULL, LEVEL, Cell
from orgkernel.decisions.access.decision import AccessRow
from orgkernel.decisions.access.holders import Holder
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.tables import AccessTables
from orgkernel.decisions.state_view import StateView
from orgkernel.records.levels import LEVELS


def is_settled(holder: Holder, state: StateView, request: AccessRequest) -> bool:
    """Whether only the documents decide what this subject can do."""
    if holder.identity.kind != "role" or holder.depends or request.on_behalf_of is not None:
        return False
    if request.via or request.envelope is not None or not is_calm(request.context):
        return False
    return not any(key in state.grants or key in state.restrictions for key in holder.keys)


def is_calm(context: AccessContext) -> bool:
    """Whether circumstances bring nothing along that could cap a tool."""
    return not context.depth and context.pace is None and context.input is None


def settled_row(holder: Holder, cell: Cell) -> AccessRow | None:
    """The row of a plain tool, for a settled subject without policies about it; None where it can do nothing."""
    if cell.resource in holder.essential:
        return AccessRow(
            holder.subject, cell.resource, "allow", cell.able[FULL], "full", "ESSENTIAL_TOOL", ()
        )
    level = holder.bound.get(cell.resource, 0)
    if cell.is_capped:
        level = min(level, role_cap(cell, holder.departments, holder.names, holder.rank))
    actions = cell.able[level]
    if not actions:
        return None
    return AccessRow(holder.subject, cell.resource, "allow", actions, LEVELS[level], "BOUND_TO_ROLE", ())


def role_cap(cell: Cell, departments: frozenset[str], names: frozenset[str], rank: int) -> int:
    """The most that the declaration of a tool leaves a role."""
    if cell.departments is not None and cell.departments.isdisjoint(departments):
        return 0
    if cell.restricted_to is not None and cell.restricted_to.isdisjoint(names):
        return 0
    if cell.qualifications:
        return 0
    return FULL if cell.rank_levels is None else cell.rank_levels[rank]


def candidate_roles(tables: AccessTables, cell: Cell) -> Iterable[str]:
    """The roles a plain tool is given to, in the order of the hierarchy."""
    view = tables.view
    if cell.is_essential:
        return view.roles
    order = view.order
    return sorted((role for role in _levels(tables, cell) if role in order), key=order.__getitem__)


def settled_role(tables: AccessTables, cell: Cell, role_id: str, action: str) -> AccessRow | None:
    """The row of a role that no policy speaks of, without making a holder of it; None where it cannot."""
    if cell.is_essential and cell.resource in tables.essential_of(role_id):
        return AccessRow(f"role:{role_id}", cell.resource, "allow", (action,), "full", "ESSENTIAL_TOOL", ())
    level = _levels(tables, cell).get(role_id, 0)
    if level and cell.is_capped:
        level = min(level, role_cap(cell, *tables.traits(role_id)))
    if level < cell.required[action]:
        return None
    return AccessRow(f"role:{role_id}", cell.resource, "allow", (action,), LEVELS[level], "BOUND_TO_ROLE", ())


def _levels(tables: AccessTables, cell: Cell) -> Mapping[str, int]:
    """Role to the level it is equipped with the tool at; kept for the tool that was asked for last."""
    known = tables.last_levels
    if known is None or known[0] is not cell:
        held = tables.view.holder_levels_of(cell.id)
        known = tables.last_levels = cell, {role_id: LEVEL[level] for role_id, level in held.items()}
    return known[1]
