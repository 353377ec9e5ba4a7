"""Access the other way round: what can this subject do, and who can do this?

Every row is what the decision itself says of it, so lists, reverse questions and checks cannot disagree. A row says
whether a time, channel, path or lock could change it: it is conditional when the kindest circumstances and the unkindest
ones would not both lead to its outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from orgkernel.decisions.access.candidates import candidate_resources, candidate_subjects
from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.decision import AccessRow, Outcome
from orgkernel.decisions.access.engine.static_rows import (
    NOTHING_STORED,
    is_static_resource,
    is_static_subject,
    roles_stored_for,
    static_roles,
    static_row,
    stored_for,
)
from orgkernel.decisions.access.evaluation import Evaluation, evaluate
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.resource import Resource
from orgkernel.decisions.access.stored import GrantedLevel, is_stored_for
from orgkernel.decisions.access.stored_index import find_about
from orgkernel.decisions.access.tables import tables_of
from orgkernel.decisions.evidence.state_view import EMPTY_STATE, StateView
from orgkernel.graph.questions import OrgView

SUBJECT_KINDS = ("role", "agent", "person", "system", "webhook")


Teller = Callable[[Evaluation, str], AccessRow | None]
"""What makes a row of a question about a resource as it is written."""


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

    Roles in the order of the hierarchy, then the others as they are declared.
    """
    return _who_can(tables_of(view), AccessRequest("", action, resource, context), state, tuple(kinds), _row)


def crew_allowed(tables: AccessTables, asked: AccessRequest, state: StateView) -> tuple[str, ...]:
    """Roles and agents that may do this without asking, by what `who_can` says of them; the subject is not looked at."""
    plain = AccessRequest("", asked.action, asked.resource, asked.context)
    rows = _who_can(tables, plain, state, ("role", "agent"), _outcome_row)
    return tuple([row.subject for row in rows if row.outcome == "allow"])


def _who_can(
    tables: AccessTables, asked: AccessRequest, state: StateView, kinds: tuple[str, ...], tell: Teller
) -> tuple[AccessRow, ...]:
    asked = tables.with_status(asked, state)
    resource, path = tables.find(asked.resource)
    roles = None
    if "role" in kinds:
        roles = static_roles(
            tables, asked, state, lambda: candidate_subjects(tables, EMPTY_STATE, resource, ("role",))
        )
    if roles is None:
        return _ask_all(tables, state, resource, path, asked, kinds, tell)
    apart = roles_stored_for(tables, state, resource)
    if apart:
        place = tables.view.order
        declared = (each for each in apart if each[5:] in place)
        more = _ask_each(tables, state, resource, path, asked, declared, tell)
        kept = (row for row in roles if row.subject not in apart)
        roles = tuple(sorted((*kept, *more), key=lambda row: place[row.subject[5:]]))
    rest = tuple(kind for kind in kinds if kind != "role")
    return roles + _ask_all(tables, state, resource, path, asked, rest, tell) if rest else roles


def _ask_all(
    tables: AccessTables,
    state: StateView,
    resource: Resource,
    path: str | None,
    asked: AccessRequest,
    kinds: tuple[str, ...],
    tell: Teller,
) -> tuple[AccessRow, ...]:
    """Every candidate of these kinds, asked one by one."""
    subjects = candidate_subjects(tables, state, resource, kinds)
    return tuple(_ask_each(tables, state, resource, path, asked, subjects, tell))


def _ask_each(
    tables: AccessTables,
    state: StateView,
    resource: Resource,
    path: str | None,
    asked: AccessRequest,
    subjects: Iterable[str],
    tell: Teller,
) -> Iterator[AccessRow]:
    paths = tables.paths_of(resource, path, asked.context.input)
    for written in subjects:
        subject = tables.subject(written)
        if subject is not None:
            evaluation = Evaluation(tables, state, asked, asked.action, subject, resource, paths)
            row = tell(evaluation, asked.resource)
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
    """Everything of these kinds that a subject may do, must ask for, or could do in other circumstances.

    `request` says the circumstances: its context, on whose behalf and by which path of delegation; its action and
    resource, where they are not empty, narrow the list to them. One row for each outcome of a resource. `without` names
    policies that are left out, by somebody who enforces them.
    """
    tables = tables_of(view).lacking(without) if without else tables_of(view)
    found = tables.subject(subject)
    if found is None:
        return ()
    asked = msgspec.structs.replace(request, subject=subject) if request else AccessRequest(subject, "", "")
    asked = tables.with_status(asked, state)
    static = not asked.action and is_static_subject(found, asked, state)
    stored = static and is_stored_for(state, found.keys)
    rows: list[AccessRow] = []
    wanted = (asked.resource,) if asked.resource else candidate_resources(tables, state, found, tuple(kinds))
    for written in wanted:
        resource, path = tables.resources.get(written), None
        if resource is None:
            resource, path = tables.find(written)
        said: tuple[GrantedLevel, int] | None = None
        if static and is_static_resource(tables, resource, path):
            said = stored_for(found, resource, tables, asked.context, state) if stored else NOTHING_STORED
        if said is not None:
            row = static_row(found, resource, "", *said)
            if row is not None:
                rows.append(row)
        else:
            paths = tables.paths_of(resource, path, asked.context.input)
            evaluation = Evaluation(tables, state, asked, asked.action, found, resource, paths)
            rows += _rows(evaluation, asked.resource or resource.resource)
    return tuple(rows)


def _rows(template: Evaluation, written: str) -> Iterable[AccessRow]:
    """The rows of a resource, its actions asked one by one; one row for each outcome."""
    asked, required = template.request.action, template.resource.required
    rows: dict[tuple[Outcome, tuple[str, ...]], AccessRow] = {}
    for group in _action_groups(template):
        actions = tuple(action for action in group if asked in ("", action))
        if not actions and asked in required and required[asked] == required[group[0]]:
            actions = (asked,)
        if actions:
            row = _row(template.again(action=actions[0]), written, actions)
            if row is not None:
                earlier = rows.get((row.outcome, row.conditions))
                if earlier is not None:
                    row = msgspec.structs.replace(earlier, actions=(*earlier.actions, *row.actions))
                rows[row.outcome, row.conditions] = row
    return rows.values()


def _action_groups(template: Evaluation) -> Iterable[tuple[str, ...]]:
    """The actions that are always decided alike: those of a level, unless a grant gives one of them alone."""
    grants = find_about(template.state.grants, template.subject.keys, template.resource)
    if any(about.has_actions for about in grants):
        asked, resource = template.request.action, template.resource
        if asked:
            return ((asked,),) if asked in resource.required else ()
        return tuple((action,) for group in resource.action_groups for action in group)
    return template.resource.action_groups


def _outcome_row(evaluation: Evaluation, written: str) -> AccessRow | None:
    """The row of what is allowed, where nobody reads what could change it."""
    if evaluate(evaluation).outcome != "allow":
        return None
    return AccessRow(evaluation.subject.subject, written, "allow", (evaluation.action,), "", "", ())


def _row(evaluation: Evaluation, written: str, actions: tuple[str, ...] = ()) -> AccessRow | None:
    """What a list says of a question; None where the subject can do nothing, whatever the circumstances."""
    evaluate(evaluation)
    outcome, order = evaluation.outcome, evaluation.tables.order
    conditions = _find_conditions(evaluation, outcome)
    if outcome == "deny" and not conditions:
        return None
    code = order.names_of(evaluation.failing or evaluation.sources)[0]
    level = evaluation.resource.levels[evaluation.left]
    return AccessRow(
        evaluation.subject.subject, written, outcome, actions or (evaluation.action,), level, code, conditions
    )


def _find_conditions(evaluation: Evaluation, outcome: Outcome) -> tuple[str, ...]:
    """What could change the outcome, each as `KEY:VALUE`; empty where nothing could."""
    words = _circumstances(evaluation, outcome)
    first = next(words, None)
    if first is None:
        return ()
    for kindly in (True, False):
        supposed = evaluation.again()
        for layer in evaluation.tables.order.depending:
            layer.suppose(supposed, kindly)
        if evaluate(supposed).outcome != outcome:
            return tuple(dict.fromkeys((first, *words)))
    return ()


def _circumstances(evaluation: Evaluation, outcome: Outcome) -> Iterator[str]:
    depending = evaluation.tables.order.depending
    return (word for layer in depending for word in layer.circumstances(evaluation, outcome))
