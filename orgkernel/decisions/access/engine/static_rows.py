"""What roles can do with tools where documents alone decide: the rows of lists without evaluating one by one.

Where nothing is stored for a role, no policy about it depends on circumstances and the request is part of no run, what it
can do with a tool follows from two numbers. This module stands aside for every tool about which a layer has a say that it
does not know. The law `fast_equals_layered` compares its rows with those of the layers; `python -m benchmarks` shows what
it brings.
"""

from __future__ import annotations

from collections.abc import Callable

from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.decision import AccessRow
from orgkernel.decisions.access.evaluation import is_of_run
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.resource import FULL, Resource
from orgkernel.decisions.access.stored import is_stored_for
from orgkernel.decisions.access.subject import Subject
from orgkernel.decisions.state_view import StateView
from orgkernel.records.levels import LEVELS

ENABLED = True
"""The switch; without it the same rows take longer."""
_KNOWN = frozenset(
    {
        "visibility", "role binding", "rank", "qualification", "policies", "grants and restrictions", "delegation", "pace",
        "input", "circumstances",
    }
)  # fmt: skip
_MOST_KEPT = 1_000
"""Questions who can whose rows are kept."""


def is_static_subject(subject: Subject, request: AccessRequest, state: StateView) -> bool:
    """Whether a subject is a role about which documents alone decide, in a request that is part of no run."""
    static = ENABLED and subject.group == "role" and not subject.depends
    return static and not is_of_run(request, state) and not is_stored_for(state, subject.keys)


def is_static_resource(tables: AccessTables, resource: Resource, path: str | None) -> bool:
    """Whether a resource is a tool about which only layers have a say that this module knows."""
    if path is not None or resource.kind != "tool" or resource.unknown or resource.is_scoped:
        return False
    return tables.order.moves_of(resource, resource.least_action, "role").names <= _KNOWN


def static_row(subject: Subject, resource: Resource, action: str = "") -> AccessRow | None:
    """The row of a tool for a role, of all its actions or of one; None where it can do nothing."""
    name = resource.resource
    top, asks = FULL, False
    if subject.policies and subject.deciding is not None:
        _, top, denies, asks = subject.deciding.effects.get(name) or subject.deciding.effect_on(resource)
        if denies:
            return None
    if name in subject.essential:
        level, code = FULL, "ESSENTIAL_TOOL"
    else:
        level, code = subject.bound.get(name, 0), "BOUND_TO_ROLE"
        level = min(level, top)
        cap = _cap(subject, resource)
        level = min(level, cap)
    actions = (action,) if action else resource.able[level]
    if not actions or (action and resource.required[action] > level):
        return None
    if asks:
        return AccessRow(subject.subject, name, "ask", actions, LEVELS[level], "ASK_APPROVAL", ())
    return AccessRow(subject.subject, name, "allow", actions, LEVELS[level], code, ())


def _cap(subject: Subject, resource: Resource) -> int:
    """The most that the declaration of a tool leaves a role."""
    if resource.departments is not None and resource.departments.isdisjoint(subject.departments):
        return 0
    if resource.restricted_to is not None and resource.restricted_to.isdisjoint(subject.names):
        return 0
    if resource.qualifications:
        return 0
    return FULL if resource.rank_levels is None else resource.rank_levels[subject.rank]


def static_roles(
    tables: AccessTables, asked: AccessRequest, state: StateView, candidates: Callable[[], tuple[str, ...]]
) -> tuple[AccessRow, ...] | None:
    """The rows of all roles that can do something with a tool, kept; None where more than documents decides."""
    resource, path = tables.find(asked.resource)
    if not ENABLED or tables.policies.crew_depends or asked.action not in resource.required:
        return None
    if is_of_run(asked, state) or not is_static_resource(tables, resource, path):
        return None
    if (state.grants or state.restrictions) and tables.stored_roles(state):
        return None
    rows = tables.rows.get((asked.action, resource.resource))
    if rows is None:
        subjects = (tables.subject(each) for each in candidates())
        found = (static_row(each, resource, asked.action) for each in subjects if each is not None)
        if len(tables.rows) >= _MOST_KEPT:
            tables.rows.clear()
        rows = tables.rows[asked.action, resource.resource] = tuple([row for row in found if row is not None])
    return rows
