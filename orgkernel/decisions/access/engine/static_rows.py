"""What roles can do with tools where documents alone decide: the rows of lists without evaluating one by one.

Where nothing is stored for a role about a tool, no policy about the role depends on circumstances and the request is part
of no run, what it can do with the tool follows from two numbers. This module stands aside for every tool about which a layer has a say that it
does not know. The law `fast_equals_layered` compares its rows with those of the layers; `python -m benchmarks --only engine`
shows what it brings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.decision import AccessRow
from orgkernel.decisions.access.evaluation import is_of_run
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.resource import FULL, Resource
from orgkernel.decisions.access.stored import (
    NOTHING_GRANTED,
    GrantedLevel,
    compute_lowest_restriction,
    find_given,
    is_stored_about,
)
from orgkernel.decisions.access.stored_index import find_about
from orgkernel.decisions.access.subject import Subject
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.documents.records import LEVELS
from orgkernel.engines import is_on

NOTHING_STORED: tuple[GrantedLevel, int] = (NOTHING_GRANTED, FULL)
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
    static = is_on("static_rows") and subject.group == "role" and not subject.depends
    return static and not is_of_run(request, state)


def is_static_resource(tables: AccessTables, resource: Resource, path: str | None) -> bool:
    """Whether a resource is a tool about which only layers have a say that this module knows."""
    if path is not None or resource.kind != "tool" or resource.unknown:
        return False
    if resource.has_file_scope or resource.is_divided:
        return False
    return tables.order.compile_moves(resource, resource.least_action, "role").names <= _KNOWN


def compute_static_row(
    subject: Subject,
    resource: Resource,
    action: str = "",
    given: GrantedLevel = NOTHING_GRANTED,
    left: int = FULL,
) -> AccessRow | None:
    """The row of a tool for a role, of all its actions or of one; None where it can do nothing.

    `given` is what stored grants add, and `left` what stored restrictions leave.
    """
    name = resource.resource
    top, asks = FULL, False
    if subject.policies and subject.deciding is not None:
        _, top, denies, asks = subject.deciding.effects.get(name) or subject.deciding.compute_effect(resource)
        if denies:
            return None
    bound = subject.bound.get(name, 0)
    if name in subject.essential:
        level = FULL
    else:
        level = max(bound, given.level)
        level = min(level, top)
        cap = _compute_cap(subject, resource, given.waives)
        level = min(level, cap)
    level = min(level, left)
    actions = (action,) if action else resource.able[level]
    if not actions or (action and resource.required[action] > level):
        return None
    if asks:
        return AccessRow(subject.subject, name, "ask", actions, LEVELS[level], "ASK_APPROVAL", ())
    if name in subject.essential:
        code = "ESSENTIAL_TOOL"
    else:
        code = "BOUND_TO_ROLE" if bound >= resource.required[actions[0]] else "GRANTED"
    return AccessRow(subject.subject, name, "allow", actions, LEVELS[level], code, ())


def _compute_cap(subject: Subject, resource: Resource, waives: Mapping[str, int]) -> int:
    """The most that the declaration of a tool leaves a role."""
    top = FULL
    if resource.departments is not None and resource.departments.isdisjoint(subject.departments):
        top = waives.get("visibility", 0)
    if resource.restricted_to is not None and resource.restricted_to.isdisjoint(subject.names):
        top = min(top, waives.get("restricted_to", 0))
    if resource.qualifications:
        top = min(top, waives.get("qualification", 0))
    if resource.rank_levels is not None:
        top = min(top, max(resource.rank_levels[subject.rank], waives.get("rank", 0)))
    return top


def get_stored_level(
    subject: Subject, resource: Resource, tables: AccessTables, context: AccessContext, state: StateView
) -> tuple[GrantedLevel, int] | None:
    """What is stored for a role about a tool, where no circumstance and no end changes it; else None."""
    now = context.now
    grants = find_about(state.grants, subject.keys, resource) if state.grants else ()
    restrictions = find_about(state.restrictions, subject.keys, resource) if state.restrictions else ()
    if not (grants or restrictions):
        return NOTHING_STORED
    for about in (*grants, *restrictions):
        if not about.is_plain or not about.is_lasting(now):
            return None
    given = NOTHING_GRANTED
    if grants:
        given = find_given(
            state.grants, subject.keys, resource, None, "", tables.org_id, tables.snapshot, context
        )
    if given.level and subject.deciding is not None:
        asks = (subject.deciding.effects.get(resource.resource) or subject.deciding.compute_effect(resource))[
            3
        ]
        if asks:  # somebody has been asked about a part of the actions
            return None
    if not restrictions:
        return given, FULL
    return given, compute_lowest_restriction(
        state.restrictions, subject.keys, resource, None, tables.org_id, now
    )


def compute_static_rows_of_roles(
    tables: AccessTables, request: AccessRequest, state: StateView, candidates: Callable[[], tuple[str, ...]]
) -> tuple[AccessRow, ...] | None:
    """The rows of all roles that can do something with a tool by documents alone, kept; None where more decides about any.

    What is stored for roles about the tool is not in them: `find_roles_with_rows_about` names those roles.
    """
    resource, path = tables.find(request.resource)
    if not is_on("static_rows") or tables.policies.crew_depends or request.action not in resource.required:
        return None
    if is_of_run(request, state) or not is_static_resource(tables, resource, path):
        return None
    rows = tables.rows.get((request.action, resource.resource))
    if rows is None:
        subjects = (tables.find_subject(each) for each in candidates())
        candidate_rows = (
            compute_static_row(each, resource, request.action) for each in subjects if each is not None
        )
        if len(tables.rows) >= _MOST_KEPT:
            tables.rows.clear()
        rows = tables.rows[request.action, resource.resource] = tuple(
            [row for row in candidate_rows if row is not None]
        )
    return rows


def find_roles_with_rows_about(tables: AccessTables, state: StateView, resource: Resource) -> tuple[str, ...]:
    """The roles for which something is stored about a resource."""
    if not (state.grants or state.restrictions):
        return ()
    stored = tables.find_roles_with_stored_rows(state)
    return tuple(role for role in stored if is_stored_about(state, (role,), resource))
