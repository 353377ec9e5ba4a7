"""PACE tiers of one role: transitions, what is named, what has to be done, plans from bundles."""

from __future__ import annotations

import json
from typing import Any, get_args, get_type_hints

import pytest

from orgkernel.decisions.evidence.state_view import PaceTierName
from orgkernel.documents.records import Circumstances, Status
from orgkernel.documents.records import PacePlan as PacePlanRecord
from orgkernel.runtime.observation import FLAGS, NAMES, Observation, is_measure
from orgkernel.runtime.pace import (
    CompiledPacePlan,
    Obligation,
    PaceMemory,
    PlanError,
    Tier,
    advance,
    decide_pace,
    list_obligations,
    read_plan,
)
from orgkernel.runtime.tiers import NO_NEW_HANDOFF, NO_NEW_WORK, TIERS
from orgkernel.runtime.trigger_names import NAMES as TRIGGER_NAMES
from orgkernel.runtime.trigger_parser import parse_trigger


def tree(text: str) -> Any:
    return parse_trigger(text).tree


# The plan of the specification's example.
SPECIFICATION = CompiledPacePlan(
    {
        "primary": Tier("normal_execution", "Execute task using preferred tools and HTN plan"),
        "alternate": Tier("fallback_chain", "Self-recovery", tree("consecutive_tool_failures >= 3")),
        "contingent": Tier(
            "escalate",
            "Report inability",
            tree("consecutive_tool_failures >= 5 OR context_fill > 0.85"),
            "s2_xo",
        ),
        "emergency": Tier(
            "abort_and_report",
            "Abort task",
            tree("unrecoverable_error OR turns_without_progress > max * 1.5"),
            "s2_xo",
        ),
    },
    12,
)


def seen(failures: int = 0, **other: Any) -> Observation:
    return Observation(**{"consecutive_tool_failures": failures, "context_fill": 0.2, "turns_without_progress": 0,
                          "unrecoverable_error": False, **other})  # fmt: skip


def test_failures_lead_from_primary_over_alternate_to_contingent_and_back():
    """The specification's test 5: each step is named with its numbers, and success restores primary."""
    tier, said = "primary", []
    for failures in (0, 2, 3, 5, 6, 0):
        decision = decide_pace(SPECIFICATION, seen(failures), tier)
        tier = decision.tier
        if decision.changed:
            said.append(decision.text())
    assert said == [
        "escalated from primary to alternate: consecutive_tool_failures 3 >= 3",
        "escalated from alternate to contingent: consecutive_tool_failures 5 >= 5",
        "restored from contingent to primary: no higher trigger is true",
    ]


def test_a_tier_can_be_skipped():
    """Escalation is at once: nothing has to pass through the tiers between."""
    decision = decide_pace(SPECIFICATION, seen(0, unrecoverable_error=True))
    assert (decision.tier, decision.raised, decision.restored) == ("emergency", True, False)
    assert decision.text() == "escalated from primary to emergency: unrecoverable_error"


def test_a_tier_is_left_for_the_one_that_still_holds():
    """Where the window is no longer full and failures go on, contingent gives way to alternate, not to primary."""
    decision = decide_pace(SPECIFICATION, seen(4), "contingent")
    assert (decision.tier, decision.restored) == ("alternate", True)
    assert decision.text() == "restored from contingent to alternate: consecutive_tool_failures 4 >= 3"


def test_what_is_not_seen_any_more_keeps_its_tier():
    """A host that stops reporting the fill of the window does not restore the tier the fill led to."""
    full = decide_pace(SPECIFICATION, seen(0, context_fill=0.9))
    blind = decide_pace(SPECIFICATION, seen(0, context_fill=None), full.held)
    assert (full.tier, blind.tier, blind.changed, blind.unknown) == (
        "contingent",
        "contingent",
        False,
        ("context_fill",),
    )
    assert (
        blind.text()
        == "still contingent: whether it is over is unknown, because of missing values: context_fill"
    )


def test_an_unreported_flag_does_not_prevent_restoration():
    """A host without any word on unrecoverable errors still restores primary from alternate."""
    decision = decide_pace(SPECIFICATION, seen(0, unrecoverable_error=None), "alternate")
    assert (decision.tier, decision.unknown) == ("primary", ("unrecoverable_error",))


def test_progress_ends_an_emergency():
    """Hardly any host reports `unrecoverable_error`; a role that makes progress is not stuck. Other tiers do not care."""
    late = decide_pace(SPECIFICATION, seen(0, turns_without_progress=19, unrecoverable_error=None))
    stays = decide_pace(SPECIFICATION, seen(0, turns_without_progress=1, unrecoverable_error=None), late.held)
    assert (late.tier, stays.tier, stays.progressed) == ("emergency", "emergency", False)
    over = decide_pace(SPECIFICATION, seen(0, unrecoverable_error=None), late.held)
    assert (over.tier, over.held, over.progressed) == ("primary", (), True)
    assert over.text() == "restored from emergency to primary: progress was made"
    failing = decide_pace(SPECIFICATION, seen(4, unrecoverable_error=None), late.held)
    assert failing.text() == "restored from emergency to alternate: consecutive_tool_failures 4 >= 3"
    said = decide_pace(SPECIFICATION, seen(0, unrecoverable_error=True), late.held)
    assert (said.tier, said.progressed) == ("emergency", False)
    full = decide_pace(SPECIFICATION, seen(0, context_fill=None), "contingent")
    assert full.tier == "contingent"


@pytest.mark.parametrize("turns", [None, False, 1, 0.5, "0"])
def test_what_is_no_progress_ends_no_emergency(turns: Any):
    """Only a count of zero says that the last call made progress."""
    observation = seen(0, turns_without_progress=turns, unrecoverable_error=None)
    assert decide_pace(SPECIFICATION, observation, "emergency").tier == "emergency"


def test_each_tier_is_let_go_by_itself():
    """From an emergency that is over, a role comes back to the tier that nothing has shown to be over."""
    both = decide_pace(SPECIFICATION, seen(0, context_fill=0.9, unrecoverable_error=True))
    after = decide_pace(SPECIFICATION, seen(0, context_fill=None), both.held)
    assert (both.tier, both.held, after.tier) == ("emergency", ("contingent", "emergency"), "contingent")
    only = decide_pace(SPECIFICATION, seen(0, context_fill=None), "emergency")
    assert only.tier == "primary"


def test_a_new_task_begins_in_primary():
    """What was held is forgotten, and the sentence says why."""
    decision = decide_pace(SPECIFICATION, seen(0, context_fill=None), "contingent", new_task=True)
    assert decision.text() == "restored from contingent to primary: a new task began"


def test_a_new_task_that_begins_badly_escalates_at_once():
    """What is true now counts, also in the first call of a task."""
    decision = decide_pace(SPECIFICATION, seen(0, context_fill=0.9), "primary", new_task=True)
    assert decision.tier == "contingent"


def test_turns_are_compared_with_the_role_s_own_limit():
    """`max` is `doctrine.max_turns_without_progress`."""
    observation = seen(0, turns_without_progress=19)
    assert decide_pace(SPECIFICATION, observation).tier == "emergency"
    assert decide_pace(CompiledPacePlan(SPECIFICATION.tiers, 13), observation).tier == "primary"


def test_without_a_plan_a_role_stays_in_primary():
    """Nothing is declared, so nothing trips."""
    decision = decide_pace(CompiledPacePlan({}), seen(99), "emergency")
    assert (decision.tier, decision.obligations[0].action) == ("primary", "normal_execution")


@pytest.mark.parametrize(
    ("tier", "obligation"),
    [
        ("primary", Obligation("normal_execution", None, "continue as planned: Execute task using preferred tools and HTN plan")),
        ("alternate", Obligation("fallback_chain", None, "use the fallback of the failing tool, or take a smaller step: Self-recovery")),
        ("contingent", Obligation("escalate", "s2_xo", "hand over to s2_xo: Report inability")),
        ("emergency", Obligation("abort_and_report", "s2_xo", "stop, preserve the state and report to s2_xo: Abort task")),
    ],
)  # fmt: skip
def test_each_tier_obliges_to_its_action(tier: str, obligation: Obligation):
    """The action, whom it is addressed to, and both in words."""
    assert list_obligations(SPECIFICATION, tier) == (obligation,)


def test_an_unknown_action_becomes_the_default_of_its_tier():
    """A word of the user's own (ORG509) does not leave a role without an obligation."""
    plan = CompiledPacePlan({"contingent": Tier("panic", "", tree("context_exhausted"), "co")})
    assert list_obligations(plan, "contingent") == (Obligation("escalate", "co", "hand over to co"),)


def test_the_memory_of_roles_is_plain_json():
    """A host keeps it in what it saves with the chat, and goes on from there."""
    decision, memory = advance(PaceMemory(), "codegen", SPECIFICATION, seen(5))
    kept = PaceMemory(json.loads(json.dumps(memory.held)))
    assert memory.held == {"codegen": decision.held}
    assert kept.held == {"codegen": list(decision.held)}
    assert decision.tier == "contingent"
    again, cleared = advance(kept, "codegen", SPECIFICATION, seen(0))
    assert (decision.raised, again.restored, cleared.held) == (True, True, {})


def test_a_plan_is_read_from_a_bundle():
    """Tiers as JSON has them; a tier that hands over without a target hands over to the superior."""
    data = {
        "reports_to": "engineering_xo",
        "max_turns": 8,
        "pace": {
            "primary": {"action": "normal_execution", "description": "", "escalate_to": None, "trigger": None, "text": ""},
            "contingent": {"action": "escalate", "description": "d", "escalate_to": None, "trigger": ["flag", "context_exhausted"], "text": "context_exhausted"},
            "emergency": {"action": "abort_and_report", "escalate_to": "co", "trigger": ["flag", "unrecoverable_error"]},
        },
    }  # fmt: skip
    plan = read_plan(json.loads(json.dumps(data)))
    assert plan.max_turns == 8
    assert plan.tiers["contingent"] == Tier("escalate", "d", ["flag", "context_exhausted"], "engineering_xo")
    assert list_obligations(plan, "emergency")[0].to == "co"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"pace": []}, "`pace` is not a mapping of tiers"),
        ({"pace": {"panic": {}}}, "`panic` is not a PACE tier"),
        ({"pace": {"alternate": 3}}, "`pace/alternate` is not a mapping"),
        ({"pace": {"alternate": {"trigger": ["flag"]}}}, "`pace/alternate/trigger`: `flag` has the wrong number of operands in a trigger tree: 0"),
        ({"pace": {"alternate": {"trigger": "context_fill > 1"}}}, "`pace/alternate/trigger`: each part of a trigger tree must be a list that starts with its operator"),
        ({"pace": {"alternate": {"action": 3}}}, "`pace/alternate` has a value that is not a string"),
        ({"pace": {"alternate": {"escalate_to": ["co"]}}}, "`pace/alternate` has a value that is not a string"),
        ({"max_turns": 0}, "`max_turns` is not a number of turns"),
        ({"max_turns": True}, "`max_turns` is not a number of turns"),
    ],
)  # fmt: skip
def test_what_is_no_plan_is_refused_with_its_place(data: dict[str, Any], message: str):
    """A bundle is checked before any of it is used."""
    with pytest.raises(PlanError) as raised:
        read_plan(data)
    assert str(raised.value) == message


def test_a_role_without_a_plan_is_read_as_one():
    """`pace` may be missing or null."""
    assert read_plan({}) == read_plan({"pace": None}) == CompiledPacePlan({})


def test_an_observation_has_the_names_of_the_trigger_language():
    """All of them but `max`, which the plan knows; and its flags are the flags there."""
    assert set(Observation().measures(12)) == set(TRIGGER_NAMES)
    assert {*NAMES, "max"} == set(TRIGGER_NAMES)
    assert set(FLAGS) == {name for name, entry in TRIGGER_NAMES.items() if entry.kind == "flag"}
    assert Observation(context_fill=0.5).measures(7)["max"] == 7


@pytest.mark.parametrize(
    ("name", "value", "fits"),
    [
        ("context_fill", 0.5, True),
        ("context_fill", 85, False),
        ("context_fill", None, True),
        ("turns_elapsed", 3, True),
        ("turns_elapsed", -1, False),
        ("turns_elapsed", True, False),
        ("elapsed_seconds", float("nan"), False),
        ("context_exhausted", True, True),
        ("context_exhausted", 1, False),
    ],
)
def test_a_measure_is_told_from_what_says_nothing(name: str, value: Any, fits: bool):
    """A percentage is no fraction, a number no flag."""
    assert is_measure(name, value) is fits


def test_what_a_tier_forbids_grows_with_the_tier():
    """A tier forbids whatever a lower one does."""
    for forbidden in (NO_NEW_HANDOFF, NO_NEW_WORK):
        ranks = sorted(TIERS.index(tier) for tier in forbidden)
        assert ranks == list(range(ranks[0], len(TIERS)))
    assert NO_NEW_WORK <= NO_NEW_HANDOFF


def test_all_parts_have_the_same_tiers():
    """Documents, decision cases, reports, requests and the runtime."""
    assert get_args(PaceTierName) == TIERS
    assert PacePlanRecord.__struct_fields__ == TIERS
    assert get_args(get_type_hints(Status)["pace_level"]) == TIERS
    assert get_args(get_args(get_type_hints(Circumstances)["pace"])[0]) == TIERS
