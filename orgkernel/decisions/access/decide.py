"""Access: may this subject do this to that? The hot answer, alone or with its reasons.

Error policy: fails closed. Unknown names deny, and an internal error denies with `EVALUATION_ERROR`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.decision import AccessDecision, Outcome
from orgkernel.decisions.access.evaluation import Evaluation, evaluate, give_reason
from orgkernel.decisions.access.layers.file_scope import is_bounded
from orgkernel.decisions.access.layers.lock import find_lock
from orgkernel.decisions.access.layers.policies import (
    ASK_APPROVAL,
    find_policies_with_approvals,
    has_approvals,
    list_required_approvals,
)
from orgkernel.decisions.access.layers.policy_parts import list_named_paths
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.resource import LOCK
from orgkernel.decisions.access.stored import NOTHING_NEEDED, NeededGrants
from orgkernel.decisions.access.stored_index import find_about
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.state_view import EMPTY_STATE, Grant, StateView
from orgkernel.decisions.reasons import Reason
from orgkernel.graph.questions import OrgView

EVALUATION_ERROR = "EVALUATION_ERROR"
FAULT = Reason(
    EVALUATION_ERROR, "internal error in orgkernel; the request is denied, because access fails closed"
)
_MAX_CACHED = 4_096
"""The number of questions whose reasons are cached."""


def decide_access(view: OrgView, request: AccessRequest, state: StateView = EMPTY_STATE) -> AccessDecision:
    """Decide whether a request is allowed, with the codes of everything that decided. Never raises."""
    try:
        return decide(evaluate(ask(get_access_tables(view), request, state)))
    except Exception:
        # INVARIANT: fails closed. No error can allow a request.
        return deny_by_fault(view, state)


def decide_with_reasons(
    view: OrgView, request: AccessRequest, state: StateView = EMPTY_STATE
) -> tuple[AccessDecision, tuple[Reason, ...]]:
    """The decision, a reason for each of its codes, and expired grants that would have helped.

    Never raises: an internal error denies and is reported.
    """
    try:
        evaluation = evaluate(ask(get_access_tables(view), request, state))
        decision = decide(evaluation)
        reasons = _get_reasons(evaluation, decision)
        return decision, reasons + tell_beside(evaluation)
    except Exception:
        # INVARIANT: fails closed, even if only the reasons could not be built.
        decision = decide_access(view, request, state)
        return decision if decision.outcome == "deny" else deny_by_fault(view, state), (FAULT,)


def deny_by_fault(view: OrgView, state: StateView) -> AccessDecision:
    """The decision that is returned after an internal error."""
    return AccessDecision(
        "deny", EVALUATION_ERROR, (EVALUATION_ERROR,), "", "", (), view.digest, state.version
    )


def ask(tables: AccessTables, request: AccessRequest, state: StateView) -> Evaluation:
    """A request as an evaluation that the layers can fill in."""
    if state.status:
        request = tables.with_status(request, state)
    subject = (
        tables.subjects.get(request.subject) or tables.find_subject(request.subject) or tables.undeclared
    )
    resource, path = tables.resources.get(request.resource), None
    if resource is None:
        resource, path = tables.find(request.resource)
    tool_input = request.context.input
    paths = None if path is None and tool_input is None else tables.read_paths(resource, path, tool_input)
    if tool_input is not None and resource.action_argument:
        request = replace(request, action=resource.read_action(request.action, tool_input))
    return Evaluation(tables, state, request, request.action, subject, resource, paths)


def decide(evaluation: Evaluation) -> AccessDecision:
    """The decision of a finished evaluation."""
    tables, state, request, resource = (
        evaluation.tables,
        evaluation.state,
        evaluation.request,
        evaluation.resource,
    )
    order, failing = tables.order, evaluation.failing
    granted, ceiling = evaluation.granted, evaluation.ceiling
    level = granted if granted < ceiling else ceiling
    required = resource.words.get(request.action, "")
    obligations: tuple[str, ...] = ()
    needed = NOTHING_NEEDED
    outcome: Outcome = "allow"
    if not failing:
        names = order.names.get(evaluation.sources) or order.get_code_names(evaluation.sources)
        if state.grants and evaluation.rests_on_grants:
            needed = _find_needed_grants(evaluation)
        if needed.are_limited or resource.obliges or evaluation.path is not None:
            obligations = tuple(_find_obligations(evaluation, needed.grants))
    else:
        names = order.names.get(failing) or order.get_code_names(failing)
        if failing & order.stopping:
            level = 0
        outcome = "deny"
        if failing == order.asking:
            outcome, obligations = "ask", (f"approval:{resource.resource}",)
        elif failing == order.unstated:
            outcome, obligations = (
                "conditional",
                tuple(f"state:{name}" for name in find_missing_context_names(evaluation)),
            )
    return AccessDecision(
        outcome, names[0], names, required, resource.levels[level], obligations, tables.snapshot, state.version,
        needed.ids,
    )  # fmt: skip


def may_require_approvals(view: OrgView, request: AccessRequest) -> bool:
    """Whether policies require approvals of certain or several subjects for a request, in some circumstances.

    A host that asks one person cannot give these.
    """
    evaluation = ask(get_access_tables(view), request, EMPTY_STATE)
    return any(find_policies_with_approvals(each) for each in (evaluation, *_ask_principals(evaluation)))


def _ask_principals(evaluation: Evaluation) -> Iterator[Evaluation]:
    for principal in evaluation.list_principals():
        subject = evaluation.tables.find_subject(principal)
        if subject is not None:
            yield evaluation.copy_with(subject=subject)


def find_missing_context_names(evaluation: Evaluation) -> tuple[str, ...]:
    """The context fields that must be stated before the request can be allowed."""
    return tuple(dict.fromkeys(name for each in evaluation.unstated for name in each.needed))


def tell_beside(evaluation: Evaluation) -> tuple[Reason, ...]:
    """The additional reasons of a denial, such as a grant that has expired."""
    if not evaluation.failing:
        return ()
    sentences = ((code, say(evaluation)) for code, say in evaluation.tables.order.additional_reasons.items())
    return tuple(Reason(code, *sentence) for code, sentence in sentences if sentence is not None)


def _get_reasons(evaluation: Evaluation, decision: AccessDecision) -> tuple[Reason, ...]:
    """The reasons of a decision, one for each code. Reasons that depend only on documents are cached."""
    request, kept, known = evaluation.request, evaluation.tables.reasons, evaluation.tables.order.codes
    if not all(known[code].is_static for code in decision.codes):
        return tuple(give_reason(evaluation, code) for code in decision.codes)
    key = (request.action, request.subject, request.resource, *decision.codes)
    reasons = kept.get(key)
    if reasons is None:
        reasons = tuple(give_reason(evaluation, code) for code in decision.codes)
        if len(kept) >= _MAX_CACHED:
            kept.clear()
        kept[key] = reasons
    return reasons


# -- grants and obligations of an allowance --------------------------------------


def _find_needed_grants(evaluation: Evaluation) -> NeededGrants:
    """The stored grants without which the request would be denied. Grants with a limited number of uses are avoided."""
    # What policies require can differ between subjects with the same grants, so it is not part of the cache.
    if evaluation.parents or evaluation.supposed or evaluation.tables.policies.require_approvals:
        return _choose(list(_find_grant_alternatives(evaluation)))
    known, key = evaluation.given.needed, (evaluation.spared, evaluation.required)
    needed = known.get(key)
    if needed is None:
        needed = known[key] = _choose(list(_find_grant_alternatives(evaluation)))
    return needed


def _choose(needs: list[dict[str, Grant]]) -> NeededGrants:
    """Choose a small set of grants that satisfies every need, dropping grants with few uses first."""
    grants_by_id = {name: grant for grants in needs for name, grant in grants.items()}
    # Grants with a limited number of uses come first, so they are dropped whenever another grant is enough.
    for grant in sorted(grants_by_id.values(), key=_get_sparing_order):
        if all(len(grants) > (grant.grant_id in grants) for grants in needs):
            for grants in needs:
                grants.pop(grant.grant_id, None)
            del grants_by_id[grant.grant_id]
    ids = tuple(sorted(grants_by_id))
    limited = any(grant.uses_left is not None for grant in grants_by_id.values())
    return NeededGrants(tuple(grants_by_id[name] for name in ids), ids, limited)


def _get_sparing_order(grant: Grant) -> tuple[bool, str]:
    return grant.uses_left is None, grant.grant_id


def _find_grant_alternatives(evaluation: Evaluation) -> Iterator[dict[str, Grant]]:
    """The alternatives for each need: sets of grant ids, of which any one is enough."""
    if evaluation.spared:
        given, order = evaluation.given, evaluation.tables.order
        enough = [
            grant
            for grant, level in zip(given.grants, given.levels, strict=True)
            if level >= evaluation.required
        ]
        if evaluation.spared & ASK_APPROVAL.bit and list_required_approvals(evaluation):
            yield {each.grant_id: each for each in enough if has_approvals(evaluation, each)}
        if evaluation.is_unread:
            yield {each.grant_id: each for each in enough if each.uses_left is not None}
        for waiver in order.find_waivers(evaluation.spared):
            yield {each.grant_id: each for each in enough if waiver is None or waiver in each.waives}
    for each in (*evaluation.parents, *evaluation.supposed):
        yield from _find_grant_alternatives(each)


def _is_compared(evaluation: Evaluation) -> bool:
    """Whether the decision depends on the paths of the request, through a scope, policy, grant or restriction."""
    return any(
        is_bounded(each) or list_named_paths(each) or _has_rows_about_parts(each)
        for each in (evaluation, *evaluation.parents)
    )


def _has_rows_about_parts(evaluation: Evaluation) -> bool:
    """Whether a stored row in effect limits the subject to parts of the resource."""
    state, now = evaluation.state, evaluation.request.context.now
    return any(
        group.parts
        for stored in (state.grants, state.restrictions)
        for about in find_about(stored, evaluation.subject.keys, evaluation.resource)
        for group in about.groups
        if group.is_for(evaluation.tables.org_id, evaluation.tables.snapshot) and group.select_at(now).active
    )


def _find_obligations(evaluation: Evaluation, grants: Iterable[Grant]) -> Iterable[str]:
    """The obligations of the caller.

    They are `consume_grant:ID` for a grant with a limited number of uses, `hold_lock:TOKEN` while an exclusive tool runs, and for each
    credential the tool works with `credential:ID` to supply it or `without_credential:ID` if the subject has none, and
    `resolve_links:PATH` if the answer depends on a path. If the path is a link to another place, the caller must ask again.
    """
    tables, resource, request = evaluation.tables, evaluation.resource, evaluation.request
    for grant in grants:
        if grant.uses_left is not None:
            yield f"consume_grant:{grant.grant_id}"
    if resource.exclusive and request.action != LOCK:
        lock = find_lock(evaluation)
        if lock is not None:
            yield f"hold_lock:{lock.token}"
    if evaluation.path is not None and _is_compared(evaluation):
        yield from (f"resolve_links:{path}" for path in evaluation.path.texts)
    for credential in () if resource.tool is None else resource.tool.credentials:
        needed, _ = tables.find(f"credential:{credential}")
        credential_evaluation = Evaluation(
            tables, evaluation.state, request, "use", evaluation.subject, needed
        )
        failing = evaluate(credential_evaluation).failing
        yield f"without_credential:{credential}" if failing else f"credential:{credential}"
