"""Laws of judging triggers without parsing them: the same limits, and nothing to say where nothing was found to say."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from orgkernel.rules.catalog import rules_of
from orgkernel.rules.org504_trigger_cannot_fire import RULE as CANNOT_FIRE
from orgkernel.rules.org505_tiers_out_of_order import RULE as OUT_OF_ORDER
from orgkernel.rules.rule import Scope
from orgkernel.triggers import NAMES, find_vacuous, find_vacuous_comparisons, parse_trigger, thresholds
from orgkernel.triggers.lower_limits import are_in_order, find_lower_limits
from tests.support.posts import post_with_triggers

NUMBERS = [
    "0",
    "1",
    "2",
    "3",
    "0.85",
    "1.5",
    "5.0",
    "12",
    "007",
    "9007199254740993",
    "1" * 400,
    "3.",
    ".5",
    "1e3",
    "-1",
]
names = st.sampled_from([*NAMES, "failures", "ghost", "Max", "or"])
sides = st.sampled_from(NUMBERS) | st.sampled_from(
    ["max", "max * 2", "max*1.5", "max *0", "2 * max", "max + 1", "context_fill"]
)
parts = names | st.builds(
    lambda name, space, sign, side: f"{name}{space}{sign}{space}{side}",
    names, st.sampled_from([" ", "", "  "]), st.sampled_from([">=", ">", ">", ">=", "<", "==", "=>"]), sides,
)  # fmt: skip
triggers = st.lists(parts, min_size=1, max_size=3).flatmap(
    lambda found: st.sampled_from([" OR ", " OR ", " OR ", " or ", " AND ", "OR"]).map(
        lambda joined: joined.join(found)
    )
)
plain_parts = st.sampled_from(sorted(name for name in NAMES if NAMES[name].kind == "flag")) | st.builds(
    lambda name, sign, side: f"{name} {sign} {side}",
    st.sampled_from(["consecutive_tool_failures", "context_fill", "turns_without_progress", "elapsed_seconds"]),
    st.sampled_from([">=", ">"]), st.sampled_from(["0.5", "0.85", "3", "4", "4.5", "max", "max * 1.5"]),
)  # fmt: skip
plain_triggers = st.lists(plain_parts, min_size=1, max_size=3).map(" OR ".join)
limits = st.integers(1, 30)


@settings(max_examples=300)
@given(triggers | plain_triggers, limits)
@example("consecutive_tool_failures >= 9007199254740993", 12)
@example("context_fill > 1", 12)
def test_lower_limits_agree_with_ranges(text: str, max_turns: int) -> None:
    """A trigger judged without parsing is sound, never constant in any part, and has the thresholds it is said to have."""
    found = find_lower_limits(text, max_turns)
    if found is None:
        return
    parsed = parse_trigger(text)
    assert parsed.tree is not None
    assert not any(use.is_alias for use in parsed.uses)
    assert set(found) == {use.target for use in parsed.uses} - {"max"}
    assert find_vacuous(parsed.tree, max_turns) is None
    assert find_vacuous_comparisons(parsed.tree, max_turns) == ()
    flags = {name: 1 for name in found if NAMES[name].kind == "flag"}
    assert found == {**thresholds(parsed.tree, max_turns), **flags}


@settings(max_examples=300)
@given(st.lists(plain_triggers, min_size=1, max_size=3), limits)
@example(["context_fill >= 0.85", "context_fill > 0.85"], 12)
@example(["unrecoverable_error", "unrecoverable_error OR context_fill > 0.5"], 12)
def test_tiers_in_order_raise_nothing(texts: list[str], max_turns: int) -> None:
    """No rule about profiles has anything to say about triggers that are in order by their lower limits."""
    if are_in_order(texts, max_turns):
        post = post_with_triggers(texts, max_turns)
        for rule in rules_of(Scope.PROFILE):
            assert list(rule.run(post)) == []


def test_usual_triggers_are_judged_without_parsing() -> None:
    """What people write is, so that the laws are not kept by judging nothing; and disorder is noticed."""
    usual = ["consecutive_tool_failures >= 3", "consecutive_tool_failures >= 5 OR context_fill > 0.85"]
    usual.append("unrecoverable_error OR turns_without_progress > max * 1.5")
    assert are_in_order(usual, 12)
    for texts, rule in ((usual[1::-1], OUT_OF_ORDER), (["context_fill > 1"], CANNOT_FIRE)):
        assert not are_in_order(texts, 12)
        assert list(rule.run(post_with_triggers(texts, 12)))
