"""Reasons about policies, grants and restrictions."""

from __future__ import annotations

from collections.abc import Callable

from orgkernel.decisions.access.case import Case, Said
from orgkernel.decisions.access.policies import AccessPolicy
from orgkernel.decisions.access.stored import level_in, lowest_restriction
from orgkernel.decisions.reasons import Why, why_edge, why_place
from orgkernel.diagnostics.wording import listing


def policies_that(case: Case, speaks: Callable[[AccessPolicy], bool]) -> Said:
    """The policies about the subject that speak so, by name, and their lines."""
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
    text, why = policies_that(case, lambda policy: denies(case, policy))
    return f"{text} den{'ies' if text.startswith('policy') else 'y'} {case.what}", why


def _ask_approval(case: Case) -> Said:
    text, why = policies_that(case, lambda policy: asks(case, policy))
    if not why:
        return f"whom {case.who} acts for has to be approved for {case.what}", ()
    return f"{text} want{'s' if text.startswith('policy') else ''} an approval for {case.what}", why


def _policy_ceiling(case: Case) -> Said:
    text, why = policies_that(case, lambda policy: caps(case, policy))
    return (
        f"{text} leave{'s' if text.startswith('policy') else ''} no more than what {'it allows' if text.startswith('policy') else 'they allow'}, and not {case.what}",
        why,
    )


def _policy_allow(case: Case) -> Said:
    text, why = policies_that(case, lambda policy: policy.effect == "allow" and _covers(case, policy))
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


SAYERS: dict[str, Callable[[Case], Said]] = {
    "POLICY_DENY": _policy_deny,
    "POLICY_CEILING": _policy_ceiling,
    "NO_POLICY_MATCH": _no_policy_match,
    "RESTRICTED": _restricted,
    "ASK_APPROVAL": _ask_approval,
    "POLICY_ALLOW": _policy_allow,
    "GRANTED": _granted,
}
