"""Qualification: nobody has anything of a tool before passing every test that the tool needs.

Only agents can pass tests. Roles and subjects outside the crew have passed none.
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.access.decision import RemedyChange
from orgkernel.decisions.access.evaluation import Assumed, Evaluation
from orgkernel.decisions.access.layer import AccessLayer, Move, ReasonCode, Sentence, Target
from orgkernel.decisions.access.lines import why_edges
from orgkernel.decisions.access.waivers import describe_lift
from orgkernel.decisions.state_view import QualificationResult
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.records import OrgRecords
from orgkernel.graph.schema import EdgeKind

_DAY = 86_400.0
_NONE_ASSUMED = Assumed()


def has_passed(
    records: OrgRecords, results: tuple[QualificationResult, ...], qualification: str, now: float
) -> bool:
    """Whether the latest result is a pass that still counts, by the threshold that is declared now.

    A result that was recorded as failed stays failed, and without a declaration there is no threshold to reach.
    """
    latest = next((each for each in reversed(results) if each.qualification == qualification), None)
    declared = records.qualifications.get(qualification)
    if latest is None or declared is None or not latest.passed or latest.score < declared.record.threshold:
        return False
    days = declared.record.expires_after_days
    ends = [
        each
        for each in (latest.expires_at, None if days is None else latest.at + days * _DAY)
        if each is not None
    ]
    return all(end > now for end in ends)


def _missing(evaluation: Evaluation, assumed: Assumed | None) -> tuple[str, ...]:
    """The tests that the resource needs and the subject has not passed, or whose result has expired."""
    subject, records = evaluation.subject, evaluation.view.records
    results = evaluation.state.results.get(subject.identity.id, ()) if subject.is_agent else ()
    now = evaluation.request.context.now
    counted = (assumed or _NONE_ASSUMED).qualifications
    return tuple(
        each
        for each in evaluation.resource.qualifications
        if each not in counted and not has_passed(records, results, each, now)
    )


def _compile(target: Target) -> Move | None:
    return _cap if target.resource.qualifications else None


def _cap(evaluation: Evaluation) -> None:
    if not evaluation.essential and _missing(evaluation, evaluation.assumed):
        evaluation.lower("qualification", QUALIFICATION_MISSING.bit)


def _qualification_missing(evaluation: Evaluation) -> Sentence:
    missing = _missing(evaluation, evaluation.assumed)
    needed = evaluation.view.edges_from(EdgeKind.NEEDS_QUALIFICATION, evaluation.resource.id)
    needs = "requires it" if len(missing) == 1 else "requires them"
    text = f"{evaluation.who} has not passed {listing(missing)}, and {evaluation.what} {needs}"
    text += "".join(_too_low(evaluation, each) for each in missing)
    text += describe_lift(evaluation.given.waives, "qualification")
    return text, why_edges(edge for edge in needed if edge.target in missing)


def _too_low(evaluation: Evaluation, qualification: str) -> str:
    """The latest score in a test beside its threshold; empty where the score is not what is missing."""
    subject, declared = evaluation.subject, evaluation.view.records.qualifications.get(qualification)
    results = evaluation.state.results.get(subject.identity.id, ()) if subject.is_agent else ()
    latest = next((each for each in reversed(results) if each.qualification == qualification), None)
    if latest is None or declared is None or latest.score >= declared.record.threshold:
        return ""
    return f"; its score in {quote(qualification)} is {latest.score:g}, and {declared.record.threshold:g} is required"


def _lifted(evaluation: Evaluation) -> Sentence | None:
    """What is missing although a grant lifts it for now."""
    return _qualification_missing(evaluation) if _missing(evaluation, evaluation.assumed) else None


def _tests(evaluation: Evaluation) -> Iterator[RemedyChange]:
    """Every test that is missing. Only an agent can pass one, or whoever fills the role."""
    if not evaluation.subject.is_crew:
        return
    yield from (RemedyChange("qualification", each) for each in _missing(evaluation, None))


QUALIFICATION_MISSING = ReasonCode(
    "QUALIFICATION_MISSING",
    _qualification_missing,
    remedies=("qualification", "grant", "role"),
    waiver="qualification",
)
QUALIFICATION = AccessLayer(
    "qualification",
    (QUALIFICATION_MISSING,),
    _compile,
    explains={"ceiling": _lifted},
    changes={"qualification": _tests},
)
