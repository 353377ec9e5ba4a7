"""Laws of the trigger language, over generated texts, trees and observations."""

import json
import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from orgkernel.rules.doctrine.trigger_ranges import find_thresholds, find_vacuous, is_free
from orgkernel.runtime.trigger_names import NAMES
from orgkernel.runtime.trigger_parser import MAX_LENGTH, parse_trigger
from orgkernel.runtime.triggers import (
    TriggerTreeError,
    check_tree,
    evaluate_trigger,
    find_names,
    render_trigger,
)
from tests.support.comparisons import find_vacuous_comparisons

NUMBER_NAMES = sorted(name for name, entry in NAMES.items() if entry.kind == "number")
FLAG_NAMES = sorted(name for name, entry in NAMES.items() if entry.kind == "flag")
SIGNS = [">=", ">", "<=", "<", "==", "!="]

literals = st.one_of(
    st.integers(0, 20), st.sampled_from([0.1, 0.5, 0.85, 1.5]), st.floats(0, 2**53, allow_nan=False).map(abs)
).map(lambda value: ["number", value])
number_names = st.sampled_from(NUMBER_NAMES).map(lambda name: ["name", name])
numbers = st.recursive(
    literals | number_names,
    lambda inner: (
        st.tuples(st.sampled_from("+-*/"), inner, inner).map(list)
        | inner.map(lambda operand: ["neg", operand])
    ),
    max_leaves=4,
)
flags = st.sampled_from(FLAG_NAMES).map(lambda name: ["flag", name])
simple_comparisons = st.tuples(st.sampled_from(SIGNS), number_names, literals).map(list)
comparisons = simple_comparisons | st.tuples(st.sampled_from(SIGNS), numbers, numbers).map(list)


def joined(inner: st.SearchStrategy[Any], *, with_not: bool = True) -> st.SearchStrategy[Any]:
    several = st.tuples(st.sampled_from(["or", "and"]), st.lists(inner, min_size=2, max_size=3)).map(
        lambda pair: [pair[0], *pair[1]]
    )
    return several | inner.map(lambda operand: ["not", operand]) if with_not else several


trees = st.recursive(flags | comparisons, joined, max_leaves=8)
simple_trees = st.recursive(flags | simple_comparisons, joined, max_leaves=8)
rising_trees = st.recursive(
    flags | st.tuples(st.sampled_from([">=", ">"]), number_names, literals).map(list),
    lambda inner: joined(inner, with_not=False),
    max_leaves=6,
)


def values_of(name: str) -> st.SearchStrategy[Any]:
    entry = NAMES[name]
    if entry.kind == "flag":
        return st.booleans()
    if entry.integer:
        return st.integers(int(entry.lower), 25)
    return st.floats(entry.lower, 1 if entry.upper == 1 else 100) | st.sampled_from([0.1, 0.5, 0.85, 1.0])


full_observations = st.fixed_dictionaries({name: values_of(name) for name in NAMES})
observations = st.fixed_dictionaries({}, optional={name: st.none() | values_of(name) for name in NAMES})


def value(tree: Any, observation: Mapping[str, Any]) -> bool | None:
    return evaluate_trigger(tree, observation).value


def in_python(tree: Any) -> str:
    """The tree as a Python expression over the observation `o`, every part in parentheses."""
    kind, *rest = tree
    if kind in ("name", "flag"):
        return f"o[{rest[0]!r}]"
    if kind == "number":
        return f"float({rest[0]!r})"
    parts = [f"({in_python(part)})" for part in rest]
    return f"{'-' if kind == 'neg' else kind} {parts[0]}" if len(parts) == 1 else f" {kind} ".join(parts)


near_triggers = st.lists(
    st.sampled_from(
        [
            *NAMES,
            "failures",
            "zebra",
            "Max",
            "or",
            "AND",
            "not",
            "(",
            ")",
            *SIGNS,
            *"+-*/%!=&|.",
            "1",
            "0.85",
            "\n",
        ]
    ),
    max_size=25,
).flatmap(lambda words: st.sampled_from([" ".join(words), "".join(words)]))


@given(st.text() | near_triggers)
def test_parsing_never_raises(text):
    """Any text gives either a checked tree or problems that lie inside the text."""
    parsed = parse_trigger(text)
    assert (parsed.tree is None) == bool(parsed.problems)
    if parsed.tree is not None:
        check_tree(parsed.tree)
        assert set(find_names(parsed.tree)) == {use.target for use in parsed.uses}
    for problem in parsed.problems:
        assert 0 <= problem.start <= problem.end <= len(text)
        assert problem.message == problem.message.strip().rstrip(".")
        assert "\n" not in problem.message
    for use in parsed.uses:
        assert text[use.start : use.end] == use.name


@given(trees)
def test_parse_undoes_render(tree):
    """Parsing a rendered tree gives the tree back."""
    text = render_trigger(tree)
    assume(len(text) <= MAX_LENGTH)
    parsed = parse_trigger(text)
    assert parsed.problems == ()
    assert parsed.tree == tree
    assert json.loads(json.dumps(parsed.tree)) == tree


@given(near_triggers)
def test_render_undoes_parse(text):
    """Rendering is a normal form: it changes a parsed trigger's text at most once."""
    tree = parse_trigger(text).tree
    if tree is not None and len(render_trigger(tree)) <= MAX_LENGTH:
        assert parse_trigger(render_trigger(tree)).tree == tree


@given(trees, full_observations)
def test_evaluation_agrees_with_python(tree, observation):
    """On known values a trigger means what the same expression means in Python, or it is undefined there too."""
    verdict = evaluate_trigger(tree, observation)
    assert verdict.unknown == ()
    if verdict.undefined:
        return
    known = {name: seen if isinstance(seen, bool) else float(seen) for name, seen in observation.items()}
    assert verdict.value is eval(in_python(tree), {"__builtins__": {}, "float": float}, {"o": known})


@given(trees, observations)
def test_a_verdict_explains_itself(tree, observation):
    """A true trigger names what tripped, and Unknown names what was not seen or had no value."""
    verdict = evaluate_trigger(tree, observation)
    assert bool(verdict.tripped) == (verdict.value is True)
    if verdict.value is None:
        assert verdict.unknown or verdict.undefined
    assert set(verdict.unknown) == {name for name in find_names(tree) if observation.get(name) is None}


@given(trees, observations, full_observations)
def test_unknown_is_not_false(tree, observation, rest):
    """What is decided without a value stays decided whatever that value turns out to be."""
    early = value(tree, observation)
    complete = rest | {name: seen for name, seen in observation.items() if seen is not None}
    if early is not None:
        assert value(tree, complete) is early


@given(trees)
def test_nothing_known_decides_nothing(tree):
    """With no report at all, a trigger that compares names is Unknown: it neither raises nor restores."""
    verdict = evaluate_trigger(tree, {})
    if verdict.value is not None:
        assert any(not find_names(part) for part in comparisons_of(tree))


def comparisons_of(tree: Any) -> list[Any]:
    return (
        [part for child in tree[1:] for part in comparisons_of(child)]
        if tree[0] in ("or", "and", "not")
        else [tree]
    )


@given(trees, trees, observations)
def test_kleene_laws(left, right, observation):
    """De Morgan, double negation, commutativity, idempotence and absorption hold with Unknown too."""
    seen = observation

    def same(one: Any, other: Any) -> bool:
        return value(one, seen) is value(other, seen)

    assert same(["not", ["and", left, right]], ["or", ["not", left], ["not", right]])
    assert same(["not", ["or", left, right]], ["and", ["not", left], ["not", right]])
    assert same(["not", ["not", left]], left)
    assert same(["and", left, right], ["and", right, left])
    assert same(["or", left, right], ["or", right, left])
    assert same(["and", left, left], left)
    assert same(["or", left, ["and", left, right]], left)


@pytest.mark.parametrize("joining", ["or", "and"])
@pytest.mark.parametrize("left", [True, False, None])
@pytest.mark.parametrize("right", [True, False, None])
def test_kleene_tables(joining, left, right):
    """The nine rows of each table are those of Kleene's strong logic: the minimum and the maximum."""
    order = [False, None, True]
    pick = max if joining == "or" else min
    tree = [joining, ["flag", "unrecoverable_error"], ["flag", "context_exhausted"]]
    expected = order[pick(order.index(left), order.index(right))]
    assert value(tree, {"unrecoverable_error": left, "context_exhausted": right}) is expected


@given(rising_trees, full_observations, st.sampled_from(NUMBER_NAMES), st.integers(0, 30))
def test_more_failures_never_untrip(tree, observation, name, more):
    """A trigger made of `at least` comparisons that has tripped stays tripped when a measure rises."""
    worse = observation | {name: observation[name] + more}
    if value(tree, observation):
        assert value(tree, worse) is True


@given(trees | simple_trees, full_observations)
def test_never_and_always_are_proofs(tree, observation):
    """No values within the bounds contradict a claim that a trigger, or one comparison, is vacuous."""
    forbidden = {"never": True, "always": False}
    for max_turns in (None, observation["max"]):
        found = find_vacuous(tree, max_turns)
        if found:
            assert value(tree, observation) is not forbidden[found.outcome]
            assert found.comparisons
        for single in find_vacuous_comparisons(tree, max_turns):
            part = parse_trigger(single.comparisons[0]).tree
            assert part is not None
            assert value(part, observation) is not forbidden[single.outcome]


@given(st.lists(simple_comparisons, min_size=2, max_size=4), st.sampled_from(NUMBER_NAMES))
def test_contradictions_of_one_name_are_all_found(limits, name):
    """For one whole-number name under AND, `never` is claimed exactly when no value in a wide range will do."""
    assume(NAMES[name].integer)
    same = [[sign, ["name", name], ["number", min(limit[1], 40)]] for sign, _, limit in limits]
    tree = ["and", *same]
    satisfiable = any(value(tree, {name: seen}) for seen in range(int(NAMES[name].lower), 60))
    found = find_vacuous(tree)
    assert (found is not None and found.outcome == "never") is not satisfiable


@given(simple_trees)
def test_a_threshold_trips_alone(tree):
    """The value told as a threshold, or anything above a strict one, trips the trigger with nothing else known."""
    for name, lowest in find_thresholds(tree).items():
        assert value(tree, {name: lowest}) or value(tree, {name: math.nextafter(lowest, math.inf)})


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([*SIGNS, "or", "flag"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=12,
)


@given(
    json_values | st.tuples(st.sampled_from(["or", "not", ">", "flag"]), json_values, json_values).map(list)
)
def test_a_hostile_tree_is_refused_or_harmless(tree):
    """Any JSON is either a trigger that evaluates and renders, or raises the one documented error."""
    try:
        check_tree(tree)
    except TriggerTreeError:
        with pytest.raises(TriggerTreeError):
            evaluate_trigger(tree, {})
    else:
        evaluate_trigger(tree, {})
        render_trigger(tree)


@given(trees, st.dictionaries(st.sampled_from([*NAMES]), json_values))
def test_a_hostile_observation_never_raises(tree, observation):
    """Whatever a host reports, evaluation answers."""
    assert evaluate_trigger(tree, observation).value in (True, False, None)


@given(simple_trees | trees, st.none() | st.integers(1, 20))
def test_no_part_of_a_free_trigger_is_constant(tree: Any, max_turns: int | None) -> None:
    """What is said quickly is what would be proven at length."""
    if is_free(tree, max_turns):
        pending = [tree]
        while pending:
            part = pending.pop()
            assert find_vacuous(part, max_turns) is None
            pending += part[1:] if part[0] in ("or", "and", "not") else []
