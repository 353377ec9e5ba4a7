"""Dispatch by intent: the roles that serve it, in the order of `order.py`."""

from __future__ import annotations

from collections.abc import Sequence

from orgkernel.decisions.dispatch.answer import answer_with_role, say_lacking
from orgkernel.decisions.dispatch.by_domain import (
    SHOWN_CANDIDATES,
    Considered,
    DispatchDecision,
    RankedCandidate,
    find_holders,
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
    needed = {tool: find_holders(view, tool, ranked) for tool in needs}
    lacking = {
        each.role_id: [tool for tool, held in needed.items() if each.role_id not in held] for each in ranked
    }
    fitting = [each for each in ranked if not lacking[each.role_id]]
    if not fitting:
        reason = (
            _explain_no_taker(view, intent)
            if not ranked
            else say_lacking(f"serves intent {quote(intent)}", lacking)
        )
        passed = tuple(_explain_lack(each.role_id, lacking, serving) for each in ranked[:shown])
        return DispatchDecision(
            "not_applicable", intent, None, None, None, (), (), (), (), (reason,), passed, len(ranked), view.digest, candidates
        )  # fmt: skip
    chosen, rivals = fitting[0], fitting[1:]
    considered = [_explain_loss(view, chosen, each, serving) for each in rivals]
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


def _explain_loss(view: OrgView, better: Candidate, worse: Candidate, serving: dict[str, Edge]) -> Considered:
    code, text, why = find_difference(view, better, worse)
    places = tuple(dict.fromkeys((cite_edge(serving[worse.role_id]), *why)))
    return Considered(worse.role_id, code, f"role {quote(better.role_id)} is preferred: {text}", places)


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
