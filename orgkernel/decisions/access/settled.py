"""Answers about roles that nothing but the documents decides: the fast way for lists, by tables.

Where nothing is stored for a role, no policy about it depends on circumstances and the request is part of no run, what
it can do with a tool follows from two numbers. The law `forward_and_reverse_agree` holds these answers against those
decided one by one.
"""

from __future__ import annotations

from orgkernel.decisions.access.cells import FULL, Cell
from orgkernel.decisions.access.codes import POLICY_DENY
from orgkernel.decisions.access.decision import AccessRow
from orgkernel.decisions.access.holders import Holder
from orgkernel.decisions.access.request import AccessContext, AccessRequest
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
