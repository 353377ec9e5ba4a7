"""What a code means in one decision: a sentence, and the lines it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from orgkernel.decisions.access import codes
from orgkernel.decisions.access.cells import DISPATCH, FULL, Cell
from orgkernel.decisions.access.command import (
    find_command,
    find_escalation,
    find_right,
    names_in_command,
)
from orgkernel.decisions.access.evaluate import Verdict, weigh
from orgkernel.decisions.access.holders import Holder
from orgkernel.decisions.access.policies import AccessPolicy
from orgkernel.decisions.access.qualified import missing_qualifications
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.run import find_lock, is_neutral, level_passed
from orgkernel.decisions.access.stored import level_in, lowest_restriction
from orgkernel.decisions.access.tables import AccessTables
from orgkernel.decisions.reasons import Reason, Why, why_edge, why_place
from orgkernel.decisions.state_view import StateView
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.records.levels import LEVELS

Said = tuple[str, tuple[Why, ...]]


@dataclass(frozen=True, slots=True)
class Case:
    """One decision, with everything it was made from."""

    tables: AccessTables
    state: StateView
    request: AccessRequest
    holder: Holder | None
    cell: Cell
    path: str | None
    verdict: Verdict | None

    @property
    def required(self) -> int:
        """The level the action requires; full where the resource has no such action."""
        return self.cell.required.get(self.request.action, FULL)

    @property
    def who(self) -> str:
        """The subject, in words."""
        kind, _, name = self.request.subject.partition(":")
        return f"{kind} {quote(name)}"

    @property
    def what(self) -> str:
        """The resource, in words."""
        return f"{self.cell.kind} {quote(self.cell.id)}"


def give_reason(case: Case, name: str) -> Reason:
    """The reason behind a code."""
    text, why = _SAYERS[name](case)
    return Reason(name, text, why)


def _edges(edges: Iterable[Edge]) -> tuple[Why, ...]:
    return tuple(dict.fromkeys(why_edge(edge) for edge in edges))


def _tool_place(case: Case, field: str) -> tuple[Why, ...]:
    definition = case.tables.view.records.tools[case.cell.id]
    return (why_place(f"{field} of tool {case.cell.id}", definition.place(field, key=True)),)


def _roles(case: Case) -> tuple[str, ...]:
    return () if case.holder is None else case.holder.identity.roles


def _profile_place(case: Case, *route: str) -> tuple[Why, ...]:
    posts = case.tables.view.records.posts
    return tuple(
        why_place(f"{route[-1]} of role {role}", posts[role].place(*route, key=True)) for role in _roles(case)
    )


# -- identity and structure --------------------------------------------------------------------------------------------


def _unknown_principal(case: Case) -> Said:
    asked = (case.request.subject, case.request.on_behalf_of, *case.request.via)
    unknown = [each for each in asked if each is not None and case.tables.holder(each) is None]
    view = case.tables.view
    hints = []
    for each in unknown:
        kind, _, name = each.partition(":")
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
    return f"{text}; {hint}" if hint else text, ()


_KINDS = ("tool", "credential", "data", "role")


def _action_unknown(case: Case) -> Said:
    actions = listing(case.cell.actions)
    return f"{case.what} has no action {quote(case.request.action)}, it has {actions}", ()


def _tool_disabled(case: Case) -> Said:
    return f"{case.what} is not enabled", _tool_place(case, "enabled")


# -- visibility, binding, rank, qualification --------------------------------------------------------------------------


def _not_visible(case: Case) -> Said:
    assert case.holder is not None
    view = case.tables.view
    own = listing(sorted(case.holder.departments)) or "none"
    edges = [edge for role in _roles(case) for edge in view.edges_from(EdgeKind.BELONGS_TO, role)]
    seen = listing(sorted(case.cell.departments or ()))
    text = f"{case.what} is seen in departments {seen} only, those of {case.who} are {own}"
    return text, (*_tool_place(case, "departments"), *_edges(edges))


def _not_in_restricted_to(case: Case) -> Said:
    named = listing(sorted(case.cell.restricted_to or ()))
    return f"{case.what} is restricted to {named}", _tool_place(case, "restricted_to")


def _binding_edges(case: Case) -> list[Edge]:
    view = case.tables.view
    return [
        edge
        for role in _roles(case)
        for edge in view.edges_from(EdgeKind.EQUIPPED_WITH, role)
        if edge.target == case.cell.id and case.cell.kind == "tool"
    ]


def _level_of(edge: Edge) -> int:
    """The level an `equipped_with` edge says."""
    return LEVELS.index(next(level for level in LEVELS if edge.attribute.endswith(f":{level}")))


def _not_bound(case: Case) -> Said:
    assert case.holder is not None
    level = case.holder.bound.get(case.cell.resource, 0)
    needed = case.cell.levels[case.required]
    if level:
        text = f"{case.who} has {case.what} at level {quote(case.cell.levels[level])}, {quote(needed)} is required"
    elif case.holder.is_agent and not _roles(case):
        text = f"{case.who} fills no role here, and no grant gives it {case.what}"
    else:
        text = f"{case.who} is not given {case.what} by its role or a grant"
    return text, _edges(_binding_edges(case))


def _bound_to_role(case: Case) -> Said:
    edges = [edge for edge in _binding_edges(case) if _level_of(edge) >= case.required]
    if edges:
        return "; ".join(dict.fromkeys(str(edge) for edge in edges)), _edges(edges)
    field = {"credential": "credentials"}.get(case.cell.kind, case.cell.kind)
    posts = case.tables.view.records.posts
    giving = [role for role in _roles(case) if posts[role].has(field)]
    places = (why_place(f"{field} of role {role}", posts[role].place(field, key=True)) for role in giving)
    return f"{field} of {case.who} list {case.what}", tuple(places)


def _essential(case: Case) -> Said:
    return f"{case.what} is essential and never refused to {case.who}", _tool_place(case, "essential")


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
    return f"{case.who} has not passed {listing(missing)}, which {case.what} needs", _edges(edges)


# -- command -----------------------------------------------------------------------------------------------------------


def _cannot_delegate(case: Case) -> Said:
    return f"{case.who} cannot delegate", _profile_place(case, "role_type")


def _target_not_allowed(case: Case) -> Said:
    if case.request.action == DISPATCH:
        return f"{case.what} is not below {case.who}, and nothing else lets it dispatch there", ()
    return f"{case.what} is not above {case.who}, and no tier escalates there", ()


def _edge_forbidden(case: Case) -> Said:
    records = case.tables.view.records
    place = records.document.place("dispatch_edges", key=True)
    layers = (
        *(records.posts[role].profile.layer for role in _roles(case)),
        records.posts[case.cell.id].profile.layer,
    )
    text = f"no dispatch edge leads from layer {quote(layers[0])} to {quote(layers[-1])}"
    return text, (why_place("dispatch_edges", place),)


def _commands(case: Case) -> Said:
    view = case.tables.view
    assert case.holder is not None
    superiors = _roles(case) or names_in_command(case.holder.identity)
    chains = (find_command(view, (superior,), case.cell.id) for superior in superiors)
    return f"{case.what} is below {case.who}", _edges(edge for chain in chains for edge in chain)


def _may_dispatch(case: Case) -> Said:
    edges = (find_right(case.tables.view, role, case.cell.id) for role in _roles(case))
    found = [edge for edge in edges if edge is not None]
    return "; ".join(map(str, found)), _edges(found)


def _reports_to(case: Case) -> Said:
    chains = (find_escalation(case.tables.view, role, case.cell.id) for role in _roles(case))
    return f"{case.who} escalates to {case.what}", _edges(edge for chain in chains for edge in chain)


# -- policies, grants and restrictions ---------------------------------------------------------------------------------


def _policies(case: Case, speaks: Callable[[AccessPolicy], bool]) -> Said:
    assert case.holder is not None
    found = [policy for policy in case.holder.policy_set(case.request.context).policies if speaks(policy)]
    why: list[Why] = []
    for policy in found:
        edges = [edge for edge in case.tables.view.tools_covered_by(policy.id) if edge.target == case.cell.id]
        if edges and case.cell.kind == "tool":
            why += map(why_edge, edges)
        else:
            why.append(why_place(f"policy {policy.id}", policy.definition.place()))
    return f"polic{'y' if len(found) == 1 else 'ies'} {listing(policy.id for policy in found)}", tuple(
        dict.fromkeys(why)
    )


def _covers(case: Case, policy: AccessPolicy) -> bool:
    return bool(policy.covers(case.cell.kind, case.cell.id, case.cell.tier))


def denies(case: Case, policy: AccessPolicy) -> bool:
    """Whether a policy denies the resource."""
    return (policy.effect == "deny" and _covers(case, policy)) or (
        case.cell.kind == "tool" and case.cell.id in policy.denied
    )


def asks(case: Case, policy: AccessPolicy) -> bool:
    """Whether a policy wants somebody to be asked."""
    return policy.effect == "ask" and _covers(case, policy)


def caps(case: Case, policy: AccessPolicy) -> bool:
    """Whether a policy is a ceiling below the level required."""
    cell = case.cell
    spoken = policy.covers(cell.kind, cell.id, cell.tier)
    return (
        policy.ceiling
        and spoken is not None
        and policy.granted(cell.kind, cell.id, cell.tier) < case.required
    )


def _policy_deny(case: Case) -> Said:
    text, why = _policies(case, lambda policy: denies(case, policy))
    return f"{text} den{'ies' if text.startswith('policy') else 'y'} {case.what}", why


def _ask_approval(case: Case) -> Said:
    text, why = _policies(case, lambda policy: asks(case, policy))
    if not why:
        return f"whom {case.who} acts for has to be approved for {case.what}", ()
    return f"{text} want{'s' if text.startswith('policy') else ''} an approval for {case.what}", why


def _policy_ceiling(case: Case) -> Said:
    text, why = _policies(case, lambda policy: caps(case, policy))
    return (
        f"{text} leave{'s' if text.startswith('policy') else ''} no more than what {'it allows' if text.startswith('policy') else 'they allow'}, and not {case.what}",
        why,
    )


def _policy_allow(case: Case) -> Said:
    text, why = _policies(case, lambda policy: policy.effect == "allow" and _covers(case, policy))
    return f"{text} allow{'s' if text.startswith('policy') else ''} {case.what}", why


def _no_policy_match(case: Case) -> Said:
    return f"no policy and no grant gives {case.what} to {case.who}", ()


def _granted(case: Case) -> Said:
    assert case.verdict is not None
    grants = (
        g.grant_id
        for g in case.verdict[4].grants
        if (level_in(g, case.cell, case.path) or 0) >= case.required
    )
    return f"grant {listing(grants)} gives {case.what}", ()


def _restricted(case: Case) -> Said:
    assert case.holder is not None
    _, found = lowest_restriction(
        case.state.restrictions,
        case.holder.keys,
        case.cell,
        case.path,
        case.tables.org_id,
        case.request.context.now,
    )
    listed = listing(each.restriction_id for each in found)
    return f"restriction {listed} leaves {case.who} too little of {case.what}", ()


# -- the run -----------------------------------------------------------------------------------------------------------


def _position(case: Case) -> Said:
    return f"{case.who} is a worker: it executes and does not dispatch", _profile_place(case, "position")


def _parent_cap(case: Case) -> Said:
    tables, request = case.tables, case.request
    found = []
    for subject in (request.on_behalf_of, *request.via):
        parent = None if subject is None else tables.holder(subject)
        if parent is not None and not is_neutral(tables, parent):
            verdict = weigh(
                tables,
                case.state,
                parent,
                case.cell,
                request.action,
                case.required,
                case.path,
                request.context,
            )
            if verdict[0] & ~codes.ASK_APPROVAL:
                found.append(f"{quote(subject)} may not use {case.what} ({codes.names_of(verdict[0])[0]})")
    if request.envelope is not None and level_passed(request.envelope, case.cell) < case.required:
        found.append(f"the envelope passes too little of {case.what} on")
    place = tables.view.records.document.place("limits")
    return "; ".join(found), (why_place("limits", place),)


def _limit(case: Case, field: str, text: str) -> Said:
    records = case.tables.view.records
    value = getattr(records.organization.limits, field)
    return f"{text} {value}", (
        why_place(f"{field} {value}", records.document.place("limits", field, key=True)),
    )


def _depth_exceeded(case: Case) -> Said:
    depth = max(case.request.context.depth, len(case.request.via))
    return _limit(case, "max_spawn_depth", f"{case.who} is at depth {depth}, the deepest that may exist is")


def _child_limit(case: Case) -> Said:
    context = case.request.context
    limits = case.tables.view.records.organization.limits
    if context.children >= limits.max_children:
        return _limit(case, "max_children", f"{case.who} has {context.children} children, the most are")
    return _limit(case, "max_concurrent", f"{context.concurrent} children of {case.who} run, the most are")


def _pace_cap(case: Case) -> Said:
    tier = case.request.context.pace
    return (
        f"{case.who} is in PACE tier {quote(tier)}, which allows no new {'work' if tier == 'emergency' else 'dispatch'}",
        (),
    )


def _locked(case: Case) -> Said:
    lock = find_lock(case.state, case.tables.org_id, case.cell, case.request.context)
    if lock is None:
        return f"{case.what} is exclusive and {case.who} does not hold its lock", _tool_place(
            case, "concurrency"
        )
    return f"{case.what} is locked by {quote(lock.holder)}", _tool_place(case, "concurrency")


def _input_invalid(case: Case) -> Said:
    error = next(case.cell.validator.iter_errors(case.request.context.input))
    where = "/".join(str(step) for step in error.absolute_path)
    said = f"the input of {case.what} does not fit its schema{f' at {quote(where)}' if where else ''}: {error.validator}"
    return said, _tool_place(case, "input_schema")


def _are(words: list[str]) -> str:
    return "is" if len(words) == 1 else "are"


_SAYERS: dict[str, Callable[[Case], Said]] = {
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
    "CANNOT_DELEGATE": _cannot_delegate,
    "TARGET_NOT_ALLOWED": _target_not_allowed,
    "DISPATCH_EDGE_FORBIDDEN": _edge_forbidden,
    "RANK_TOO_LOW": _rank_too_low,
    "QUALIFICATION_MISSING": _qualification_missing,
    "POLICY_DENY": _policy_deny,
    "POLICY_CEILING": _policy_ceiling,
    "NO_POLICY_MATCH": _no_policy_match,
    "RESTRICTED": _restricted,
    "POSITION_CAP": _position,
    "WORKER_CANNOT_DISPATCH": _position,
    "PARENT_CAP": _parent_cap,
    "DEPTH_EXCEEDED": _depth_exceeded,
    "CHILD_LIMIT": _child_limit,
    "PACE_CAP": _pace_cap,
    "LOCKED": _locked,
    "INPUT_INVALID": _input_invalid,
    "ASK_APPROVAL": _ask_approval,
    "ESSENTIAL_TOOL": _essential,
    "BOUND_TO_ROLE": _bound_to_role,
    "COMMANDS": _commands,
    "MAY_DISPATCH": _may_dispatch,
    "REPORTS_TO": _reports_to,
    "POLICY_ALLOW": _policy_allow,
    "GRANTED": _granted,
}
