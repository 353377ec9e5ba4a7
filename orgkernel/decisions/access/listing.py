"""Access the other way round: what can this subject do, and who can do this? (design §6)

Every row is what the decision itself says of it, so lists, reverse questions and checks cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from orgkernel.decisions.access.able_roles import AbleRoles, find_able_roles
from orgkernel.decisions.access.candidates import candidate_resources, candidate_subjects
from orgkernel.decisions.access.cells import Cell
from orgkernel.decisions.access.codes import names_of, sources_of
from orgkernel.decisions.access.conditional import find_conditions, outcome_of
from orgkernel.decisions.access.decision import AccessRow, Outcome
from orgkernel.decisions.access.evaluate import level_left
from orgkernel.decisions.access.holders import Holder
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.run import weigh_run
from orgkernel.decisions.access.settled import is_calm, is_settled, settled_row
from orgkernel.decisions.access.tables import AccessTables, tables_of
from orgkernel.decisions.state_view import EMPTY_STATE, StateView
from orgkernel.graph.questions import OrgView

SUBJECT_KINDS = ("role", "agent", "person", "system", "webhook")


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
    tables = tables_of(view)
    cell, path = tables.find(resource)
    wanted = tuple(kinds)
    asked = AccessRequest("", action, resource, context)
    able = _able_roles(tables, state, cell, path, asked) if "role" in wanted else None
    if able is None:
        return _ask_all(tables, state, cell, path, asked, wanted)
    rest = tuple(kind for kind in wanted if kind != "role")
    return able.rows + _ask_all(tables, state, cell, path, asked, rest) if rest else able.rows


def crew_allowed(tables: AccessTables, asked: AccessRequest, state: StateView) -> tuple[str, ...]:
    """Roles and agents that may do this without asking, by what `who_can` says of them; the subject is not looked at."""
    cell, path = tables.find(asked.resource)
    able = _able_roles(tables, state, cell, path, asked)
    kinds = ("role", "agent") if able is None else ("agent",)
    rows = _ask_all(tables, state, cell, path, asked, kinds)
    others = tuple(row.subject for row in rows if row.outcome == "allow")
    return others if able is None else able.allowed + others


def _roles_are_settled(
    tables: AccessTables, cell: Cell, path: str | None, action: str, context: AccessContext
) -> bool:
    """Whether what roles can do with a resource depends on documents only, and not on the circumstances."""
    plain = cell.is_plain and path is None and action in cell.required
    return plain and is_calm(context) and not tables.policies.crew_depends


def _able_roles(
    tables: AccessTables, state: StateView, cell: Cell, path: str | None, asked: AccessRequest
) -> AbleRoles | None:
    """The roles that can do this; None where more than documents decides about some."""
    stored = (state.grants or state.restrictions or state.raised) and tables.roles_with_stored(state)
    if stored or not _roles_are_settled(tables, cell, path, asked.action, asked.context):
        return None
    request = AccessRequest("", asked.action, cell.resource)

    def decide(role_id: str) -> AccessRow | None:
        holder = tables.holder(f"role:{role_id}")
        assert holder is not None
        return _row(tables, EMPTY_STATE, holder, cell, None, request, (asked.action,))

    return find_able_roles(tables, cell, asked.action, decide)


def _ask_all(
    tables: AccessTables,
    state: StateView,
    cell: Cell,
    path: str | None,
    asked: AccessRequest,
    kinds: tuple[str, ...],
) -> tuple[AccessRow, ...]:
    """Every candidate of these kinds, asked one by one."""
    rows = []
    for subject in candidate_subjects(tables, state, cell, kinds):
        holder = tables.holder(subject)
        if holder is not None:
            request = AccessRequest(subject, asked.action, asked.resource, asked.context)
            row = _row(tables, state, holder, cell, path, request, (asked.action,))
            if row is not None:
                rows.append(row)
    return tuple(rows)


def what_can(
    view: OrgView,
    subject: str,
    *,
    request: AccessRequest | None = None,
    state: StateView = EMPTY_STATE,
    kinds: Iterable[str] = ("tool",),
) -> tuple[AccessRow, ...]:
    """Everything of these kinds that a subject may do, must ask for, or could do in other circumstances.

    `request` says the circumstances: its context, on whose behalf and by which path of delegation; its action and
    resource, where they are not empty, narrow the list to them. One row for each outcome of a resource.
    """
    tables = tables_of(view)
    holder = tables.holder(subject)
    if holder is None:
        return ()
    asked = msgspec.structs.replace(request, subject=subject) if request else AccessRequest(subject, "", "")
    fast = not asked.action and is_settled(holder, state, asked)
    rows: list[AccessRow] = []
    wanted = (asked.resource,) if asked.resource else candidate_resources(tables, state, holder, tuple(kinds))
    for resource in wanted:
        cell, path = tables.cells.get(resource), None
        if cell is None:
            cell, path = tables.find(resource)
        if fast and cell.is_plain and path is None:
            row = settled_row(holder, cell)
            if row is not None:
                rows.append(row)
        else:
            rows += _rows(tables, state, holder, (cell, path), asked)
    return tuple(rows)


def _rows(
    tables: AccessTables,
    state: StateView,
    holder: Holder,
    found: tuple[Cell, str | None],
    asked: AccessRequest,
) -> Iterator[AccessRow]:
    cell, path = found
    by_outcome: dict[tuple[Outcome, tuple[str, ...]], AccessRow] = {}
    for actions in cell.action_groups:
        wanted = tuple(action for action in actions if asked.action in ("", action))
        if (
            not wanted
            and asked.action in cell.required
            and cell.required[asked.action] == cell.required[actions[0]]
        ):
            wanted = (asked.action,)
        if not wanted:
            continue
        request = msgspec.structs.replace(asked, action=wanted[0], resource=asked.resource or cell.resource)
        row = _row(tables, state, holder, cell, path, request, wanted)
        if row is None:
            continue
        key = row.outcome, row.conditions
        if key in by_outcome:
            row = msgspec.structs.replace(by_outcome[key], actions=(*by_outcome[key].actions, *row.actions))
        by_outcome[key] = row
    yield from by_outcome.values()


def _row(
    tables: AccessTables,
    state: StateView,
    holder: Holder,
    cell: Cell,
    path: str | None,
    request: AccessRequest,
    actions: tuple[str, ...],
) -> AccessRow | None:
    verdict = weigh_run(tables, state, holder, cell, request.action, path, request)
    failing = verdict[0]
    outcome = outcome_of(failing)
    conditions = find_conditions(tables, state, holder, cell, request, outcome)
    if outcome == "deny" and not conditions:
        return None
    code = names_of(failing)[0] if failing else sources_of(verdict[3])[0]
    return AccessRow(
        holder.subject, request.resource, outcome, actions, cell.levels[level_left(verdict)], code, conditions
    )
