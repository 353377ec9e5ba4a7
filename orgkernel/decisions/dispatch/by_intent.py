"""Dispatch by intent: the roles that serve it, in the order of `order.py`."""

from __future__ import annotations

from collections.abc import Sequence

from orgkernel.decisions.dispatch.answer import answer_with_role, build_lacking_reason
from orgkernel.decisions.dispatch.by_domain import (
    SHOWN_CANDIDATES,
    Considered,
    DispatchDecision,
    RankedCandidate,
    explain_loss,
    find_holders,
    find_missing_needs,
)
from orgkernel.decisions.dispatch.order import Candidate, find_difference, rank_servers
from orgkernel.decisions.reasons import Reason, cite_edge
from orgkernel.decisions.refusals import NO_RIVAL, say_unequipped
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge, EdgeKind


def decide_by_intent(
    view: OrgView, intent: str, *, needs: Sequence[str] = (), all_considered: bool = False
) -> DispatchDecision:
    """The role that takes a task of an intent. Undeclared names do not raise."""
    shown = None if all_considered else SHOWN_CANDIDATES
    serving = {edge.source: edge for edge in reversed(view.list_edges_to(EdgeKind.SERVES_INTENT, intent))}
    ranked = rank_servers(view, intent)
    candidates = tuple(
        RankedCandidate(each.role_id, 1.0, (_explain_serving_edge(intent, serving[each.role_id]),))
        for each in ranked[:shown]
    )
    holders_by_tool = {tool: find_holders(view, tool, ranked) for tool in needs}
    lacking = {each.role_id: find_missing_needs(each, holders_by_tool) for each in ranked}
    fitting = [each for each in ranked if not lacking[each.role_id]]
    if not fitting:
        reason = (
            _explain_no_taker(view, intent)
            if not ranked
            else build_lacking_reason(f"serves intent {quote(intent)}", lacking)
        )
        passed_over = tuple(_explain_lack(each.role_id, lacking, serving) for each in ranked[:shown])
        return DispatchDecision(
            outcome="not_applicable",
            asked=intent,
            domain=None,
            role_id=None,
            role_name=None,
            plans=(),
            allowed_plans=(),
            tools=(),
            escalation=(),
            reasons=(reason,),
            considered=passed_over,
            considered_count=len(ranked),
            snapshot=view.digest,
            candidates=candidates,
        )
    chosen, rivals = fitting[0], fitting[1:]
    considered = [explain_loss(view, chosen, each, serving[each.role_id]) for each in rivals]
    considered += [_explain_lack(each.role_id, lacking, serving) for each in ranked if lacking[each.role_id]]
    return answer_with_role(
        view,
        intent,
        chosen.role_id,
        None,
        (_explain_serving_edge(intent, serving[chosen.role_id]), _explain_choice(view, chosen, rivals)),
        tuple(considered[:shown]),
        len(ranked) - 1,
        candidates,
        None,
    )


def _explain_serving_edge(intent: str, edge: Edge) -> Reason:
    return Reason(
        "SERVES_INTENT", f"role {quote(edge.source)} serves intent {quote(intent)}", (cite_edge(edge),)
    )


def _explain_choice(view: OrgView, chosen: Candidate, rivals: Sequence[Candidate]) -> Reason:
    if not rivals:
        return Reason("ONLY_CANDIDATE", NO_RIVAL)
    code, text, why = find_difference(view, chosen, rivals[0])
    return Reason(
        code, f"role {quote(chosen.role_id)} is preferred to {quote(rivals[0].role_id)}: {text}", why
    )


def _explain_lack(role_id: str, lacking: dict[str, list[str]], serving: dict[str, Edge]) -> Considered:
    return Considered(
        role_id,
        "LACKS_TOOL",
        say_unequipped(lacking[role_id]),
        (cite_edge(serving[role_id]),),
    )


def _explain_no_taker(view: OrgView, intent: str) -> Reason:
    text = f"no role serves intent {quote(intent)}"
    hint = did_you_mean(intent, list(view.list_targets_of_kind(EdgeKind.SERVES_INTENT)))
    return Reason("NO_ROLE_SERVES", f"{text}; {hint}" if hint else text)
