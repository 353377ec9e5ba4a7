"""Laws of PACE, over generated plans and observations."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from orgkernel import Kernel
from orgkernel.runtime.observation import FLAGS, NAMES, Observation
from orgkernel.runtime.pace import CompiledPacePlan, PaceMemory, Tier, advance, decide_pace
from orgkernel.runtime.tiers import ABORT, ESCALATE, TIERS
from orgkernel.runtime.triggers import evaluate_trigger
from tests.property.test_trigger_laws import rising_trees, trees

KERNEL = Kernel.open()


def value_of(name: str) -> st.SearchStrategy[Any]:
    if name in FLAGS:
        return st.booleans()
    return st.floats(0, 1) if name == "context_fill" else st.integers(0, 25)


def plans(triggers: st.SearchStrategy[Any]) -> st.SearchStrategy[CompiledPacePlan]:
    tiers = st.dictionaries(st.sampled_from(TIERS[1:]), triggers.map(lambda tree: Tier(trigger=tree)))
    return st.builds(CompiledPacePlan, tiers, st.integers(1, 20))


observations = st.builds(Observation, **{name: st.none() | value_of(name) for name in NAMES})
whole_observations = st.builds(Observation, **{name: value_of(name) for name in NAMES})
tiers = st.sampled_from(TIERS)
held = st.sets(st.sampled_from(TIERS[1:])).map(tuple)


def rank(tier: str) -> int:
    return TIERS.index(tier)


@pytest.mark.parametrize("org", ["software_dev", "sigint_alpha", "household", "blank"])
def test_escalation_goes_up_the_chain(org: str) -> None:
    """Escalation goes up: whom any tier of any role of a template hands over to stands above that role."""
    from orgkernel.decisions.status.pace import get_pace_plan
    from orgkernel.runtime.pace import list_obligations

    index = KERNEL.organization(org).snapshot.index
    for role_id in index.roles:
        above = {edge.target for edge in index.list_chain_above(role_id)}
        for tier in get_pace_plan(index, role_id).tiers:
            for obligation in list_obligations(get_pace_plan(index, role_id), tier):
                if obligation.action in (ESCALATE, ABORT) and above:
                    assert obligation.to in above, (role_id, tier)


@given(plans(trees), observations, held, st.booleans())
def test_escalation_goes_up_for_a_reason(
    plan: CompiledPacePlan, observation: Observation, before: tuple[str, ...], new_task: bool
) -> None:
    """Escalation goes up: a tier is entered from below only by a comparison that is true of its own trigger."""
    decision = decide_pace(plan, observation, before, new_task=new_task)
    if decision.raised:
        trigger = plan.tiers[decision.tier].trigger
        assert trigger is not None
        verdict = evaluate_trigger(trigger, observation.measures(plan.max_turns))
        assert verdict.value is True
        assert decision.reasons == verdict.tripped


@given(
    plans(rising_trees),
    observations,
    held,
    st.fixed_dictionaries({}, optional={name: st.integers(0, 30) for name in NAMES[:2]}),
    st.sets(st.sampled_from(FLAGS)),
)
def test_more_failures_never_lower_the_tier(
    plan: CompiledPacePlan,
    observation: Observation,
    before: tuple[str, ...],
    more: dict[str, int],
    set_flags: set[str],
) -> None:
    """With triggers that only ask for *more*, worse is never judged better."""
    worse = {
        name: known + more[name] for name in more if (known := getattr(observation, name)) is not None
    } | {flag: True for flag in set_flags if getattr(observation, flag) is not None}
    there = decide_pace(plan, observation._replace(**worse), before)
    assert rank(there.tier) >= rank(decide_pace(plan, observation, before).tier)


@given(plans(trees), observations, held)
def test_clearing_triggers_restores_primary(
    plan: CompiledPacePlan, observation: Observation, before: tuple[str, ...]
) -> None:
    """As soon as every trigger is seen to be false, whatever was before."""
    measures = observation.measures(plan.max_turns)
    found = [evaluate_trigger(tier.trigger, measures).value for tier in plan.tiers.values() if tier.trigger]
    assume(all(value is False for value in found))
    decision = decide_pace(plan, observation, before)
    assert (decision.tier, decision.held, decision.reasons) == ("primary", (), ())


@given(plans(trees), observations, held)
def test_a_new_task_starts_from_primary(
    plan: CompiledPacePlan, observation: Observation, before: tuple[str, ...]
) -> None:
    """What was held before counts for nothing; only what is true now does."""
    assert decide_pace(plan, observation, before, new_task=True).held == decide_pace(plan, observation).held


@given(plans(trees), observations, held)
def test_unknown_is_not_false(
    plan: CompiledPacePlan, observation: Observation, before: tuple[str, ...]
) -> None:
    """A tier whose trigger is unknown is held exactly if it was held before; an emergency ends with progress."""
    decision = decide_pace(plan, observation, before)
    measures = observation.measures(plan.max_turns)
    for name, tier in plan.tiers.items():
        assert tier.trigger is not None
        value = evaluate_trigger(tier.trigger, measures).value
        over = name == "emergency" and observation.turns_without_progress == 0
        assert (name in decision.held) == (name in before and not over if value is None else value)
        if name == "emergency":
            assert decision.progressed == (value is None and name in before and over)


@given(plans(trees), tiers)
def test_nothing_reported_changes_nothing_that_a_trigger_can_see(plan: CompiledPacePlan, before: str) -> None:
    """A host that goes blind neither raises nor restores a tier its triggers cannot tell."""
    blind = Observation().measures(plan.max_turns)
    known = [evaluate_trigger(tier.trigger, blind).value for tier in plan.tiers.values() if tier.trigger]
    assume(all(value is None for value in known))
    assume(before == "primary" or before in plan.tiers)
    decision = decide_pace(plan, Observation(), before)
    assert decision.tier == before
    assert not decision.changed


@given(plans(trees), st.lists(st.tuples(st.sampled_from("ab"), observations), max_size=8))
def test_roles_do_not_mix(plan: CompiledPacePlan, seen: list[tuple[str, Observation]]) -> None:
    """Each role's tiers follow from its own observations, in whatever order roles take turns."""
    memory = PaceMemory()
    for role_id, observation in seen:
        decision, memory = advance(memory, role_id, plan, observation)
        assert memory.held.get(role_id, ()) == decision.held
    for role_id in "ab":
        alone: tuple[str, ...] = ()
        for other, observation in seen:
            if other == role_id:
                alone = decide_pace(plan, observation, alone).held
        assert memory.held.get(role_id, ()) == alone


@given(
    plans(trees),
    st.builds(
        Observation,
        **{name: st.none() | st.floats() | st.text() | st.booleans() | st.integers() for name in NAMES},
    ),
    st.text() | held,
)  # type: ignore[arg-type]
def test_whatever_a_host_reports_there_is_a_tier(
    plan: CompiledPacePlan, observation: Observation, before: Any
) -> None:
    """Values of the wrong kind count as not reported, and words that are no tier as primary; nothing raises."""
    decision = decide_pace(plan, observation, before)
    assert decision.tier in TIERS
    assert decision.previous in TIERS
    assert decision.obligations
    assert decision.tier in decision.text()


@given(plans(trees), whole_observations, held)
def test_the_tier_is_the_highest_that_is_true_where_everything_is_seen(
    plan: CompiledPacePlan, observation: Observation, before: tuple[str, ...]
) -> None:
    """With everything reported, and every trigger defined, the past does not matter."""
    measures = observation.measures(plan.max_turns)
    found = {
        name: evaluate_trigger(tier.trigger, measures).value
        for name, tier in plan.tiers.items()
        if tier.trigger
    }
    assume(None not in found.values())
    highest = max((name for name, value in found.items() if value), key=rank, default="primary")
    assert decide_pace(plan, observation, before).tier == highest
