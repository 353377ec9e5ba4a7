"""What is proven of a trigger over all values its names can take."""

import pytest

from orgkernel.rules.doctrine.trigger_ranges import Vacuous, find_thresholds, find_vacuous
from orgkernel.runtime.trigger_parser import parse_trigger
from tests.support.comparisons import find_vacuous_comparisons


def tree_of(text: str) -> list[object]:
    parsed = parse_trigger(text)
    assert parsed.tree is not None, parsed.problems
    return parsed.tree


@pytest.mark.parametrize(
    ("text", "blamed"),
    [
        ("context_fill > 1.5", ["context_fill > 1.5"]),
        ("context_fill > 1", ["context_fill > 1"]),
        ("1 < context_fill", ["1 < context_fill"]),
        ("consecutive_tool_failures < 0", ["consecutive_tool_failures < 0"]),
        ("total_tool_failures == 2.5", ["total_tool_failures == 2.5"]),
        ("context_fill > 0.9 AND context_fill < 0.5", ["context_fill > 0.9", "context_fill < 0.5"]),
        ("context_fill > 0.5 AND context_fill <= 0.5", ["context_fill > 0.5", "context_fill <= 0.5"]),
        ("turns_elapsed > 4 AND turns_elapsed < 5", ["turns_elapsed > 4", "turns_elapsed < 5"]),
        (
            "turns_elapsed > 3 AND turns_elapsed != 4 AND turns_elapsed < 5",
            ["turns_elapsed > 3", "turns_elapsed != 4", "turns_elapsed < 5"],
        ),
        (
            "turns_elapsed > 1 AND turns_elapsed < 9 AND turns_elapsed < 1",
            ["turns_elapsed > 1", "turns_elapsed < 1"],
        ),
        ("unrecoverable_error AND NOT unrecoverable_error", ["unrecoverable_error"]),
        ("NOT (context_fill <= 1 OR unrecoverable_error)", ["context_fill <= 1"]),
        ("NOT consecutive_tool_failures >= 0", ["consecutive_tool_failures >= 0"]),
        ("context_fill > 2 OR total_tool_failures < 0", ["context_fill > 2", "total_tool_failures < 0"]),
        (
            "context_fill > 0.9 AND (context_fill < 0.5 OR context_fill < 0.3)",
            ["context_fill > 0.9", "context_fill < 0.5", "context_fill < 0.3"],
        ),
        ("context_fill + context_fill > 2", ["context_fill + context_fill > 2"]),
        ("context_fill * max > 12", ["context_fill * max > 12"]),
        ("context_fill * turns_elapsed < 0", ["context_fill * turns_elapsed < 0"]),
        ("-turns_elapsed > 0", ["-turns_elapsed > 0"]),
        ("context_fill - turns_elapsed > 1", ["context_fill - turns_elapsed > 1"]),
        ("context_fill / max > 1", ["context_fill / max > 1"]),
        ("context_fill / 0 > 1", ["context_fill / 0 > 1"]),
        ("max > 12", ["max > 12"]),
        ("max * 2 == 25", ["max * 2 == 25"]),
        ("1 > 2", ["1 > 2"]),
    ],
)
def test_triggers_that_never_trip(text, blamed):
    """A trigger that no allowed value makes true is found, with the fewest comparisons that show it."""
    assert find_vacuous(tree_of(text), max_turns=12) == Vacuous("never", tuple(blamed))


@pytest.mark.parametrize(
    ("text", "blamed"),
    [
        ("consecutive_tool_failures >= 0", ["consecutive_tool_failures >= 0"]),
        ("context_fill <= 1", ["context_fill <= 1"]),
        ("context_fill < 0.5 OR context_fill >= 0.5", ["context_fill < 0.5", "context_fill >= 0.5"]),
        ("turns_elapsed <= 4 OR turns_elapsed >= 5", ["turns_elapsed <= 4", "turns_elapsed >= 5"]),
        ("unrecoverable_error OR NOT unrecoverable_error", ["unrecoverable_error"]),
        ("unrecoverable_error OR context_fill < 2", ["context_fill < 2"]),
        ("context_fill < 2 AND max > 0", ["context_fill < 2", "max > 0"]),
        ("NOT context_fill > 1", ["context_fill > 1"]),
        ("consecutive_tool_failures + 1 > 0", ["consecutive_tool_failures + 1 > 0"]),
        ("max == 12", ["max == 12"]),
    ],
)
def test_triggers_that_always_trip(text, blamed):
    """A trigger that no allowed value makes false is found, with the comparisons that show it."""
    assert find_vacuous(tree_of(text), max_turns=12) == Vacuous("always", tuple(blamed))


@pytest.mark.parametrize(
    "text",
    [
        "consecutive_tool_failures >= 3",
        "consecutive_tool_failures >= 5 OR context_fill > 0.85",
        "unrecoverable_error OR turns_without_progress > max * 1.5",
        "context_fill >= 1",
        "context_fill > 0",
        "turns_elapsed > 4 AND turns_elapsed < 6",
        "elapsed_seconds > 4 AND elapsed_seconds < 5",
        "elapsed_seconds != 4 AND elapsed_seconds >= 4",
        "context_fill > 0.9 AND (context_fill < 0.5 OR context_fill < 0.95)",
        "context_fill / turns_elapsed > 100",
        "elapsed_seconds - turns_elapsed > 5",
        "context_fill - turns_elapsed > 0.5",
        "elapsed_seconds / max > 5",
    ],
)
def test_triggers_that_can_go_either_way(text):
    """A sound trigger is neither never nor always."""
    assert find_vacuous(tree_of(text), max_turns=12) is None
    assert find_vacuous_comparisons(tree_of(text), max_turns=12) == ()


@pytest.mark.parametrize(
    "text",
    [
        "consecutive_tool_failures > total_tool_failures",
        "context_fill > context_fill",
        "context_fill * 2 > 1 AND context_fill < 0.2",
        "(max > 5 OR max > 6) AND (max < 3 OR max < 2)",
    ],
)
def test_known_limits_stay_silent(text):
    """What the analysis documents as out of reach gives no answer rather than a wrong one."""
    assert find_vacuous(tree_of(text)) is None


def test_max_is_open_until_the_role_is_known():
    """Without the role's own limit, `max` may be any whole number from one."""
    assert find_vacuous(tree_of("max > 12")) is None
    assert find_vacuous(tree_of("max < 1")) == Vacuous("never", ("max < 1",))
    assert find_vacuous(tree_of("max > 12"), max_turns=13) == Vacuous("always", ("max > 12",))


def test_a_dead_branch_is_found():
    """A comparison that can never be true is found although the trigger as a whole can."""
    tree = tree_of("failures >= 5 OR context_fill > 85 OR NOT elapsed_seconds >= 0")
    assert find_vacuous(tree) is None
    assert find_vacuous_comparisons(tree) == (
        Vacuous("never", ("context_fill > 85",)),
        Vacuous("always", ("elapsed_seconds >= 0",)),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("consecutive_tool_failures >= 3", {"consecutive_tool_failures": 3}),
        (
            "consecutive_tool_failures >= 5 OR context_fill > 0.85",
            {"consecutive_tool_failures": 5, "context_fill": 0.85},
        ),
        ("unrecoverable_error OR turns_without_progress > max * 1.5", {"turns_without_progress": 19}),
        ("5 < turns_elapsed", {"turns_elapsed": 6}),
        ("turns_elapsed >= 2.5", {"turns_elapsed": 3}),
        ("turns_elapsed > 7 OR (turns_elapsed >= 4 OR unrecoverable_error)", {"turns_elapsed": 4}),
        ("NOT (turns_elapsed < 4 AND context_fill <= 0.5)", {"turns_elapsed": 4, "context_fill": 0.5}),
        ("turns_elapsed > -3", {"turns_elapsed": 0}),
        ("turns_elapsed >= 4 AND context_fill > 0.5", {}),
        ("turns_elapsed < 4 OR turns_elapsed == 9 OR turns_elapsed != 3", {}),
        ("context_fill > 1.5", {}),
        ("turns_elapsed > total_tool_failures", {}),
        ("unrecoverable_error", {}),
    ],
)
def test_thresholds(text, expected):
    """The lowest value at which one name alone trips is told for each branch of the outermost OR."""
    assert find_thresholds(tree_of(text), max_turns=12) == expected


def test_tiers_can_be_compared():
    """A contingent trigger that trips before the alternate one shows by its lower threshold."""
    alternate = find_thresholds(tree_of("failures >= 5"))
    contingent = find_thresholds(tree_of("consecutive_tool_failures >= 3 OR context_fill > 0.85"))
    assert [name for name in alternate if contingent.get(name, alternate[name]) < alternate[name]] == [
        "consecutive_tool_failures"
    ]
