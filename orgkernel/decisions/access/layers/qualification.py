"""Qualification: a tool is denied until the subject has passed every test that the tool requires.

Only agents can pass tests. Roles and subjects outside the crew have passed none.
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.access.decision import RemedyChange
from orgkernel.decisions.access.evaluation import Assumptions, Evaluation
from orgkernel.decisions.access.layer import AccessLayer, LayerStep, ReasonCode, Sentence, Target
from orgkernel.decisions.access.lines import locate_edges
from orgkernel.decisions.access.waivers import describe_waived_level
from orgkernel.decisions.evidence.qualifications import decide_standing, has_passed
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.schema import EdgeKind

_NONE_ASSUMED = Assumptions()
_EXPLAINED_CODES = ("ALL_INVALID", "SAMPLE_TOO_SMALL", "DIGEST_DIFFERS", "EXPIRED")


def _find_missing_tests(evaluation: Evaluation, assumed: Assumptions | None) -> tuple[str, ...]:
    """The tests that the resource requires and that the subject has not passed, or whose result has expired."""
    subject, records = evaluation.subject, evaluation.view.records
    results = evaluation.state.results.get(subject.identity.id, ()) if subject.is_agent else ()
    now = evaluation.request.context.now
    assumed_tests = (assumed or _NONE_ASSUMED).qualifications
    return tuple(
        each
        for each in evaluation.resource.qualifications
        if each not in assumed_tests and not has_passed(records, results, each, now)
    )


def _compile(target: Target) -> LayerStep | None:
    return _cap if target.resource.qualifications else None


def _cap(evaluation: Evaluation) -> None:
    if not evaluation.essential and _find_missing_tests(evaluation, evaluation.assumed):
        evaluation.lower("qualification", QUALIFICATION_MISSING.bit)


def _explain_qualification_missing(evaluation: Evaluation) -> Sentence:
    missing = _find_missing_tests(evaluation, evaluation.assumed)
    needed = evaluation.view.list_edges_from(EdgeKind.NEEDS_QUALIFICATION, evaluation.resource.id)
    needs = "requires it" if len(missing) == 1 else "requires them"
    text = f"{evaluation.who} has not passed {listing(missing)}, and {evaluation.what} {needs}"
    text += "".join(_explain_uncounted_result(evaluation, each) for each in missing)
    text += describe_waived_level(evaluation.given.waives, "qualification")
    return text, locate_edges(edge for edge in needed if edge.target in missing)


def _explain_uncounted_result(evaluation: Evaluation, qualification: str) -> str:
    """Why the latest result of a test is not valid; empty if there is no result or it is an ordinary failure."""
    subject, records = evaluation.subject, evaluation.view.records
    results = evaluation.state.results.get(subject.identity.id, ()) if subject.is_agent else ()
    standing = decide_standing(records, results, qualification, evaluation.request.context.now)
    if standing.code == "SCORE_TOO_LOW" and standing.latest is not None:
        score = f"its score in {quote(qualification)} is {standing.latest.score:g}"
        return f"; {score}, and {standing.threshold:g} is required"
    if standing.code in _EXPLAINED_CODES:
        return f"; {quote(qualification)}: {standing.text}"
    return ""


def _explain_lifted(evaluation: Evaluation) -> Sentence | None:
    """The missing tests, if a grant waives them for now."""
    return (
        _explain_qualification_missing(evaluation)
        if _find_missing_tests(evaluation, evaluation.assumed)
        else None
    )


def _propose_tests(evaluation: Evaluation) -> Iterator[RemedyChange]:
    """Propose every missing test. Only an agent, or an agent that fills the role, can pass one."""
    if not evaluation.subject.is_crew:
        return
    yield from (RemedyChange("qualification", each) for each in _find_missing_tests(evaluation, None))


QUALIFICATION_MISSING = ReasonCode(
    "QUALIFICATION_MISSING",
    _explain_qualification_missing,
    remedies=("qualification", "grant", "role"),
    waiver="qualification",
)
QUALIFICATION = AccessLayer(
    "qualification",
    (QUALIFICATION_MISSING,),
    _compile,
    explains={"ceiling": _explain_lifted},
    changes={"qualification": _propose_tests},
)
