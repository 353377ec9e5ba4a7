"""Compute the rows of lists for roles and tools without one evaluation each, where only documents decide.

If no grant or restriction is stored for a role and tool, no policy about the role depends on circumstances and the
request is not part of a run, then two numbers decide: the granted level and the ceiling. This module does not handle
a tool if a layer applies to it that is not listed here. The law `fast_equals_layered` compares its rows with those of the layers; `python -m benchmarks --only engine`
measures the gain.
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
_MAX_CACHED = 1_000
"""The number of questions "who can" whose rows are cached."""


def is_static_subject(subject: Subject, request: AccessRequest, state: StateView) -> bool:
    """Whether a subject is a role that only documents decide about, in a request that is not part of a run."""
    static = is_on("static_rows") and subject.group == "role" and not subject.depends_on_circumstances
    return static and not is_of_run(request, state)


def is_static_resource(tables: AccessTables, resource: Resource, path: str | None) -> bool:
    """Whether a resource is a tool to which only the layers in this module apply."""
    if path is not None or resource.kind != "tool" or resource.unknown:
        return False
    if resource.has_file_scope or resource.is_divided or resource.input_limits:
        return False
    return tables.order.compile_steps(resource, resource.least_action, "role").names <= _KNOWN


def compute_static_row(
    subject: Subject,
    resource: Resource,
    action: str = "",
    granted_level: GrantedLevel = NOTHING_GRANTED,
    left: int = FULL,
) -> AccessRow | None:
    """The row of a tool for a role, for all its actions or for one; None if the role can do nothing with it.

    `granted_level` is the level from stored grants, and `left` the highest level that stored restrictions allow.
    """
    name = resource.resource
    top, asks = FULL, False
    if subject.policies and subject.deciding_policies is not None:
        _, top, denies, asks = subject.deciding_policies.effects.get(
            name
        ) or subject.deciding_policies.compute_effect(resource)
        if denies:
            return None
    bound = subject.bound.get(name, 0)
    if name in subject.essential:
        level = FULL
    else:
        level = max(bound, granted_level.level)
        level = min(level, top)
        cap = _compute_cap(subject, resource, granted_level.waives)
        level = min(level, cap)
    # Restrictions also limit essential tools: they are the way to stop an agent.
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
    """The highest level that the declaration of a tool allows a role."""
    top = FULL
    if resource.departments is not None and resource.departments.isdisjoint(subject.departments):
        # A limit lowers the level to what a grant lifts it to, which is nothing if no grant waives it.
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
    """The stored level of a role for a tool, if no circumstance and no expiry can change it; else None."""
    now = context.now
    grants = find_about(state.grants, subject.keys, resource) if state.grants else ()
    restrictions = find_about(state.restrictions, subject.keys, resource) if state.restrictions else ()
    if not (grants or restrictions):
        return NOTHING_STORED
    for about in (*grants, *restrictions):
        # A row that ends or that needs a circumstance makes the answer conditional, which takes an evaluation.
        if not about.is_plain or not about.is_lasting(now):
            return None
    given = NOTHING_GRANTED
    if grants:
        given = find_given(
            state.grants, subject.keys, resource, None, "", tables.org_id, tables.snapshot, context
        )
    if given.level and subject.deciding_policies is not None:
        asks = (
            subject.deciding_policies.effects.get(resource.resource)
            or subject.deciding_policies.compute_effect(resource)
        )[3]
        if asks:  # an approval gave only some of the actions
            return None
    if not restrictions:
        return given, FULL
    return given, compute_lowest_restriction(
        state.restrictions, subject.keys, resource, None, tables.org_id, now
    )


def compute_static_rows_of_roles(
    tables: AccessTables, request: AccessRequest, state: StateView, candidates: Callable[[], tuple[str, ...]]
) -> tuple[AccessRow, ...] | None:
    """The cached rows of all roles that can use a tool because of documents alone; None if anything else decides about
    one.

    Roles with stored rows about the tool are left out; `find_roles_with_rows_about` names those roles.
    """
    resource, path = tables.find(request.resource)
    if (
        not is_on("static_rows")
        or tables.policies.crew_depends_on_circumstances
        or request.action not in resource.required
    ):
        return None
    # In a run, the principals, the depth and the tier decide too.
    if is_of_run(request, state) or not is_static_resource(tables, resource, path):
        return None
    rows = tables.rows.get((request.action, resource.resource))
    if rows is None:
        subjects = (tables.find_subject(each) for each in candidates())
        candidate_rows = (
            compute_static_row(each, resource, request.action) for each in subjects if each is not None
        )
        if len(tables.rows) >= _MAX_CACHED:
            tables.rows.clear()
        rows = tables.rows[request.action, resource.resource] = tuple(
            [row for row in candidate_rows if row is not None]
        )
    return rows


def find_roles_with_rows_about(tables: AccessTables, state: StateView, resource: Resource) -> tuple[str, ...]:
    """The roles that have stored grants or restrictions about a resource."""
    if not (state.grants or state.restrictions):
        return ()
    stored = tables.find_roles_with_stored_rows(state)
    return tuple(role for role in stored if is_stored_about(state, (role,), resource))
