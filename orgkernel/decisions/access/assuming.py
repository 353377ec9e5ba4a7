"""Deciding again with changes made: what a remedy assumes is tried, never guessed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from orgkernel.decisions.access import codes
from orgkernel.decisions.access.case import Case
from orgkernel.decisions.access.cells import is_named
from orgkernel.decisions.access.decision import Change
from orgkernel.decisions.access.holders import Assumed, Holder, rank_number
from orgkernel.decisions.access.run import weigh_run
from orgkernel.decisions.access.tables import AccessTables
from orgkernel.decisions.state_view import Grant, Waiver
from orgkernel.records.levels import LEVELS

WAIVERS: tuple[Waiver, ...] = get_args(Waiver)
# The organization and the subject with policies removed and in another role.
Assumption = tuple[AccessTables, Holder]


def failing_after(
    case: Case,
    changes: Iterable[Change],
    assumed: dict[tuple[frozenset[str], str], Assumption] | None = None,
) -> int:
    """What fails when the request is decided again with the changes made.

    `assumed` keeps the subject in another role and with policies removed, for more questions about the same case.
    """
    assert case.holder is not None
    view = case.tables.view
    chosen = list(changes)
    removed = frozenset(change.value for change in chosen if change.kind == "policy_removed")
    if removed and case.cell.kind == "credential" and not is_named(view.records, case.cell.id, removed):
        return codes.CREDENTIAL_UNKNOWN
    role = next((change.value for change in chosen if change.kind == "role"), "")
    kept = {} if assumed is None else assumed
    if (removed, role) not in kept:
        kept[removed, role] = _assume(case, removed, role)
    tables, holder = kept[removed, role]
    ranks = [rank_number(view, change.value) for change in chosen if change.kind == "rank"]
    holder.assumed = Assumed(
        ranks[0] if ranks else None,
        frozenset(change.value for change in chosen if change.kind == "qualification"),
        tuple(_grant(change) for change in chosen if change.kind == "grant"),
    )
    return weigh_run(tables, case.state, holder, case.cell, case.request.action, case.path, case.request)[0]


def _assume(case: Case, removed: frozenset[str], role: str) -> Assumption:
    """The tables without some policies, and the subject, in another role where one is named."""
    tables = case.tables.lacking(removed) if removed else case.tables
    holder = tables.holder(case.request.subject)
    assert holder is not None
    return tables, tables.holder_in_roles(holder, role, case.cell) if role else holder.copied()


def _grant(change: Change) -> Grant:
    level = next(level for level in LEVELS if level == change.level)
    waives = tuple(waiver for waiver in WAIVERS if waiver in change.waives)
    return Grant("", "", (change.value,), level, waives)
