"""A decision with its reasons in words and lines, without the trace and the remedies: for who asks often."""

from __future__ import annotations

from orgkernel.decisions.access import codes
from orgkernel.decisions.access.case import Case
from orgkernel.decisions.access.decide import decide_access, decide_with
from orgkernel.decisions.access.decision import AccessDecision
from orgkernel.decisions.access.evidence import give_reason
from orgkernel.decisions.access.expired import tell_expired
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.run import weigh_run
from orgkernel.decisions.access.tables import AccessTables, tables_of
from orgkernel.decisions.reasons import Reason
from orgkernel.decisions.state_view import EMPTY_STATE, StateView
from orgkernel.graph.questions import OrgView

_FAULT = Reason(
    codes.EVALUATION_ERROR, "an error of orgkernel itself; it is denied, because access fails closed"
)

# What these say depends on nothing but the documents, so it is put together once; the rest is said anew each time.
_OF_DOCUMENTS = frozenset(
    {"BOUND_TO_ROLE", "ESSENTIAL_TOOL", "COMMANDS", "MAY_DISPATCH", "REPORTS_TO", "NOT_BOUND_TO_ROLE"}
)
_MOST_KEPT = 4_096


def decide_with_reasons(
    view: OrgView, request: AccessRequest, state: StateView = EMPTY_STATE
) -> tuple[AccessDecision, tuple[Reason, ...]]:
    """The decision, a reason for each of its codes, and what ran out and is missed. Never raises: an error of ours denies and says so."""
    try:
        return _decide(tables_of(view), request, state)
    except Exception:
        # INVARIANT: fails closed, also where only the reasons could not be put together.
        decision = decide_access(view, request, state)
        if decision.outcome == "deny":
            return decision, (_FAULT,)
        return AccessDecision(
            "deny", codes.EVALUATION_ERROR, (codes.EVALUATION_ERROR,), "", "", (), view.digest, state.version
        ), (_FAULT,)


def _decide(
    tables: AccessTables, request: AccessRequest, state: StateView
) -> tuple[AccessDecision, tuple[Reason, ...]]:
    decision = decide_with(tables, request, state)
    reasons = _reasons_of(tables, request, state, decision)
    if decision.outcome != "allow" and (state.grants or state.expired):
        holder, (cell, path) = tables.holder(request.subject), tables.find(request.resource)
        reasons += tell_expired(tables, state, holder, cell, path, request, decision)
    return decision, reasons


def _reasons_of(
    tables: AccessTables, request: AccessRequest, state: StateView, decision: AccessDecision
) -> tuple[Reason, ...]:
    """A reason for each code of a decision."""
    kept: dict[tuple[str, ...], tuple[Reason, ...]] | None = None
    key = (request.subject, request.resource, *decision.codes)
    if _OF_DOCUMENTS.issuperset(decision.codes):
        kept = tables.view.remember("reasons kept", _nothing_kept)
        known = kept.get((request.action, *key))
        if known is not None:
            return known
    holder = tables.holder(request.subject)
    cell, path = tables.find(request.resource)
    # Only what stored grants say is looked up in the verdict.
    weighed = holder is not None and (bool(state.grants) or decision.outcome != "allow")
    verdict = (
        weigh_run(tables, state, holder, cell, request.action, path, request)
        if weighed and holder is not None
        else None
    )
    case = Case(tables, state, request, holder, cell, path, verdict)
    reasons = tuple(give_reason(case, code) for code in decision.codes)
    if kept is not None and holder is not None and not cell.unknown:
        if len(kept) >= _MOST_KEPT:
            kept.clear()
        kept[request.action, *key] = reasons
    return reasons


def _nothing_kept() -> dict[tuple[str, ...], tuple[Reason, ...]]:
    return {}
