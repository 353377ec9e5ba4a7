"""Build the answer for a task that an intent or a sentence describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orgkernel.decisions.dispatch.by_domain import Considered, DispatchDecision, RankedCandidate
from orgkernel.decisions.reasons import Reason
from orgkernel.diagnostics.wording import listing
from orgkernel.graph.questions import OrgView


def answer_with_role(
    view: OrgView,
    query: str,
    role_id: str,
    domain: str | None,
    reasons: tuple[Reason, ...],
    considered: tuple[Considered, ...],
    count: int,
    candidates: tuple[RankedCandidate, ...],
    margin: float | None,
) -> DispatchDecision:
    """The answer for the chosen role, with its tools and plans."""
    declared = view.records.plans
    allowed = tuple(edge.target for edge in view.list_plans(role_id) if edge.target in declared)
    plans = tuple(
        plan
        for plan in allowed
        if domain is not None and any(edge.target == domain for edge in view.list_domains_served_by(plan))
    )
    return DispatchDecision(
        "role", query, domain, role_id, view.records.posts[role_id].profile.name,
        plans,
        allowed,
        tuple(edge.target for edge in view.list_tools(role_id) if edge.target in view.records.tools),
        view.list_superiors_in_service(role_id),
        reasons, considered, count, view.digest, candidates, margin,
    )  # fmt: skip


def build_lacking_reason(what: str, lacking: Mapping[str, Sequence[str]]) -> Reason:
    """The reason why matching roles do not take the task: none has all the needed tools."""
    tools = dict.fromkeys(tool for each in lacking.values() for tool in each)
    return Reason("NO_ROLE_EQUIPPED", f"no role that {what} is equipped with all of {listing(tools)}")
