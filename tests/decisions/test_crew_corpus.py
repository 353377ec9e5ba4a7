"""Questions about skills, tests and ranks with complete answers, the same ones from the functions and from the kernel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orgkernel.decisions.crew.promotion import PromotionDecision, decide_promotion
from orgkernel.decisions.crew.skill_profile import SkillProfile, build_skill_profile
from orgkernel.decisions.evidence.qualifications import QualificationRecord, build_qualification_record
from orgkernel.decisions.evidence.state_view import AgentState, QualificationResult, SkillRecord, StateView
from orgkernel.kernel.kernel import Kernel
from orgkernel.project.cases import FixedState
from tests.support.trees import ONTOLOGY, write_tree
from tests.support.yaml_text import read_yaml_file

DAY = 86_400.0
FILES = [read_yaml_file(path) for path in sorted((Path(__file__).parent / "crew_corpus").glob("*.yaml"))]
CASES = [
    pytest.param(number, case, id=case["name"]) for number, file in enumerate(FILES) for case in file["cases"]
]
SHARED = {
    skill
    for skill, said in read_yaml_file(ONTOLOGY / "skills.yaml")["skills"].items()
    if said["category"] == "pcc"
}
Answers = tuple[SkillProfile, QualificationRecord, PromotionDecision]


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> list[Kernel]:
    return [Kernel.open(write_tree(tmp_path_factory.mktemp("crew"), file["files"])) for file in FILES]


def state_of(case: dict[str, Any], org: str) -> StateView:
    """What the case says is stored."""
    agent = case["agent"]
    held = case.get("skills", {})
    if "universal" in case:
        held = held | {skill: {"proficiency": case["universal"]} for skill in SHARED}
    skills = tuple(
        SkillRecord(agent, org, skill, **{"acquired_at": 0.0, "decays_from": 0.0} | _in_seconds(said))
        for skill, said in sorted(held.items())
    )
    results = tuple(
        QualificationResult(
            agent, said["qualification"], said["score"], said.get("passed", True), 0.0, org_id=org, result_id=number,
            **{name: said[name] for name in ("sample_size", "digests", "invalidated_at", "invalid_reason") if name in said},
        )
        for number, said in enumerate(case.get("results", ()), 1)
    )  # fmt: skip
    stored = case.get("stored")
    return StateView(
        1,
        {} if stored is None else {agent: AgentState(agent, org_id=org, **stored)},
        results={agent: results} if results else {},
        skills={agent: skills} if skills else {},
    )


def _in_seconds(said: dict[str, Any]) -> dict[str, Any]:
    return {name: value * DAY if name == "decays_from" else value for name, value in said.items()}


def from_functions(kernel: Kernel, org: str, agent: str, state: StateView, now: float) -> Answers:
    view = kernel.organization(org).snapshot.graph
    return (
        build_skill_profile(view, state, agent, now),
        build_qualification_record(view, state, agent, now),
        decide_promotion(view, state, agent, now),
    )


def from_kernel(kernel: Kernel, org: str, agent: str, state: StateView, now: float) -> Answers:
    asked = kernel.with_store(FixedState(state), lambda: (now, 0))
    return (
        asked.skill_profile(org, agent),
        asked.qualification_record(org, agent),
        asked.promotion(org, agent),
    )


SURFACES: dict[str, Callable[..., Answers]] = {"functions": from_functions, "kernel": from_kernel}


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize(("number", "case"), CASES)
def test_case(kernels: list[Kernel], number: int, case: dict[str, Any], surface: str) -> None:
    """The answer is this, and everything in it names its line."""
    org = FILES[number]["org"]
    now = case.get("now", 0) * DAY
    profile, record, decision = SURFACES[surface](
        kernels[number], org, case["agent"], state_of(case, org), now
    )
    found = told(profile, record, decision)
    expected = {name: case[name] for name in found if name in case}
    assert {name: found[name] for name in expected} == expected
    for whole in (profile.gaps, *(path.requirements for path in decision.paths)):
        assert all(each.why for each in whole if getattr(each, "kind", "") != "lifecycle")


def told(profile: SkillProfile, record: QualificationRecord, decision: PromotionDecision) -> dict[str, Any]:
    """The answers in the words of the cases."""
    held = [
        each for each in (*profile.universal, *profile.role, *profile.acquired) if each.skill not in SHARED
    ]
    upwards = [path for path in decision.paths if path.kind == "promote"]
    unmet = {path.rank: [each for each in path.requirements if not each.met] for path in upwards}
    assert {path.rank: unmet[path.rank] for path in upwards} == {
        each.rank: list(each.unmet) for each in profile.rank_gaps[: len(upwards)]
    }
    mean = decision.trust.mean
    return {
        "levels": {each.skill: each.level for each in held},
        "groups": {
            group: [each.skill for each in getattr(profile, group) if each.skill not in SHARED]
            for group in ("universal", "role", "acquired")
        },
        "depth": profile.depth,
        "breadth": profile.breadth,
        "gaps": [_gap_words(each) for each in profile.gaps if each.skill not in SHARED],
        "standings": {each.qualification: each.code for each in record.qualifications},
        "paths": {f"{path.kind} {path.rank}": path.outcome for path in decision.paths},
        "unmet": {rank: [each.kind for each in checks] for rank, checks in unmet.items()},
        "missing": {rank: [one for each in checks for one in each.missing] for rank, checks in unmet.items()},
        "because": decision.promotion.text if decision.promotion else None,
        "trust": None if mean is None else round(mean, 3),
        "rank": decision.rank,
    }


def _gap_words(gap: Any) -> str:
    need = "could have" if gap.optional else "needs"
    suspended = "is suspended" if "suspended" in gap.text else "is not held"
    has = suspended if gap.level is None else f"is at {gap.level}"
    after = f", after {', '.join(gap.blocked_by)}" if gap.blocked_by else ""
    return f"{gap.skill} {need} {gap.required}, {has}{after}"
