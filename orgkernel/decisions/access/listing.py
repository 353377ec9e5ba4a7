"""Reverse access questions: what a subject can do, and which subjects can do something.

Every row comes from the decision itself, so lists and decisions cannot disagree. A row is conditional if the most
favorable and the least favorable circumstances would not both lead to its outcome, so that a time, channel, path or
lock could change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from orgkernel.decisions.access.candidates import find_candidate_resources, find_candidate_subjects
from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.decision import AccessRow, Outcome
from orgkernel.decisions.access.engine.static_rows import (
    NOTHING_STORED,
    compute_static_row,
    compute_static_rows_of_roles,
    find_roles_with_rows_about,
    get_stored_level,
    is_static_resource,
    is_static_subject,
)
from orgkernel.decisions.access.evaluation import Evaluation, evaluate
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.resource import Resource
from orgkernel.decisions.access.stored import GrantedLevel, is_stored_for
from orgkernel.decisions.access.stored_index import find_about
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.state_view import EMPTY_STATE, StateView
from orgkernel.graph.questions import OrgView

SUBJECT_KINDS = ("role", "agent", "person", "system", "webhook")


RowBuilder = Callable[[Evaluation, str], AccessRow | None]
"""A function that builds the row of an evaluation for a resource name."""


def who_can(
    view: OrgView,
    action: str,
    resource: str,
    *,
    context: AccessContext = AccessContext(),  # noqa: B008  (frozen)
    state: StateView = EMPTY_STATE,
    kinds: Iterable[str] = SUBJECT_KINDS,
) -> tuple[AccessRow, ...]:
    """Every subject of these kinds that may do this, must ask, or could in other circumstances.

    Roles come first, in the order of the hierarchy; the other subjects follow in the order of declaration.
    """
    return _list_subjects(
        get_access_tables(view), AccessRequest("", action, resource, context), state, tuple(kinds), _build_row
    )


def find_allowed_crew(tables: AccessTables, request: AccessRequest, state: StateView) -> tuple[str, ...]:
    """Roles and agents that may do this without asking, computed as in `who_can`. The subject of the request is ignored."""
    # The principal and the delegation path belong to the subject of the request, and each candidate is asked in its own name.
    plain = AccessRequest("", request.action, request.resource, request.context)
    rows = _list_subjects(tables, plain, state, ("role", "agent"), _build_outcome_row)
    return tuple([row.subject for row in rows if row.outcome == "allow"])


def _list_subjects(
    tables: AccessTables,
    request: AccessRequest,
    state: StateView,
    kinds: tuple[str, ...],
    build_row: RowBuilder,
) -> tuple[AccessRow, ...]:
    request = tables.with_status(request, state)
    resource, path = tables.find(request.resource)
    request = msgspec.structs.replace(
        request, action=resource.read_action(request.action, request.context.input)
    )
    roles = None
    if "role" in kinds:
        roles = compute_static_rows_of_roles(
            tables, request, state, lambda: find_candidate_subjects(tables, EMPTY_STATE, resource, ("role",))
        )
    if roles is None:
        return _ask_all(tables, state, resource, path, request, kinds, build_row)
    # The cached rows depend only on documents. Roles with stored rows are evaluated one by one and merged in order.
    roles_with_rows = find_roles_with_rows_about(tables, state, resource)
    if roles_with_rows:
        role_order = tables.view.order
        declared = (each for each in roles_with_rows if each.removeprefix("role:") in role_order)
        evaluated = _ask_each(tables, state, resource, path, request, declared, build_row)
        kept = (row for row in roles if row.subject not in roles_with_rows)
        roles = tuple(
            sorted((*kept, *evaluated), key=lambda row: role_order[row.subject.removeprefix("role:")])
        )
    rest = tuple(kind for kind in kinds if kind != "role")
    return roles + _ask_all(tables, state, resource, path, request, rest, build_row) if rest else roles


def _ask_all(
    tables: AccessTables,
    state: StateView,
    resource: Resource,
    path: str | None,
    request: AccessRequest,
    kinds: tuple[str, ...],
    build_row: RowBuilder,
) -> tuple[AccessRow, ...]:
    """The rows of all candidates of these kinds, each evaluated on its own."""
    subjects = find_candidate_subjects(tables, state, resource, kinds)
    return tuple(_ask_each(tables, state, resource, path, request, subjects, build_row))


def _ask_each(
    tables: AccessTables,
    state: StateView,
    resource: Resource,
    path: str | None,
    request: AccessRequest,
    subjects: Iterable[str],
    build_row: RowBuilder,
) -> Iterator[AccessRow]:
    paths = tables.read_paths(resource, path, request.context.input)
    for written in subjects:
        subject = tables.find_subject(written)
        if subject is not None:
            evaluation = Evaluation(tables, state, request, request.action, subject, resource, paths)
            row = build_row(evaluation, request.resource)
            if row is not None:
                yield row


def what_can(
    view: OrgView,
    subject: str,
    *,
    request: AccessRequest | None = None,
    state: StateView = EMPTY_STATE,
    kinds: Iterable[str] = ("tool",),
    without: frozenset[str] = frozenset(),
) -> tuple[AccessRow, ...]:
    """Every resource of these kinds that a subject may use, must ask for, or could use in other circumstances.

    `request` states the circumstances: context, principal and delegation path. If its action or resource is not empty, the
    list is limited to it. A resource has one row for each outcome. `without` names policies to leave out, for a caller
    that enforces these policies itself.
    """
    tables = get_access_tables(view).copy_without_policies(without) if without else get_access_tables(view)
    full_request = (
        msgspec.structs.replace(request, subject=subject) if request else AccessRequest(subject, "", "")
    )
    return list_resources(tables, full_request, state, kinds)


def list_resources(
    tables: AccessTables, request: AccessRequest, state: StateView, kinds: Iterable[str]
) -> tuple[AccessRow, ...]:
    """What the subject of a request may use, as in `what_can`, according to some tables."""
    known_subject = tables.find_subject(request.subject)
    if known_subject is None:
        return ()
    full_request = tables.with_status(request, state)
    # Cached rows hold all actions of a resource, so a list about one action is evaluated.
    static = not full_request.action and is_static_subject(known_subject, full_request, state)
    stored = static and is_stored_for(state, known_subject.keys)
    rows: list[AccessRow] = []
    resource_names = (
        (full_request.resource,)
        if full_request.resource
        else find_candidate_resources(tables, state, known_subject, tuple(kinds))
    )
    for written in resource_names:
        resource, path = tables.resources.get(written), None
        if resource is None:
            resource, path = tables.find(written)
        stored_level: tuple[GrantedLevel, int] | None = None
        if static and is_static_resource(tables, resource, path):
            stored_level = (
                get_stored_level(known_subject, resource, tables, full_request.context, state)
                if stored
                else NOTHING_STORED
            )
        if stored_level is not None:
            row = compute_static_row(known_subject, resource, "", *stored_level)
            if row is not None:
                rows.append(row)
        else:
            paths = tables.read_paths(resource, path, full_request.context.input)
            evaluation = Evaluation(
                tables, state, full_request, full_request.action, known_subject, resource, paths
            )
            rows += _build_rows(evaluation, full_request.resource or resource.resource)
    return tuple(rows)


def _build_rows(template: Evaluation, name: str) -> Iterable[AccessRow]:
    """The rows of a resource, one for each outcome of its actions."""
    requested_action, required = template.request.action, template.resource.required
    rows: dict[tuple[Outcome, tuple[str, ...]], AccessRow] = {}
    for group in _group_actions(template):
        actions = tuple(action for action in group if requested_action in ("", action))
        # An action that the tool does not list by name has the outcome of the listed actions of its level.
        if not actions and requested_action in required and required[requested_action] == required[group[0]]:
            actions = (requested_action,)
        if actions:
            row = _build_row(template.copy_with(action=actions[0]), name, actions)
            if row is not None:
                earlier = rows.get((row.outcome, row.conditions))
                if earlier is not None:
                    row = msgspec.structs.replace(earlier, actions=(*earlier.actions, *row.actions))
                rows[row.outcome, row.conditions] = row
    return rows.values()


def _group_actions(template: Evaluation) -> Iterable[tuple[str, ...]]:
    """Actions that always have the same outcome: those of one level, unless a grant is for one of them only."""
    grants = find_about(template.state.grants, template.subject.keys, template.resource)
    if any(about.has_actions for about in grants):
        requested_action, resource = template.request.action, template.resource
        if requested_action:
            return ((requested_action,),) if requested_action in resource.required else ()
        return tuple((action,) for group in resource.action_groups for action in group)
    return template.resource.action_groups


def _build_outcome_row(evaluation: Evaluation, name: str) -> AccessRow | None:
    """The row of an allowed resource, for callers that do not read its conditions."""
    if evaluate(evaluation).outcome != "allow":
        return None
    return AccessRow(evaluation.subject.subject, name, "allow", (evaluation.action,), "", "", ())


def _build_row(evaluation: Evaluation, name: str, actions: tuple[str, ...] = ()) -> AccessRow | None:
    """The row of an evaluation; None if the subject cannot do anything in any circumstances."""
    evaluate(evaluation)
    outcome, order = evaluation.outcome, evaluation.tables.order
    conditions = find_conditions(evaluation, outcome)
    if outcome == "deny" and not conditions:
        return None
    code = order.get_code_names(evaluation.failing or evaluation.sources)[0]
    level = evaluation.resource.levels[evaluation.left]
    return AccessRow(
        evaluation.subject.subject, name, outcome, actions or (evaluation.action,), level, code, conditions
    )


def find_conditions(evaluation: Evaluation, outcome: Outcome) -> tuple[str, ...]:
    """What could change the outcome, each as `KEY:VALUE`; empty if nothing could."""
    words = _list_circumstances(evaluation, outcome)
    first = next(words, None)
    if first is None:
        return ()
    # Two evaluations are enough: no circumstances are more favorable than the first or less favorable than the second.
    if any(_suppose(evaluation, is_favorable) != outcome for is_favorable in (True, False)):
        return tuple(dict.fromkeys((first, *words)))
    return ()


def find_extremes(evaluation: Evaluation) -> tuple[Outcome, Outcome]:
    """The outcomes in the most and in the least favorable circumstances."""
    return _suppose(evaluation, is_favorable=True), _suppose(evaluation, is_favorable=False)


def _suppose(evaluation: Evaluation, is_favorable: bool) -> Outcome:
    supposed = evaluation.copy_with()
    for layer in evaluation.tables.order.depending:
        layer.suppose(supposed, is_favorable)
    return evaluate(supposed).outcome


def _list_circumstances(evaluation: Evaluation, outcome: Outcome) -> Iterator[str]:
    depending = evaluation.tables.order.depending
    return (word for layer in depending for word in layer.circumstances(evaluation, outcome))
