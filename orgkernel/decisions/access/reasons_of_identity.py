"""Reasons about who asks, what is asked for, and what a role gives."""

from __future__ import annotations

from collections.abc import Callable

from orgkernel.decisions.access.case import Case, Said, roles_of, why_edges, why_tool
from orgkernel.decisions.access.cells import LEVEL
from orgkernel.decisions.access.qualified import missing_qualifications
from orgkernel.decisions.reasons import Why, why_place
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.records.levels import LEVELS

_SUBJECTS = ("role", "agent", "person", "system", "webhook", "sender")


def _unknown_principal(case: Case) -> Said:
    asked = (case.request.subject, case.request.on_behalf_of, *case.request.via)
    unknown = [each for each in asked if each is not None and case.tables.holder(each) is None]
    view = case.tables.view
    hints = []
    for each in unknown:
        kind, _, name = each.partition(":")
        if kind not in _SUBJECTS:
            hints.append(did_you_mean(kind, _SUBJECTS) or f"kinds are {', '.join(map(quote, _SUBJECTS))}")
            continue
        known = {"role": view.roles, "agent": view.records.agents, "person": view.records.people}.get(
            kind, ()
        )
        hints.append(did_you_mean(name, known))
    return "; ".join(filter(None, (f"{listing(unknown)} {_are(unknown)} not declared", *hints))), ()


def _agent_inactive(case: Case) -> Said:
    assert case.holder is not None
    stored = case.state.agents[case.holder.identity.id]
    return f"agent {quote(case.holder.identity.id)} is {stored.lifecycle}", ()


def _resource_unknown(case: Case) -> Said:
    view = case.tables.view
    kind = case.cell.kind
    known = {"tool": view.records.tools, "role": view.records.posts}.get(kind, ())
    text = (
        f"{kind} {quote(case.cell.id)} is not declared"
        if kind in _KINDS
        else f"{quote(case.request.resource)} is no resource"
    )
    hint = did_you_mean(case.cell.id, known)
    if kind not in _KINDS:
        hint = did_you_mean(kind, _KINDS) or f"kinds are {listing(_KINDS)}"
    return f"{text}; {hint}" if hint else text, ()


_KINDS = ("tool", "credential", "data", "role")


def _action_unknown(case: Case) -> Said:
    actions = listing(case.cell.actions)
    return f"{case.what} has no action {quote(case.request.action)}, it has {actions}", ()


def _tool_disabled(case: Case) -> Said:
    return f"{case.what} is not enabled", why_tool(case, "enabled")


def _are(words: list[str]) -> str:
    return "is" if len(words) == 1 else "are"


def _not_visible(case: Case) -> Said:
    assert case.holder is not None
    view = case.tables.view
    own = listing(sorted(case.holder.departments)) or "none"
    edges = [edge for role in roles_of(case) for edge in view.edges_from(EdgeKind.BELONGS_TO, role)]
    seen = listing(sorted(case.cell.departments or ()))
    text = f"{case.what} is seen in departments {seen} only, those of {case.who} are {own}"
    return text, (*why_tool(case, "departments"), *why_edges(edges))


def _not_in_restricted_to(case: Case) -> Said:
    named = listing(sorted(case.cell.restricted_to or ()))
    return f"{case.what} is restricted to {named}", why_tool(case, "restricted_to")


def binding_edges(case: Case) -> list[Edge]:
    """The edges by which the subject's roles give a tool."""
    if case.cell.kind != "tool":
        return []
    view, tool = case.tables.view, case.cell.id
    return [edge for role in roles_of(case) for edge in view.equipping(role, tool)]


def _level_of(edge: Edge) -> int:
    """The level an `equipped_with` edge says."""
    return LEVEL[edge.attribute.rpartition(":")[2]]


def _not_bound(case: Case) -> Said:
    assert case.holder is not None
    level = case.holder.bound.get(case.cell.resource, 0)
    needed = case.cell.levels[case.required]
    if level:
        text = f"{case.who} has {case.what} at level {quote(case.cell.levels[level])}, {quote(needed)} is required"
    elif case.holder.is_agent and not roles_of(case):
        text = f"{case.who} fills no role here, and no grant gives it {case.what}"
    else:
        text = f"{case.who} is not given {case.what} by its role or a grant"
    return text, why_edges(binding_edges(case)) or _what_is_given(case)


def _what_is_given(case: Case) -> tuple[Why, ...]:
    """Where the roles say what they are given, for what they are not."""
    posts = case.tables.view.records.posts
    field = {"tool": "capabilities", "credential": "credentials", "data": "data"}.get(
        case.cell.kind, "role_id"
    )
    return tuple(
        why_place(f"{field} of role {role}", posts[role].place(field, key=True)) for role in roles_of(case)
    )


def _bound_to_role(case: Case) -> Said:
    edges = [edge for edge in binding_edges(case) if _level_of(edge) >= case.required]
    if edges:
        why = why_edges(edges)
        return "; ".join(dict.fromkeys(each.text for each in why)), why
    field = {"credential": "credentials"}.get(case.cell.kind, case.cell.kind)
    posts = case.tables.view.records.posts
    giving = [role for role in roles_of(case) if posts[role].has(field)]
    places = (why_place(f"{field} of role {role}", posts[role].place(field, key=True)) for role in giving)
    return f"{field} of {case.who} list {case.what}", tuple(places)


def _essential(case: Case) -> Said:
    return f"{case.what} is essential and never refused to {case.who}", why_tool(case, "essential")


def _rank_too_low(case: Case) -> Said:
    row = case.tables.view.records.rank_row_of(case.cell.id)
    assert row is not None
    assert case.holder is not None
    top = case.tables.rank_of(case.state, case.holder)
    held = "no rank of the ladder" if top is None else f"rank {quote(top)}"
    left = "none" if top is None else row.levels[top]
    text = f"{case.who} is of {held}, which has level {quote(left)} of {case.what}, {quote(LEVELS[case.required])} is required"
    return text, (why_place(row.statement, row.place),)


def _qualification_missing(case: Case) -> Said:
    assert case.holder is not None
    view = case.tables.view
    missing = missing_qualifications(
        view.records, case.state, case.holder, case.cell, case.request.context.now
    )
    edges = [
        edge for edge in view.edges_from(EdgeKind.NEEDS_QUALIFICATION, case.cell.id) if edge.target in missing
    ]
    return f"{case.who} has not passed {listing(missing)}, which {case.what} needs", why_edges(edges)


SAYERS: dict[str, Callable[[Case], Said]] = {
    "UNKNOWN_PRINCIPAL": _unknown_principal,
    "AGENT_INACTIVE": _agent_inactive,
    "TOOL_UNKNOWN": _resource_unknown,
    "CREDENTIAL_UNKNOWN": _resource_unknown,
    "DATA_UNKNOWN": _resource_unknown,
    "ROLE_UNKNOWN": _resource_unknown,
    "RESOURCE_UNKNOWN": _resource_unknown,
    "ACTION_UNKNOWN": _action_unknown,
    "TOOL_DISABLED": _tool_disabled,
    "NOT_VISIBLE": _not_visible,
    "NOT_IN_RESTRICTED_TO": _not_in_restricted_to,
    "NOT_BOUND_TO_ROLE": _not_bound,
    "RANK_TOO_LOW": _rank_too_low,
    "QUALIFICATION_MISSING": _qualification_missing,
    "ESSENTIAL_TOOL": _essential,
    "BOUND_TO_ROLE": _bound_to_role,
}
