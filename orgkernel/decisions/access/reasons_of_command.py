"""Reasons about dispatching and escalating."""

from __future__ import annotations

from collections.abc import Callable

from orgkernel.decisions.access.case import Case, Said, roles_of, why_edges, why_profiles
from orgkernel.decisions.access.cells import DISPATCH
from orgkernel.decisions.access.command import (
    find_command,
    find_escalation,
    find_right,
    names_in_command,
)
from orgkernel.decisions.reasons import why_place
from orgkernel.diagnostics.wording import quote


def _cannot_delegate(case: Case) -> Said:
    return f"{case.who} cannot delegate", why_profiles(case, "role_type")


def _target_not_allowed(case: Case) -> Said:
    if case.request.action == DISPATCH:
        return f"{case.what} is not below {case.who}, and nothing else lets it dispatch there", ()
    return f"{case.what} is not above {case.who}, and no tier escalates there", ()


def _edge_forbidden(case: Case) -> Said:
    records = case.tables.view.records
    place = records.document.place("dispatch_edges", key=True)
    layers = (
        *(records.posts[role].profile.layer for role in roles_of(case)),
        records.posts[case.cell.id].profile.layer,
    )
    text = f"no dispatch edge leads from layer {quote(layers[0])} to {quote(layers[-1])}"
    return text, (why_place("dispatch_edges", place),)


def _commands(case: Case) -> Said:
    view = case.tables.view
    assert case.holder is not None
    superiors = roles_of(case) or names_in_command(case.holder.identity)
    chains = (find_command(view, (superior,), case.cell.id) for superior in superiors)
    return f"{case.what} is below {case.who}", why_edges(edge for chain in chains for edge in chain)


def _may_dispatch(case: Case) -> Said:
    edges = (find_right(case.tables.view, role, case.cell.id) for role in roles_of(case))
    found = [edge for edge in edges if edge is not None]
    return "; ".join(map(str, found)), why_edges(found)


def _reports_to(case: Case) -> Said:
    chains = (find_escalation(case.tables.view, role, case.cell.id) for role in roles_of(case))
    return f"{case.who} escalates to {case.what}", why_edges(edge for chain in chains for edge in chain)


SAYERS: dict[str, Callable[[Case], Said]] = {
    "CANNOT_DELEGATE": _cannot_delegate,
    "TARGET_NOT_ALLOWED": _target_not_allowed,
    "DISPATCH_EDGE_FORBIDDEN": _edge_forbidden,
    "COMMANDS": _commands,
    "MAY_DISPATCH": _may_dispatch,
    "REPORTS_TO": _reports_to,
}
