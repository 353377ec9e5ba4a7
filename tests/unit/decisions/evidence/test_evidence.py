"""Drift of tests, trust in agents, and the order in which skills are commissioned: the arithmetic behind the answers."""

from __future__ import annotations

import random
from textwrap import dedent

import pytest

from orgkernel.decisions.evidence.qualifications import decide_drift
from orgkernel.decisions.evidence.role_skills import plan_commission
from orgkernel.decisions.evidence.state_view import QualificationResult
from orgkernel.decisions.evidence.trust import compute_credible_interval, compute_trust
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from tests.support.trees import write_tree

MANY = 10**8
"""A sample so large that it varies by nothing."""


def runs(
    *scores: float, size: int | None = MANY, threshold: float = 0.5, model: str = "m1"
) -> list[QualificationResult]:
    return [
        QualificationResult(
            "ann", "helm", score, score >= threshold, 0.0, sample_size=size, digests={"model": model}
        )
        for score in scores
    ]


@pytest.mark.parametrize(
    ("scores", "outcome"),
    [
        ((), None),
        ((0.9,), None),
        ((0.4, 0.4), None),  # no run was passed: nothing to compare with
        ((0.9, 0.1), "too_few_runs"),
        ((0.9, 0.9, 0.1), "too_few_runs"),
        ((0.9, 0.9, 0.9, 0.1), "critical"),
        ((0.4, 0.9, 0.9, 0.1), "too_few_runs"),  # the baseline is the first run that was passed
        ((0.9, 0.9, 0.9, 0.9), "none"),
        ((0.9, 0.9, 0.9, 0.89), "none"),  # it never varied: a hundredth is one sigma
        ((0.9, 0.9, 0.9, 0.88), "alarm"),
        ((0.9, 0.9, 0.9, 0.87), "critical"),
        ((0.8, 0.7, 0.9, 0.61), "none"),  # sigma is 0.1
        ((0.8, 0.7, 0.9, 0.6), "alarm"),
        ((0.8, 0.7, 0.9, 0.51), "alarm"),
        ((0.8, 0.7, 0.9, 0.5), "critical"),
        (
            (0.7, 0.6, 0.8, 1.0),
            "critical",
        ),  # upwards as well: the test has leaked, or measures something else
    ],
)
def test_drift_is_counted_in_sigmas_from_the_baseline(scores: tuple[float, ...], outcome: str | None) -> None:
    """With at least three runs before the latest, and from two and three sigmas on."""
    drift = decide_drift(runs(*scores))
    assert (None if drift is None else drift.outcome) == outcome
    if drift is not None and drift.sigma is not None:
        assert drift.distance == pytest.approx((drift.latest - drift.baseline) / drift.sigma)
        assert f"{drift.latest:g}" in drift.text


def test_a_small_sample_varies_by_itself() -> None:
    """One case of ten less is no drift; a tenth of a thousand cases less is."""
    assert decide_drift(runs(0.9, 0.9, 0.9, 0.8, size=10)).outcome == "none"
    assert decide_drift(runs(0.9, 0.9, 0.9, 0.8, size=1_000)).outcome == "critical"


def test_runs_of_other_digests_are_another_measurement() -> None:
    """A new model has its own baseline, and a return to the old one continues with the old runs."""
    old, new = runs(0.9, 0.9, 0.9), runs(0.5, 0.5, 0.5, 0.5, model="m2")
    assert decide_drift(old + new).outcome == "none"
    assert decide_drift(old + new[:1]) is None
    assert decide_drift(old + new + runs(0.5)).outcome == "critical"


def test_a_baseline_states_what_was_tested_and_on_how_many_cases() -> None:
    """A score without digests or without a sample size compares nothing."""
    assert decide_drift(runs(0.9, 0.9, 0.9, 0.1, size=None)) is None
    bare = [QualificationResult("ann", "helm", 0.9, True, 0.0, sample_size=MANY) for _ in range(5)]
    assert decide_drift(bare) is None


def test_trust_is_the_mean_of_its_distribution() -> None:
    """The prior weighs as much as its weight in outcomes; without a stated mean, nothing is known before the first."""
    trust = compute_trust(0.5, 4, 6, 0)
    assert (trust.mean, trust.alpha, trust.beta) == (0.8, 8, 2)
    assert compute_trust(None, 4, 0, 0).mean is None
    assert compute_trust(None, 4, 0, 4).mean == 0.25
    assert compute_trust(1, 4, 0, 0).mean == 1
    assert compute_credible_interval(compute_trust(1, 4, 0, 0)) == (1, 1)
    assert compute_credible_interval(compute_trust(0, 4, 0, 0)) == (0, 0)


@pytest.mark.parametrize(
    ("mean", "weight", "good", "bad"), [(0.5, 4, 0, 0), (0.1, 4, 0, 0), (0.9, 4, 300, 20)]
)
def test_the_credible_interval_is_that_of_drawn_samples(
    mean: float, weight: float, good: int, bad: int
) -> None:
    """95 of 100 samples of the distribution lie in it, and as many below as above."""
    trust = compute_trust(mean, weight, good, bad)
    low, high = compute_credible_interval(trust)
    chance = random.Random(1)
    drawn = [chance.betavariate(trust.alpha, trust.beta) for _ in range(20_000)]
    assert sum(each < low for each in drawn) / len(drawn) == pytest.approx(0.025, abs=0.005)
    assert sum(each > high for each in drawn) / len(drawn) == pytest.approx(0.025, abs=0.005)


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> OrgView:
    """Chained skills, a skill whose prerequisite no role requires, and a cycle."""
    folder = write_tree(
        tmp_path_factory.mktemp("chains"),
        {
            "org.yaml": "{_schema: 'orgkernel:organization', org_id: shop, hierarchy: {writer: {}, diver: {}, looper: {}}}",
            "skills.yaml": """
                _schema: orgkernel:skill_catalog
                skills:
                  posts: {prerequisites: [brand, writing]}
                  brand: {prerequisites: [{skill: writing, min_proficiency: 5}]}
                  writing: {}
                  depth: {prerequisites: [{skill: breath, min_proficiency: 2}]}
                  wrecks: {prerequisites: [depth]}
                  breath: {}
                  hen: {prerequisites: [egg]}
                  egg: {prerequisites: [hen]}
            """,
            "roles.yaml": dedent("""
                {_schema: "orgkernel:role_profile", role_id: writer, capabilities: {skills: [posts, brand, writing, {skill: wrecks, optional: true}]}}
                ---
                {_schema: "orgkernel:role_profile", role_id: diver, capabilities: {skills: [wrecks, depth]}}
                ---
                {_schema: "orgkernel:role_profile", role_id: looper, capabilities: {skills: [hen, egg, writing]}}
            """),
        },
    )
    return Kernel.open(folder).state.latest.organizations["shop"].index


def own(skills: tuple[str, ...], view: OrgView) -> list[str]:
    """Without the universal ones."""
    return [skill for skill in skills if view.records.skills[skill].record.category != "pcc"]


def test_chained_skills_are_commissioned_in_order(view: OrgView) -> None:
    """Universal skills and those that the role requires, prerequisites first, whatever level a prerequisite begins at."""
    plan = plan_commission(view, ["writer"], {})
    assert own(plan.skills, view) == ["writing", "brand", "posts"]
    assert len(plan.skills) == 10
    assert plan.skipped == ()


def test_a_prerequisite_that_is_not_commissioned_has_to_be_held(view: OrgView) -> None:
    """Without it, its skill is skipped, and what builds on that as well; a cycle begins nowhere and ends."""
    plan = plan_commission(view, ["diver"], {})
    assert (own(plan.skills, view), dict(plan.skipped)) == ([], {"depth": "breath", "wrecks": "depth"})
    assert own(plan_commission(view, ["diver"], {"breath": 1}).skills, view) == []
    assert own(plan_commission(view, ["diver"], {"breath": 2}).skills, view) == ["depth", "wrecks"]
    plan = plan_commission(view, ["looper"], {})
    assert own(plan.skills, view) == ["writing"]
    assert {skill for skill, _ in plan.skipped} == {"hen", "egg"}
