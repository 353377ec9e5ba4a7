"""Answers about roles that nothing but the documents decides: the fast way for lists, by tables.

Where nothing is stored for a role, no policy about it depends on circumstances and the request is part of no run, what
it can do with a tool follows from two numbers. The law `forward_and_reverse_agree` holds these answers against those
decided one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from orgkernel.decisions.access.cells import FULL, LEVEL, Cell
from orgkernel.decisions.access.codes import POLICY_DENY
from orgkernel.decisions.access.decision import AccessRow, Outcome
from orgkernel.decisions.access.holders import Holder
from orgkernel.decisions.access.policies import NOTHING_SAID, Said
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.subjects import identify_role
from orgkernel.decisions.access.tables import AccessTables
from orgkernel.decisions.state_view import StateView
from orgkernel.records.levels import LEVELS


def is_settled(holder: Holder, state: StateView, request: AccessRequest) -> bool:
    """Whether only the documents decide what this subject can do."""
    if holder.identity.kind != "role" or holder.depends or request.on_behalf_of is not None:
        return False
    if request.via or request.envelope is not None or not is_calm(request.context):
        return False
    return not any(
        key in state.grants or key in state.restrictions or key in state.raised for key in holder.keys
    )


def is_calm(context: AccessContext) -> bool:
    """Whether circumstances bring nothing along that could cap a tool."""
    return not context.depth and context.pace is None and context.input is None


def settled_row(holder: Holder, cell: Cell) -> AccessRow | None:
    """The row of a plain tool, for a settled subject; None where it can do nothing."""
    resource = cell.resource
    top, stops = FULL, 0
    if holder.policies and holder.deciding is not None:
        _, top, stops = holder.deciding.said.get(resource) or holder.deciding.say(cell)
        if stops & POLICY_DENY:
            return None
    if resource in holder.essential:
        level, code = FULL, "ESSENTIAL_TOOL"
    else:
        level, code = holder.bound.get(resource, 0), "BOUND_TO_ROLE"
        if cell.is_capped:
            cap = role_cap(cell, holder.departments, holder.names, holder.rank)
            level = min(level, cap)
        level = min(level, top)
    actions = cell.able[level]
    if not actions:
        return None
    if stops:
        return AccessRow(holder.subject, resource, "ask", actions, LEVELS[level], "ASK_APPROVAL", ())
    return AccessRow(holder.subject, resource, "allow", actions, LEVELS[level], code, ())


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


def settled_role(tables: AccessTables, cell: Cell, role_id: str, action: str, said: Said) -> AccessRow | None:
    """The row of a role that no policy names, without making a holder of it; None where it cannot.

    `said` is what policies say of the tool to every such role.
    """
    if said[2] & POLICY_DENY:
        return None
    if cell.is_essential and cell.resource in tables.essential_of(role_id):
        level, code = FULL, "ESSENTIAL_TOOL"
    else:
        level, code = _levels(tables, cell).get(role_id, 0), "BOUND_TO_ROLE"
        if level and cell.is_capped:
            level = min(level, role_cap(cell, *tables.traits(role_id)))
        level = min(level, said[1])
    if level < cell.required[action]:
        return None
    outcome: Outcome = "ask" if said[2] else "allow"
    code = "ASK_APPROVAL" if said[2] else code
    return AccessRow(f"role:{role_id}", cell.resource, outcome, (action,), LEVELS[level], code, ())


def said_of_roles(tables: AccessTables, cell: Cell, roles: Iterable[str]) -> Said:
    """What policies say of a tool to every role that none of them names."""
    for role_id in roles:
        if not tables.policies.concern_role(role_id):
            found = tables.policies.set_of_roles(identify_role(tables.view, (role_id,)))
            return NOTHING_SAID if found is None else found.say(cell)
    return NOTHING_SAID


def _levels(tables: AccessTables, cell: Cell) -> Mapping[str, int]:
    """Role to the level it is equipped with the tool at; kept for the tool that was asked for last."""
    known = tables.last_levels
    if known is None or known[0] is not cell:
        held = tables.view.holder_levels_of(cell.id)
        known = tables.last_levels = cell, {role_id: LEVEL[level] for role_id, level in held.items()}
    return known[1]
