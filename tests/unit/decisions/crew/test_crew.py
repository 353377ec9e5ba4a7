"""Commissions, vacancies, drift and trajectories, as decisions about documents and what is stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from orgkernel.decisions.crew.commissioning import decide_commission
from orgkernel.decisions.crew.vacancies import decide_vacancies
from orgkernel.decisions.evidence.crew_records import Personality, PersonalityObservation
from orgkernel.decisions.evidence.service_record import decide_drift
from orgkernel.decisions.evidence.state_view import EMPTY_STATE, AgentState, Lifecycle, SkillRecord, StateView
from orgkernel.graph.questions import OrgView
from tests.support.trees import read, write_tree

ORG = """
_schema: orgkernel:organization
org_id: ship
hierarchy: {captain: {subordinates: [chief]}, chief: {subordinates: [hand]}}
limits: {personality_drift: 0.5}
---
_schema: orgkernel:rank_ladder
ranks: [{id: ensign}, {id: commander, trust_from: 0.7, agency: autonomous}]
---
_schema: orgkernel:skill_catalog
categories: {pcc: {}, role: {}}
skills:
  talk: {category: pcc}
  helm: {category: role, prerequisites: [maps]}
  maps: {category: role, prerequisites: [talk]}
  dock: {category: role, prerequisites: [ropes]}
  ropes: {category: role}
---
_schema: orgkernel:qualification_catalog
qualifications: {license: {threshold: 0.5}}
---
_schema: orgkernel:tool_catalog
tools:
  radar: {type: infra_service, side_effects: read}
  engine: {type: computer_use, side_effects: write, qualifications: [license]}
---
_schema: orgkernel:plan_catalog
plans: {sail: {steps: [{step: look, tools: [radar, anchor]}]}}
---
_schema: orgkernel:crew_roster
agents:
  one: {rank: ensign, assignments: [{role: hand, watches: [beta]}], personality: {openness: 0.9}}
  two: {rank: commander, assignments: [{role: chief}]}
  three: {assignments: [{role: captain}, {role: chief}]}
---
_schema: orgkernel:role_profile
role_id: captain
role_type: commander
---
_schema: orgkernel:role_profile
role_id: chief
role_type: executive
entry_rank: commander
capabilities: {skills: [{skill: helm, min_proficiency: 2}]}
---
_schema: orgkernel:role_profile
role_id: hand
role_type: specialist
standing_orders: [Keep the log.]
capabilities:
  htn_plans: [sail]
  tools_primary: [radar, engine]
  skills: [{skill: helm}, {skill: maps}, {skill: dock}, {skill: ropes, optional: true}]
"""


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> OrgView:
    folder: Path = tmp_path_factory.mktemp("ship")
    write_tree(folder, {"org.yaml": ORG})
    return read(folder).organizations["ship"].index


def stored(**agents: Lifecycle) -> dict[str, AgentState]:
    return {name: AgentState(name, lifecycle=each, org_id="ship") for name, each in agents.items()}


def test_the_seven_steps_say_what_they_do_and_what_is_missing(view: OrgView) -> None:
    """In the order of onboarding; chained skills come after what they need, and none is skipped for being chained."""
    decision = decide_commission(view, "one", "hand", EMPTY_STATE, 0.0)
    assert (decision.outcome, decision.skills[0], decision.skills[-2:]) == (
        "commission",
        "talk",
        ("maps", "helm"),
    )
    steps = {each.step: each for each in decision.steps}
    assert list(steps) == [
        "post", "skills", "tools", "qualifications", "procedures", "standing_orders", "agency",
    ]  # fmt: skip
    assert steps["post"].items == ("chief", "captain")
    assert (steps["skills"].outcome, len(steps["skills"].missing)) == ("lacking", 1)
    assert "`dock` presupposes `ropes`" in steps["skills"].missing[0]
    assert "radar (full)" in steps["tools"].items
    assert "tool `engine` cannot be used now" in steps["tools"].missing[0]
    assert steps["qualifications"].missing == (
        "qualification `license`, which tool `engine` needs, is not passed",
    )
    assert steps["procedures"].items == ("sail",)
    assert steps["procedures"].missing == ("plan `sail` needs tool `anchor`, which the role does not have",)
    assert steps["standing_orders"].items == ("profile hand",)
    assert steps["agency"].items == ("ensign",)
    assert all(each.why for each in decision.steps)


@pytest.mark.parametrize(
    ("agent", "role", "code", "help"),
    [
        ("one", "cook", "ROLE_UNKNOWN", "roles are `captain`, `chief`, `hand`"),
        ("four", "hand", "AGENT_UNDECLARED", "`four: {assignments: [{role: hand}]}`"),
        ("one", "chief", "ROLE_NOT_ASSIGNED", "add `{role: chief}` to its `assignments`"),
        ("two", "chief", "AGENT_INACTIVE", "`orgkernel agent move two active`"),
    ],
)
def test_who_cannot_be_commissioned_is_told_what_to_add(
    view: OrgView, agent: str, role: str, code: str, help: str
) -> None:
    """The roster says who fills what; nothing is made up, and no step is taken."""
    decision = decide_commission(view, agent, role, StateView(agents=stored(two="suspended")), 0.0)
    assert (decision.outcome, decision.steps, decision.reasons[0].code) == ("refused", (), code)
    assert help in decision.help


def test_a_role_without_an_active_agent_is_vacant(view: OrgView) -> None:
    """The nearest superior with an active agent covers it; candidates are shown with what they lack."""
    assert decide_vacancies(view, EMPTY_STATE, 0.0).vacancies == ()
    state = StateView(
        agents=stored(two="suspended", three="decommissioned"),
        skills={"one": (SkillRecord("one", "ship", "helm", 1, 0.0),)},
    )
    captain, chief = decide_vacancies(view, state, 0.0).vacancies
    assert (captain.role_id, captain.kind, captain.covered_by) == ("captain", "not_at_work", None)
    assert (chief.role_id, chief.agents, chief.covered_by) == ("chief", ("two", "three"), None)
    assert [(each.agent_id, each.missing) for each in chief.candidates] == [
        (
            "one",
            (
                "its rank is below the entry rank `commander`",
                "it has skill `helm` at level 1, and level 2 is required",
            ),
        )
    ]
    away = StateView(agents=stored(one="registered"))
    (hand,) = decide_vacancies(view, away, 0.0).vacancies
    assert (hand.role_id, hand.covered_by) == ("hand", "chief")
    assert {each.agent_id: len(each.missing) for each in hand.candidates} == {"two": 3, "three": 3}


def test_drift_is_measured_against_the_roster(view: OrgView) -> None:
    """By the latest observation; an alarm is a distance beyond the limit."""
    assert decide_drift(view, "one", EMPTY_STATE).distance is None
    seen = PersonalityObservation("one", "ship", Personality(openness=0.4), 5.0, "a")
    drift = decide_drift(view, "one", StateView(personalities={"one": seen}))
    assert (round(drift.distance or 0, 3), drift.limit, drift.alarm) == (0.5, 0.5, False)
    further = PersonalityObservation("one", "ship", Personality(openness=0.3), 5.0, "a")
    assert decide_drift(view, "one", StateView(personalities={"one": further})).alarm
