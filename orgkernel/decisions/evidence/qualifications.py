"""Qualifications: whether a test is currently passed, its baseline, and its drift.

Standings are not stored. They follow from the recorded results, the current declarations and the time. If the documents
require it, a result without the digests of the tested parts or without a sample size is not valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Literal

import msgspec

from orgkernel.decisions.evidence.state_view import QualificationResult, StateView
from orgkernel.decisions.evidence.tested_parts import is_part, list_differing_digests, resolve_digest
from orgkernel.decisions.reasons import Why, cite_place
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import Qualification
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.runtime.utc import as_utc

_DAY = 86_400.0
StandingCode = Literal[
    "PASSED",
    "NOT_DECLARED",
    "NEVER_TESTED",
    "ALL_INVALID",
    "FAILED",
    "SCORE_TOO_LOW",
    "SAMPLE_TOO_SMALL",
    "DIGEST_DIFFERS",
    "EXPIRED",
]
LEVEL_SCORES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""The scores needed for levels 2 to 7, if a qualification declares no highest level."""

ALARM, CRITICAL = 2.0, 3.0
"""Distances from the baseline, in standard deviations."""
MIN_RUNS = 3
"""The lowest number of earlier runs. With fewer, a standard deviation is meaningless."""
MIN_SIGMA = 0.01
"""The lowest standard deviation, used for a test whose score never varied."""
DriftOutcome = Literal["none", "alarm", "critical", "too_few_runs"]


class Drift(msgspec.Struct, frozen=True, kw_only=True):
    """The distance of the latest run of a test from the first one."""

    outcome: DriftOutcome
    text: str
    runs: int
    """The number of valid runs before the latest, including the baseline."""
    baseline: float
    latest: float
    sigma: float | None = None
    distance: float | None = None
    """The latest score minus the baseline, in sigmas."""


class QualificationStanding(msgspec.Struct, frozen=True, kw_only=True):
    """The standing of an agent in a test: whether it is passed, with the evidence."""

    qualification: str
    name: str
    passed: bool
    """Whether it is currently passed."""
    code: StandingCode
    text: str
    threshold: float | None
    expires_at: str | None
    """The time when the latest result expires."""
    latest: QualificationResult | None
    """The latest valid result."""
    baseline: QualificationResult | None
    """The first valid result that was passed and states its sample size and the digests of the latest result."""
    drift: Drift | None
    runs: int
    """The number of recorded results, including invalid ones."""
    why: tuple[Why, ...]


class QualificationRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Every test that is declared or that an agent has taken, and every result.

    >>> from orgkernel import Kernel
    >>> Kernel.open().qualification_record("household", "clerk").qualifications
    ()
    """

    agent_id: str
    org_id: str
    qualifications: tuple[QualificationStanding, ...]
    results: tuple[QualificationResult, ...]
    """The results, oldest first, including invalid ones."""
    snapshot: str
    state_version: int


def build_qualification_record(
    view: OrgView, state: StateView, agent_id: str, now: float
) -> QualificationRecord:
    """The standing of an agent in every test."""
    results = state.results.get(agent_id, ())
    # A test that is no longer declared still has results, which must not disappear from the record.
    names = dict.fromkeys((*view.records.qualifications, *(each.qualification for each in results)))
    return QualificationRecord(
        agent_id=agent_id,
        org_id=view.org_id,
        qualifications=tuple(decide_standing(view.records, results, name, now) for name in names),
        results=results,
        snapshot=view.digest,
        state_version=state.version,
    )


def find_valid_results(
    results: Sequence[QualificationResult], qualification: str
) -> list[QualificationResult]:
    """The valid results of a test, oldest first."""
    return [each for each in results if each.qualification == qualification and each.invalidated_at is None]


def find_latest(results: Sequence[QualificationResult], qualification: str) -> QualificationResult | None:
    """The latest valid result of a test."""
    for each in reversed(results):
        if each.qualification == qualification and each.invalidated_at is None:
            return each
    return None


def has_passed(
    records: OrgRecords, results: Sequence[QualificationResult], qualification: str, now: float
) -> bool:
    """Whether the latest valid result is a pass under the current declaration.

    A result that was recorded as failed stays failed, and without a declaration there is no threshold to reach.
    """
    return _get_standing_code(records, results, qualification, now) == "PASSED"


def is_valid_pass(records: OrgRecords, result: QualificationResult, now: float) -> bool:
    """Whether a result is a pass under the current declaration of its test, whether or not it is the latest."""
    definition = records.qualifications.get(result.qualification)
    return (
        definition is not None
        and result.invalidated_at is None
        and _judge_result(records, definition.record, result, now) == "PASSED"
    )


def compute_end(declaration: Qualification | None, result: QualificationResult) -> float | None:
    """The time when a result expires; None for never."""
    days = None if declaration is None else declaration.expires_after_days
    ends = [
        each
        for each in (result.expires_at, None if days is None else result.at + days * _DAY)
        if each is not None
    ]
    return min(ends, default=None)


def build_passing_result(
    records: OrgRecords, agent_id: str, qualification: str, at: float
) -> QualificationResult:
    """A result that passes under the current declaration. Remedies assume it."""
    definition = records.qualifications.get(qualification)
    declared = Qualification() if definition is None else definition.record
    return QualificationResult(
        agent_id, qualification, 1.0, passed=True, at=at, sample_size=declared.min_sample_size,
        digests={name: resolve_digest(records, each) or "" for name, each in declared.digests.items()},
    )  # fmt: skip


def _get_standing_code(
    records: OrgRecords, results: Sequence[QualificationResult], qualification: str, now: float
) -> StandingCode:
    definition, latest = records.qualifications.get(qualification), find_latest(results, qualification)
    if definition is None:
        return "NOT_DECLARED"
    if latest is None:
        is_tested = any(each.qualification == qualification for each in results)
        return "ALL_INVALID" if is_tested else "NEVER_TESTED"
    return _judge_result(records, definition.record, latest, now)


def _judge_result(
    records: OrgRecords, declared: Qualification, result: QualificationResult, now: float
) -> StandingCode:
    """The standing that a result gives under the current declaration, if it was not invalidated."""
    # The threshold of today applies: raising it takes the qualification from those who no longer reach it.
    if result.score < declared.threshold:
        return "SCORE_TOO_LOW"
    if not result.passed:
        return "FAILED"
    if declared.min_sample_size is not None and (result.sample_size or 0) < declared.min_sample_size:
        return "SAMPLE_TOO_SMALL"
    # Another model or prompt was tested than the one that is declared now, so the result says nothing about it.
    if declared.digests and list_differing_digests(records, declared, result.digests):
        return "DIGEST_DIFFERS"
    end = compute_end(declared, result)
    return "PASSED" if end is None or end > now else "EXPIRED"


def decide_standing(
    records: OrgRecords, results: Sequence[QualificationResult], qualification: str, now: float
) -> QualificationStanding:
    """The standing in a test, from the results of an agent."""
    code = _get_standing_code(records, results, qualification, now)
    definition, latest = records.qualifications.get(qualification), find_latest(results, qualification)
    declared = None if definition is None else definition.record
    runs = find_valid_results(results, qualification)
    end = None if latest is None else compute_end(declared, latest)
    text, route = _explain(records, code, declared, latest, results, qualification)
    why = (
        ()
        if definition is None
        else (cite_place(f"qualification {qualification} is declared", definition.place(*route, key=True)),)
    )
    return QualificationStanding(
        qualification=qualification,
        name=(declared.name if declared is not None else "") or qualification,
        passed=code == "PASSED",
        code=code,
        text=text,
        threshold=None if declared is None else declared.threshold,
        expires_at=None if end is None else as_utc(end),
        latest=latest,
        baseline=next(
            (each for each in runs if _is_baseline(each) and each.digests == runs[-1].digests), None
        ),
        drift=decide_drift(runs),
        runs=sum(each.qualification == qualification for each in results),
        why=why,
    )


def _explain(
    records: OrgRecords,
    code: StandingCode,
    declared: Qualification | None,
    latest: QualificationResult | None,
    results: Sequence[QualificationResult],
    qualification: str,
) -> tuple[str, tuple[str, ...]]:
    """The sentence for a standing, and the field of the declaration that it concerns."""
    if declared is None:
        return f"no document declares {quote(qualification)}", ()
    if latest is None:
        if code == "NEVER_TESTED":
            return "it was never tested", ()
        last = next(each for each in reversed(results) if each.qualification == qualification)
        return f"every result is invalid; the last one because {quote(last.invalid_reason)}", ()
    scored = f"the result of {as_utc(latest.at)} is {latest.score:g}"
    if code == "SCORE_TOO_LOW":
        return f"{scored}, and {declared.threshold:g} is required", ("threshold",)
    if code == "FAILED":
        return f"{scored}, and was recorded as failed", ()
    if code == "SAMPLE_TOO_SMALL":
        size = (
            "does not say on how many cases"
            if latest.sample_size is None
            else f"rests on {latest.sample_size} cases"
        )
        return f"{scored} and {size}, and {declared.min_sample_size} are required", ("min_sample_size",)
    if code == "DIGEST_DIFFERS":
        names = list_differing_digests(records, declared, latest.digests)
        parts = {name: declared.digests[name] for name in names if is_part(declared.digests[name])}
        changed = [f"{name} ({part})" for name, part in parts.items()]
        others = [name for name in names if name not in parts]
        texts = [
            *([f"its digests differ from those declared now: {listing(others)}"] if others else []),
            *([f"these parts have changed since: {listing(changed)}"] if changed else []),
        ]
        return f"{scored}, but {', and '.join(texts)}", ("digests",)
    if code == "EXPIRED":
        end = compute_end(declared, latest)
        assert end is not None
        # The end that is stored with a result was declared here as well.
        field = () if declared.expires_after_days is None else ("expires_after_days",)
        return f"{scored} and expired at {as_utc(end)}", field
    sample = "" if latest.sample_size is None else f" in {latest.sample_size} cases"
    return f"{scored}{sample}, and {declared.threshold:g} is required", ("threshold",)


def _is_baseline(result: QualificationResult) -> bool:
    """Whether later results can be compared with a result: it is known what was tested, and on how many cases."""
    return result.passed and bool(result.digests) and result.sample_size is not None


def decide_drift(runs: Sequence[QualificationResult]) -> Drift | None:
    """Whether the latest valid run has drifted from the baseline; None if there is no baseline: a passed run
    with a sample size and the digests of the latest run. Runs with other digests are left out.

    distance = (latest - baseline) / sigma; an alarm from 2 on, critical from 3 on, in either direction. Sigma is the
    largest of three: the sample standard deviation of the runs before the latest, the variation from run to run; the standard error of the latest score, sqrt(p (1 - p) / n) with p the mean of the runs before it and n its
    sample size, where that is known, because a small sample varies by itself; and 0.01, so that a score that never varied
    has one. The latest run is not included in sigma, because it would widen it.
    """
    # Another model, prompt or test set is another measurement, so a run is compared only with runs of the same digests.
    runs = [each for each in runs if each.digests == runs[-1].digests]
    baseline = next((number for number, each in enumerate(runs) if _is_baseline(each)), None)
    if baseline is None or len(runs) - baseline < 2:
        return None
    first, latest, before = runs[baseline].score, runs[-1], [each.score for each in runs[baseline:-1]]
    if len(before) < MIN_RUNS:
        text = f"{len(before)} runs before the latest are too few to tell; {MIN_RUNS} are needed"
        return Drift(outcome="too_few_runs", text=text, runs=len(before), baseline=first, latest=latest.score)
    mean = sum(before) / len(before)
    spread = sqrt(sum((each - mean) ** 2 for each in before) / (len(before) - 1))
    error = 0.0 if latest.sample_size is None else sqrt(mean * (1 - mean) / latest.sample_size)
    sigma = max(spread, error, MIN_SIGMA)
    distance = round((latest.score - first) / sigma, 9)
    size = abs(distance)
    outcome: DriftOutcome = "critical" if size >= CRITICAL else "alarm" if size >= ALARM else "none"
    text = (
        f"the latest score {latest.score:g} is {size:.1f} sigma {'below' if distance < 0 else 'above'} the baseline "
        f"{first:g} (sigma {sigma:.3g} from {len(before)} runs)"
    )
    return Drift(
        outcome=outcome, text=text, runs=len(before), baseline=first, latest=latest.score, sigma=round(sigma, 9),
        distance=distance,
    )  # fmt: skip


def compute_level_for_score(score: float) -> int:
    """The highest level that a score reaches.

    >>> [compute_level_for_score(score) for score in (0.49, 0.5, 0.8, 1)]
    [1, 2, 5, 7]
    """
    return 1 + sum(score >= each for each in LEVEL_SCORES)
