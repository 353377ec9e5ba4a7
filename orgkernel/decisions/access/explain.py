"""Explain an access decision with the same evaluation that decides, and a note after each layer.

An explanation has one line for each layer, in order, and the reasons with their lines of YAML. For a denial it also
lists the changes that would allow the request and the subjects that already can. If a ceiling denies, it also names
the source of the level that the ceiling removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orgkernel.decisions.access.decide import FAULT, ask, decide, decide_access, tell_beside
from orgkernel.decisions.access.decision import AccessExplanation, TraceLine, Who
from orgkernel.decisions.access.evaluation import Evaluation, evaluate, give_reason
from orgkernel.decisions.access.layer import AccessLayer, Sentence, Value
from orgkernel.decisions.access.listing import find_allowed_crew
from orgkernel.decisions.access.remedies import find_remedies
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.state_view import EMPTY_STATE, StateView
from orgkernel.decisions.reasons import Reason
from orgkernel.graph.questions import OrgView

SHOWN_SUBJECTS = 5
NO_SUBJECT = Who((), 0)


def explain_access(
    view: OrgView,
    request: AccessRequest,
    state: StateView = EMPTY_STATE,
    *,
    remedies: bool = True,
    counted: int = 0,
) -> AccessExplanation:
    """Explain a decision. Never raises: an internal error is reported as the reason, and denies.

    The first `counted` remedies also state how many other requests they would allow.
    """
    try:
        evaluation = ask(get_access_tables(view), request, state)
        evaluation.trace = []
        return _explain(evaluate(evaluation), remedies=remedies, counted=counted)
    except Exception:
        return AccessExplanation(decide_access(view, request, state), (FAULT,), (), (), NO_SUBJECT)


def _explain(evaluation: Evaluation, *, remedies: bool, counted: int) -> AccessExplanation:
    decision = decide(evaluation)
    reasons = tuple(give_reason(evaluation, code) for code in decision.codes) + tell_beside(evaluation)
    trace = tuple(_build_trace(evaluation, reasons))
    if not remedies or decision.outcome == "allow":
        return AccessExplanation(decision, reasons, trace, (), NO_SUBJECT)
    who = _get_subjects(evaluation) if evaluation.is_declared else NO_SUBJECT
    return AccessExplanation(decision, reasons, trace, find_remedies(evaluation, counted), who)


def _get_subjects(evaluation: Evaluation) -> Who:
    resource, request = evaluation.resource, evaluation.request
    if resource.unknown or request.action not in resource.required:
        return NO_SUBJECT
    able = find_allowed_crew(evaluation.tables, request, evaluation.state)
    return Who(able[:SHOWN_SUBJECTS], len(able))


def _build_trace(evaluation: Evaluation, reasons: Sequence[Reason]) -> Iterator[TraceLine]:
    """One line for each layer and value that it changed, or one line that says it had no effect."""
    order, names = evaluation.tables.order, evaluation.resource.levels
    if not evaluation.is_declared:
        for reason in reasons:
            yield TraceLine("identity", reason.text, "stopped", "", "deny", reason.why)
        return
    reasons_by_layer: dict[str, list[Reason]] = {}
    for reason in reasons:
        reasons_by_layer.setdefault(order.layer_of[reason.code], []).append(reason)
    before = names[0], names[-1], ""
    for layer, granted, ceiling, failing in evaluation.trace or ():
        about = reasons_by_layer.get(layer.name, [])
        sentence = _join(about) if about else layer.unchanged(evaluation)
        after = names[granted], names[ceiling], _describe_stop(evaluation, failing)
        changed = False
        values: tuple[Value, ...] = ("granted", "ceiling", "stopped")
        for value, old, new in zip(values, before, after, strict=True):
            if old != new:
                changed = True
                text, why = _explain_change(evaluation, layer, value, about) or sentence
                yield TraceLine(layer.name, text, value, old, new, why)
        if not changed:
            yield TraceLine(layer.name, sentence[0], "", "", "", sentence[1])
        before = after


def _describe_stop(evaluation: Evaluation, failing: int) -> str:
    order = evaluation.tables.order
    if failing & order.stopping:
        return "deny"
    if failing & order.asking:
        return "ask"
    return "conditional" if failing & order.unstated else ""


def _explain_change(
    evaluation: Evaluation, layer: AccessLayer, value: Value, about: Sequence[Reason]
) -> Sentence | None:
    """The reason why a layer changed a value, with lines; None if its reasons say all of it already."""
    order = evaluation.tables.order
    fitting = [
        reason for reason in about if reason.code in order.codes and order.codes[reason.code].value == value
    ]
    if not fitting and value == "granted":
        names = order.get_code_names(evaluation.sources)
        fitting = [give_reason(evaluation, name) for name in names if order.layer_of[name] == layer.name]
    if fitting:
        return _join(fitting)
    say = layer.explains.get(value)
    return None if say is None else say(evaluation)


def _join(reasons: Sequence[Reason]) -> Sentence:
    why = tuple(dict.fromkeys(each for reason in reasons for each in reason.why))
    return "; ".join(reason.text for reason in reasons), why
