"""Decide whether one role or layer may hand work to another. All steps are checked, even after one fails.

Edges, positions and layers are facts of the organization that no stored grant overrides. The right to delegate, depth,
children, PACE and stops of the run are decided by access. Fails closed: an undeclared name is never allowed, and
neither is a role without a layer if edges connect layers.

The facts from documents and briefs are cached; stored state is looked up. `decide_handoff` returns the codes, and
`decide_handoff_permission` adds texts, lines and remedies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from msgspec.structs import replace

from orgkernel.decisions.access.decide import decide_access, decide_with_reasons
from orgkernel.decisions.access.decision import AccessDecision
from orgkernel.decisions.access.explain import explain_access
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.resource import HANDOFF
from orgkernel.decisions.evidence.state_view import EMPTY_STATE, StateView
from orgkernel.decisions.handoff.brief_facts import compute_brief_facts
from orgkernel.decisions.handoff.briefs import NO_BRIEFS, HandoffBriefs, find_writes_of_readers
from orgkernel.decisions.handoff.failures import UNDECIDED, Failure
from orgkernel.decisions.handoff.live_claims import find_broken_batch, find_claimed_files
from orgkernel.decisions.handoff.pairs import HandoffPair, find_pairs
from orgkernel.decisions.handoff.permission import (
    HandoffFinding,
    HandoffPermission,
    HandoffQuestion,
    HandoffRouting,
    HandoffStep,
    HandoffVerdict,
    PermissionOutcome,
)
from orgkernel.decisions.handoff.routing import route_handoff
from orgkernel.decisions.reasons import Reason
from orgkernel.graph.questions import OrgView

_STEP_OF: dict[str, HandoffStep] = {
    "DISPATCH_EDGE_FORBIDDEN": "edge",
    "WORKER_CANNOT_DISPATCH": "right to delegate",
    "POSITION_CAP": "right to delegate",
    "CANNOT_DELEGATE": "right to delegate",
    "TARGET_NOT_ALLOWED": "right to delegate",
    "DEPTH_EXCEEDED": "depth and children",
    "CHILD_LIMIT": "depth and children",
    "PACE_CAP": "pace",
}
_MAX_CACHED_ROUTINGS = 64
_SEVERITY: dict[PermissionOutcome, int] = {"allow": 0, "cannot_tell": 1, "deny": 2}


class _Evaluation(NamedTuple):
    """The result for one pair of sender and receiver."""

    outcome: PermissionOutcome
    code: str
    sender: str
    receiver: str
    failures: tuple[Failure, ...]
    reasons: tuple[Reason, ...] = ()
    obligations: tuple[str, ...] = ()
    routing: HandoffRouting | None = None


def decide_handoff(
    view: OrgView,
    question: HandoffQuestion,
    state: StateView = EMPTY_STATE,
    briefs: HandoffBriefs = NO_BRIEFS,
) -> HandoffVerdict:
    """Decide whether a sender may hand work to a receiver, with the code of each failing step."""
    evaluation = _evaluate(view, question, state, briefs, _decide_access)
    return HandoffVerdict(
        evaluation.outcome,
        evaluation.code,
        evaluation.sender,
        evaluation.receiver,
        tuple([(each.step, each.code) for each in evaluation.failures]),
        evaluation.obligations,
        evaluation.routing,
        view.digest,
        state.version,
    )


def decide_handoff_permission(
    view: OrgView,
    question: HandoffQuestion,
    state: StateView = EMPTY_STATE,
    briefs: HandoffBriefs = NO_BRIEFS,
) -> HandoffPermission:
    """The permission for a sender and a receiver. For a layer with several roles, the strictest result applies."""
    evaluation = _evaluate(view, question, state, briefs, decide_with_reasons)
    findings = tuple([each.build_finding() for each in evaluation.failures])
    # The code comes from the first failure that decides, which need not be the first in the order of steps.
    first_finding = (
        findings[evaluation.failures.index(_get_first_failure(evaluation.failures))] if findings else None
    )
    records, depth = view.records, question.depth
    return HandoffPermission(
        outcome=evaluation.outcome,
        code=evaluation.code,
        sender=evaluation.sender,
        receiver=evaluation.receiver,
        reasons=evaluation.reasons
        if first_finding is None
        else (Reason(first_finding.code, first_finding.text, first_finding.why),),
        findings=findings,
        obligations=evaluation.obligations,
        routing=evaluation.routing,
        depth_left=None if depth is None else max(records.organization.limits.max_spawn_depth - depth - 1, 0),
        governance="" if records.governance is None else records.governance.name,
        snapshot=view.digest,
        state_version=state.version,
    )


_Access = Callable[[OrgView, AccessRequest, StateView], tuple[AccessDecision, tuple[Reason, ...]]]


def _decide_access(
    view: OrgView, request: AccessRequest, state: StateView
) -> tuple[AccessDecision, tuple[Reason, ...]]:
    """The access decision, with reasons if its codes are failures."""
    decision = decide_access(view, request, state)
    return (decision, ()) if decision.outcome == "allow" else decide_with_reasons(view, request, state)


def _evaluate(
    view: OrgView, question: HandoffQuestion, state: StateView, briefs: HandoffBriefs, access: _Access
) -> _Evaluation:
    pairs, problems = find_pairs(view, question.sender, question.receiver)
    if problems:
        failures = tuple(map(Failure.from_finding, problems))
        return _Evaluation("cannot_tell", failures[0].code, question.sender, question.receiver, failures)
    # Most questions name two roles. A layer stands for all of its roles, so the strictest of their answers applies.
    if len(pairs) == 1:
        return _evaluate_pair(view, pairs[0], question, state, briefs, access)
    answers = [_evaluate_pair(view, pair, question, state, briefs, access) for pair in pairs]
    return max(answers, key=lambda each: _SEVERITY[each.outcome])


def _evaluate_pair(
    view: OrgView,
    pair: HandoffPair,
    question: HandoffQuestion,
    state: StateView,
    briefs: HandoffBriefs,
    access: _Access,
) -> _Evaluation:
    records, sender, receiver = view.records, pair.sender.subject, f"role:{pair.receiver}"
    failures = [*pair.failures]
    if pair.read_only_layers and pair.edge_match is not None and not question.budget_guard:
        for layer, why in pair.read_only_layers:
            failures += map(Failure.from_finding, find_writes_of_readers(briefs, layer, (why,)))
    request = AccessRequest(sender, HANDOFF, receiver, _build_context(question), question.on_behalf_of)
    decision, reasons = access(view, request, state)
    if decision.outcome != "allow":
        failure_codes = {each.code for each in failures}
        # Remedies of access cannot change a refusal by the documents.
        remedies = _return_no_remedies if failure_codes else _find_remedies(view, request, state)
        for reason in reasons or (Reason(decision.code, decision.code),):
            # The documents and access can fail for the same cause, such as the position of a worker. It is reported once.
            if reason.code not in failure_codes and not (
                reason.code == "POSITION_CAP" and "WORKER_CANNOT_DISPATCH" in failure_codes
            ):
                failures.append(_build_access_failure(reason, remedies))
    facts = compute_brief_facts(view, pair, briefs)
    failures += facts.failures
    if briefs.brief is not None:
        now = question.context.now
        failures += find_claimed_files(briefs, state.claims, now, pair.holder_names)
        failures += find_broken_batch(records, briefs, state.claims, now)
    if failures:
        failures.sort(key=lambda each: each.order)
        first = _get_first_failure(failures)
        # What was not stated could still allow it, so the caller reads what to state instead of a refusal.
        if first.code in UNDECIDED:
            obligations = _list_obligations(facts.obligations, question, decision.obligations)
            return _Evaluation(
                "cannot_tell", first.code, sender, receiver, tuple(failures), obligations=obligations
            )
        return _Evaluation("deny", first.code, sender, receiver, tuple(failures))
    routing = pair.routings.get(question.on_behalf_of) or _choose_route(view, pair, question.on_behalf_of)
    obligations = _list_obligations(facts.obligations, question, decision.obligations)
    because = reasons if pair.reason is None else (pair.reason, *reasons)
    return _Evaluation("allow", decision.code, sender, receiver, (), because, obligations, routing)


def _choose_route(view: OrgView, pair: HandoffPair, principal: str | None) -> HandoffRouting:
    sender = pair.sender
    routing = route_handoff(view.org_id, sender.id, sender.kind, *pair.profiles, pair.edge_match, principal)
    # Principals are names of callers, so they must not fill the memory.
    if len(pair.routings) < _MAX_CACHED_ROUTINGS:
        pair.routings[principal] = routing
    return routing


def _get_first_failure(failures: Sequence[Failure]) -> Failure:
    """The failure that determines the code of the answer."""
    return next((each for each in failures if each.code not in UNDECIDED), failures[0])


def _build_context(question: HandoffQuestion) -> AccessContext:
    stated = {}
    if question.depth is not None:
        stated["depth"] = question.depth
    if question.children is not None:
        stated["children"] = question.children
    if question.concurrent is not None:
        stated["concurrent"] = question.concurrent
    if question.pace is None:
        return replace(question.context, **stated) if stated else question.context
    return replace(question.context, **stated, pace=question.pace)


def _list_obligations(
    of_briefs: tuple[str, ...], question: HandoffQuestion, of_access: tuple[str, ...]
) -> tuple[str, ...]:
    """Obligations: requirements of the edge that are not shown, and facts about the run that are not stated."""
    obligations = of_briefs
    if question.depth is None:
        obligations += ("state:depth",)
    if question.children is None:
        obligations += ("state:children",)
    if question.concurrent is None:
        obligations += ("state:concurrent",)
    return obligations + of_access


_Remedies = Callable[[], tuple[str, ...]]


def _return_no_remedies() -> tuple[str, ...]:
    return ()


def _find_remedies(view: OrgView, request: AccessRequest, state: StateView) -> _Remedies:
    """Remedies for a missing right, computed only for explanations."""
    return cache(lambda: tuple(each.text for each in explain_access(view, request, state).remedies))


def _build_access_failure(reason: Reason, remedies: _Remedies) -> Failure:
    step = _STEP_OF.get(reason.code, "permissions")
    return Failure(
        step, reason.code, lambda: HandoffFinding(step, reason.code, reason.text, reason.why, remedies())
    )
