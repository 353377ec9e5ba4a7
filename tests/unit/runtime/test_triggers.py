"""Evaluation of compiled triggers, and the refusal of invalid trees."""

import json
import subprocess
import sys
from typing import Any

import pytest

from orgkernel.runtime.triggers import (
    TriggerTreeError,
    TriggerVerdict,
    Tripped,
    check_tree,
    evaluate_trigger,
    find_names,
    render_trigger,
)

FAILURES = ["name", "consecutive_tool_failures"]
FILL = ["name", "context_fill"]
STALE = ["name", "turns_without_progress"]
MAX = ["name", "max"]
ERROR = ["flag", "unrecoverable_error"]

ALTERNATE = [">=", FAILURES, ["number", 3]]
CONTINGENT = ["or", [">=", FAILURES, ["number", 5]], [">", FILL, ["number", 0.85]]]
EMERGENCY = ["or", ERROR, [">", STALE, ["*", MAX, ["number", 1.5]]]]


def test_a_true_comparison_is_named_with_its_values():
    """The verdict quotes the comparison that tripped with the value it saw."""
    assert evaluate_trigger(ALTERNATE, {"consecutive_tool_failures": 5}) == TriggerVerdict(
        True, (Tripped("consecutive_tool_failures 5 >= 3", ("consecutive_tool_failures",)),)
    )


def test_a_false_trigger_names_nothing():
    """A trigger that does not trip has no tripped comparisons."""
    assert evaluate_trigger(ALTERNATE, {"consecutive_tool_failures": 2}) == TriggerVerdict(False)


def test_every_true_branch_is_named():
    """All branches of an OR that are true are quoted, in reading order."""
    verdict = evaluate_trigger(CONTINGENT, {"consecutive_tool_failures": 5, "context_fill": 0.9})
    assert [tripped.text for tripped in verdict.tripped] == [
        "consecutive_tool_failures 5 >= 5",
        "context_fill 0.9 > 0.85",
    ]


def test_one_true_branch_is_enough_and_the_unseen_one_is_named():
    """True OR Unknown is true, and what the host did not report is still listed."""
    assert evaluate_trigger(CONTINGENT, {"consecutive_tool_failures": 5}) == TriggerVerdict(
        True,
        (Tripped("consecutive_tool_failures 5 >= 5", ("consecutive_tool_failures",)),),
        unknown=("context_fill",),
    )


def test_a_false_branch_beside_an_unseen_one_is_unknown():
    """False OR Unknown is Unknown, not false."""
    assert evaluate_trigger(
        CONTINGENT, {"consecutive_tool_failures": 4, "context_fill": None}
    ) == TriggerVerdict(None, unknown=("context_fill",))


def test_arithmetic_shows_its_result():
    """A computed limit is quoted as written with its result behind it."""
    verdict = evaluate_trigger(
        EMERGENCY, {"unrecoverable_error": False, "turns_without_progress": 19, "max": 12}
    )
    assert verdict == TriggerVerdict(
        True, (Tripped("turns_without_progress 19 > max * 1.5 (18)", ("turns_without_progress", "max")),)
    )


def test_a_flag_is_named_by_itself():
    """A flag that tripped is quoted as its bare name."""
    verdict = evaluate_trigger(
        EMERGENCY, {"unrecoverable_error": True, "turns_without_progress": 0, "max": 12}
    )
    assert verdict == TriggerVerdict(True, (Tripped("unrecoverable_error", ("unrecoverable_error",)),))


def test_not_names_the_comparison_that_does_not_hold():
    """Under NOT the reason is that the comparison is false."""
    verdict = evaluate_trigger(
        ["not", ["or", ALTERNATE, ERROR]], {"consecutive_tool_failures": 1, "unrecoverable_error": False}
    )
    assert [tripped.text for tripped in verdict.tripped] == [
        "NOT consecutive_tool_failures 1 >= 3",
        "NOT unrecoverable_error",
    ]


@pytest.mark.parametrize(
    ("sign", "below", "equal", "above"),
    [
        (">=", False, True, True),
        (">", False, False, True),
        ("<=", True, True, False),
        ("<", True, False, False),
        ("==", False, True, False),
        ("!=", True, False, True),
    ],
)
def test_comparisons(sign, below, equal, above):
    """Each comparison answers as in arithmetic below, at and above its limit."""
    tree = [sign, FILL, ["number", 0.5]]
    assert [evaluate_trigger(tree, {"context_fill": fill}).value for fill in (0.4, 0.5, 0.6)] == [
        below,
        equal,
        above,
    ]


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        (["+", MAX, ["number", 3]], 15),
        (["-", MAX, ["number", 15]], -3),
        (["*", MAX, ["number", 0.5]], 6),
        (["/", MAX, ["number", 8]], 1.5),
        (["neg", MAX], -12),
    ],
)
def test_arithmetic(expression, result):
    """Each arithmetic operator computes what it says."""
    tree = ["==", ["name", "elapsed_seconds"], expression]
    assert evaluate_trigger(tree, {"max": 12, "elapsed_seconds": result}).value is True


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), 10**400, True, "5", [5]])
def test_a_number_of_the_wrong_kind_counts_as_not_reported(value):
    """Whatever is not a finite number is Unknown where a number is read."""
    assert evaluate_trigger(ALTERNATE, {"consecutive_tool_failures": value}) == TriggerVerdict(
        None, unknown=("consecutive_tool_failures",)
    )


@pytest.mark.parametrize("value", [None, 1, 0, 1.0, "true", ""])
def test_a_flag_of_the_wrong_kind_counts_as_not_reported(value):
    """Whatever is not true or false is Unknown where a flag is read."""
    assert evaluate_trigger(ERROR, {"unrecoverable_error": value}) == TriggerVerdict(
        None, unknown=("unrecoverable_error",)
    )


def test_a_division_by_zero_is_unknown_and_says_so():
    """A division by zero has no value; the verdict names it apart from unreported names."""
    tree = [">", ["/", FAILURES, ["name", "turns_elapsed"]], ["number", 0.5]]
    assert evaluate_trigger(tree, {"consecutive_tool_failures": 3, "turns_elapsed": 0}) == TriggerVerdict(
        None, undefined=("consecutive_tool_failures / turns_elapsed",)
    )


def test_a_result_too_large_is_unknown():
    """Arithmetic that leaves the finite numbers has no value."""
    tree = [">", ["*", STALE, STALE], ["number", 1]]
    assert evaluate_trigger(tree, {"turns_without_progress": 1e200}).undefined == (
        "turns_without_progress * turns_without_progress",
    )


def test_unknown_names_are_listed_once_in_reading_order():
    """A name used twice is reported missing once."""
    tree = ["and", [">", STALE, MAX], [">", MAX, FILL]]
    assert evaluate_trigger(tree, {}).unknown == ("turns_without_progress", "max", "context_fill")


def test_names_are_found_in_reading_order():
    """All names and flags of a tree are found, once each."""
    assert find_names(["or", EMERGENCY, EMERGENCY]) == (
        "unrecoverable_error",
        "turns_without_progress",
        "max",
    )


def test_a_tree_survives_json():
    """The compiled form is plain JSON."""
    assert json.loads(json.dumps(EMERGENCY)) == EMERGENCY


def test_tuples_serve_as_lists():
    """A decoder that yields tuples gives the same verdict."""
    tree: Any = (">=", ("name", "consecutive_tool_failures"), ("number", 3))
    assert evaluate_trigger(tree, {"consecutive_tool_failures": 3}).value is True


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (ALTERNATE, "consecutive_tool_failures >= 3"),
        (CONTINGENT, "consecutive_tool_failures >= 5 OR context_fill > 0.85"),
        (EMERGENCY, "unrecoverable_error OR turns_without_progress > max * 1.5"),
        (
            ["and", CONTINGENT, ERROR],
            "(consecutive_tool_failures >= 5 OR context_fill > 0.85) AND unrecoverable_error",
        ),
        (
            ["or", ["and", ERROR, ERROR], ERROR],
            "unrecoverable_error AND unrecoverable_error OR unrecoverable_error",
        ),
        (["not", ["not", CONTINGENT]], "NOT NOT (consecutive_tool_failures >= 5 OR context_fill > 0.85)"),
        (["not", ALTERNATE], "NOT consecutive_tool_failures >= 3"),
        ([">", ["-", MAX, ["-", MAX, FILL]], FILL], "max - (max - context_fill) > context_fill"),
        ([">", ["-", ["-", MAX, MAX], FILL], FILL], "max - max - context_fill > context_fill"),
        ([">", ["*", ["+", MAX, MAX], FILL], FILL], "(max + max) * context_fill > context_fill"),
        ([">", ["neg", ["neg", ["+", MAX, MAX]]], FILL], "--(max + max) > context_fill"),
        (["<", FILL, ["number", 0.00001]], "context_fill < 0.00001"),
        (["<", FILL, ["number", 2**53]], "context_fill < 9007199254740992"),
    ],
)
def test_rendering(tree, text):
    """A tree prints with the parentheses it needs and no others."""
    check_tree(tree)
    assert render_trigger(tree) == text


def nested(depth: int) -> list[Any]:
    tree = ERROR
    for _ in range(depth - 1):
        tree = ["not", tree]
    return tree


def shared(depth: int) -> list[Any]:
    tree = ERROR
    for _ in range(depth):
        tree = ["and", tree, tree]
    return tree


MALFORMED = "each part of a trigger tree must be a list that starts with its operator"
NUMBER_RANGE = "a number in a trigger tree must be between 0 and 9007199254740992"
NAME_FORM = "a name in a trigger tree must be lower-case letters, digits and underscores"


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (None, MALFORMED),
        ("unrecoverable_error", MALFORMED),
        ({"flag": "unrecoverable_error"}, MALFORMED),
        ([], MALFORMED),
        ([[]], MALFORMED),
        ([1, 2, 3], MALFORMED),
        (["xor", ERROR, ERROR], "`xor` is not a valid condition in a trigger tree"),
        (["name", "max"], "`name` is not a valid condition in a trigger tree"),
        (["number", 1], "`number` is not a condition in a trigger tree"),
        (["+", MAX, MAX], "`+` is not a valid condition in a trigger tree"),
        ([">", ERROR, MAX], "`flag` is not a valid number in a trigger tree"),
        ([">", [">", MAX, MAX], MAX], "`>` is not a valid number in a trigger tree"),
        (["or", ERROR], "`or` has the wrong number of operands in a trigger tree: 1"),
        (["not", ERROR, ERROR], "`not` has the wrong number of operands in a trigger tree: 2"),
        ([">", MAX], "`>` has the wrong number of operands in a trigger tree: 1"),
        (["flag"], "`flag` has the wrong number of operands in a trigger tree: 0"),
        (["flag", "a", "b"], "`flag` has the wrong number of operands in a trigger tree: 2"),
        (["flag", "__class__\n"], NAME_FORM),
        (["flag", "x.__class__"], NAME_FORM),
        (["flag", "Max"], NAME_FORM),
        (["flag", "or"], NAME_FORM),
        (["flag", ["flag"]], NAME_FORM),
        ([">", ["name", 5], MAX], NAME_FORM),
        ([">", ["number", "5"], MAX], NUMBER_RANGE),
        ([">", ["number", True], MAX], NUMBER_RANGE),
        ([">", ["number", None], MAX], NUMBER_RANGE),
        ([">", ["number", -1], MAX], NUMBER_RANGE),
        ([">", ["number", float("nan")], MAX], NUMBER_RANGE),
        ([">", ["number", float("inf")], MAX], NUMBER_RANGE),
        ([">", ["number", 2**53 + 1], MAX], NUMBER_RANGE),
        ([">", ["number", -0.0], MAX], "minus zero is not allowed in a trigger tree"),
        (nested(51), "trigger tree is nested more than 50 levels deep"),
        (nested(20_000), "trigger tree is nested more than 50 levels deep"),
        (["or", *([ERROR] * 1000)], "trigger tree has more than 1000 parts"),
        (shared(40), "trigger tree has more than 1000 parts"),
    ],
)
def test_an_ill_formed_tree_is_refused(tree, message):
    """An ill-formed, too deep or too large tree raises the one documented error, from checking and evaluating alike."""
    for refuse in (check_tree, lambda tree: evaluate_trigger(tree, {})):
        with pytest.raises(TriggerTreeError) as caught:
            refuse(tree)
        assert str(caught.value) == message
        assert isinstance(caught.value, ValueError)


def test_the_deepest_and_the_largest_tree_are_accepted():
    """The limits themselves are still allowed."""
    check_tree(nested(50))
    check_tree(["or", *([ERROR] * 999)])


def test_a_tree_that_contains_itself_is_refused():
    """A cyclic tree ends at the depth limit."""
    tree: list[Any] = ["not"]
    tree.append(tree)
    with pytest.raises(TriggerTreeError, match="nested"):
        check_tree(tree)


def test_the_runtime_needs_nothing_but_the_standard_library():
    """Evaluating in a host loads no third-party module and nothing of orgkernel outside the runtime."""
    code = (
        "import sys; before = set(sys.modules); import orgkernel.runtime.triggers; "
        "names = {n for n in set(sys.modules) - before}; "
        "print(sorted(n for n in names if n.split('.')[0] not in sys.stdlib_module_names))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {
        "orgkernel",
        "orgkernel.runtime",
        "orgkernel.runtime.triggers",
        "orgkernel.version",  # one constant, which the package itself reads
    }
    assert done.stdout.strip() == str(sorted(loaded))
