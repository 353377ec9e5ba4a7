"""Laws of decay, drift and trust, whatever the numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from orgkernel.decisions.evidence.qualifications import decide_drift
from orgkernel.decisions.evidence.skill_levels import DAY, compute_level
from orgkernel.decisions.evidence.state_view import QualificationResult, SkillRecord
from orgkernel.decisions.evidence.trust import compute_credible_interval, compute_trust

TIMES = st.floats(-1_000, 10_000).map(lambda days: days * DAY)
RATES = st.integers(1, 400)
LAPSED = st.integers(0, 3)
RECORDS = st.builds(
    SkillRecord,
    agent_id=st.just("ann"), org_id=st.just("ship"), skill=st.just("helm"), proficiency=st.integers(1, 7),
    acquired_at=st.just(0.0), decays_from=TIMES, suspended=st.booleans(),
)  # fmt: skip
SCORES = st.lists(st.floats(0, 1), max_size=12)


@given(RECORDS, RATES, LAPSED, TIMES, TIMES)
def test_a_level_never_rises_with_time(
    record: SkillRecord, rate: int, lapsed: int, one: float, other: float
) -> None:
    """It stays between 1 and what was recorded, and without decay while it is suspended."""
    earlier, later = sorted((one, other))
    levels = [compute_level(record, rate, lapsed, earlier), compute_level(record, rate, lapsed, later)]
    assert 1 <= levels[1] <= levels[0] <= record.proficiency
    assert not record.suspended or levels[1] == max(1, record.proficiency - lapsed)


@given(RECORDS, RATES, TIMES, TIMES)
def test_practice_never_costs_a_level(record: SkillRecord, rate: int, one: float, other: float) -> None:
    """Writing down what is left, as an exercise does, leaves at least what would be left without it."""
    lapsed = 0  # an exercise writes down the level that practice leaves, so raises that lapsed stay apart
    earlier, later = sorted((max(one, record.decays_from), max(other, record.decays_from)))
    practiced = replace(record, proficiency=compute_level(record, rate, lapsed, earlier), decays_from=earlier)
    assert compute_level(practiced, rate, lapsed, earlier) == compute_level(record, rate, lapsed, earlier)
    assert compute_level(practiced, rate, lapsed, later) >= compute_level(record, rate, lapsed, later)


@given(SCORES, st.none() | st.integers(1, 10_000))
def test_drift_always_has_an_answer(scores: list[float], size: int | None) -> None:
    """Never a division by zero; a latest score that is the baseline never drifts."""
    runs = [QualificationResult("ann", "t", score, score >= 0.5, 0.0, sample_size=size) for score in scores]
    drift = decide_drift(runs)
    if drift is not None and drift.latest == drift.baseline:
        assert drift.outcome in ("none", "too_few_runs")
    if drift is not None and drift.sigma is not None:
        assert drift.sigma > 0


@given(st.none() | st.floats(0, 1), st.floats(0.01, 100), st.integers(0, 10_000), st.integers(0, 10_000))
def test_trust_follows_outcomes(mean: float | None, weight: float, good: int, bad: int) -> None:
    """A success never lowers it, a failure never raises it, and the interval lies between 0 and 1, in order."""
    trust, better, worse = (
        compute_trust(mean, weight, good + more, bad + less) for more, less in ((0, 0), (1, 0), (0, 1))
    )
    low, high = compute_credible_interval(trust)
    assert 0 <= low <= high <= 1
    if trust.mean is not None:
        assert worse.mean - 1e-12 <= trust.mean <= better.mean + 1e-12
