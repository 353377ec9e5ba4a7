"""Proves properties of a trigger over all values that its names can have, for the doctrine rules.

`find_vacuous` proves that a trigger can never be true, or never be false. `find_thresholds` returns the values at
which single comparisons trip, so a rule can detect that contingent trips before alternate.

Method: bounds of each name (`names.py`), interval arithmetic, and for joined conditions the values that remain for each
single name. A claim of "never" or "always" is a proof for values within the bounds; None is not a proof of the opposite.

Bounds are computed with the float operations the runtime uses. Rounding is monotone, so they never exclude a value
that evaluation can produce; they can include values that it cannot produce (a name used twice is treated as two
independent values).

Known limits; each can only miss a proof, never claim a wrong one:

- Relations between names are not used (`consecutive_tool_failures` cannot exceed `total_tool_failures`).
- A name used twice in one comparison is treated as two values (`context_fill > context_fill`).
- Only a bare name compared with a constant narrows the name (`context_fill * 2 > 1` does not).
- Branches of two different ORs under one AND are not multiplied out.
- `max` is a constant only when `max_turns` is given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Final, Literal, NamedTuple

from orgkernel.runtime.trigger_names import NAMES
from orgkernel.runtime.triggers import TriggerTree, find_names, render_trigger

NEGATED: Final = {">=": "<", ">": "<=", "<=": ">", "<": ">=", "==": "!=", "!=": "=="}
MIRRORED: Final = {">=": "<=", ">": "<", "<=": ">=", "<": ">", "==": "==", "!=": "!="}


class Interval(NamedTuple):
    """The range of an expression: every value is between `low` and `high`, both included."""

    low: float
    high: float


EVERYTHING: Final = Interval(-math.inf, math.inf)


@lru_cache(256)
def find_bounds(name: str, max_turns: int | None) -> Interval:
    """The range of a name. `max` is one value once the role is known."""
    if name == "max" and max_turns is not None:
        return Interval(max_turns, max_turns)
    entry = NAMES.get(name)
    return Interval(entry.lower, entry.upper) if entry else EVERYTHING


def find_interval(tree: TriggerTree, max_turns: int | None) -> Interval | None:
    """The range of a number's tree. None if it never has a value, because it divides by zero."""
    kind = tree[0]
    if kind == "number":
        return Interval(tree[1], tree[1])
    if kind == "name":
        return find_bounds(tree[1], max_turns)
    left = find_interval(tree[1], max_turns)
    right = Interval(0, 0) if kind == "neg" else find_interval(tree[2], max_turns)
    if left is None or right is None:
        return None
    if kind == "neg":
        return Interval(-left.high, -left.low)
    if kind == "+":
        return _get_span([left.low + right.low, left.high + right.high])
    if kind == "-":
        return _get_span([left.low - right.high, left.high - right.low])
    if kind == "*":
        return _get_span([_multiply(a, b) for a in (left.low, left.high) for b in (right.low, right.high)])
    if right.low == right.high == 0:
        return None
    if right.low <= 0 <= right.high:
        return EVERYTHING
    return _get_span([a / b for a in (left.low, left.high) for b in (right.low, right.high)])


def _multiply(left: float, right: float) -> float:
    # An infinite bound is never reached, so zero times it stays zero.
    return 0.0 if 0 in (left, right) else left * right


def _get_span(corners: list[float]) -> Interval:
    known = [corner for corner in corners if not math.isnan(corner)]
    # A corner without a value (infinity minus or over infinity) proves nothing, and the other corners might not
    # enclose the range.
    return Interval(min(known), max(known)) if len(known) == len(corners) else EVERYTHING


# Whether the comparison is true for some value of `left` and some value of `right`, if both vary
# independently.
_CAN_HOLD: Final[dict[str, Callable[[Interval, Interval], bool]]] = {
    ">=": lambda left, right: left.high >= right.low,
    ">": lambda left, right: left.high > right.low,
    "<=": lambda left, right: left.low <= right.high,
    "<": lambda left, right: left.low < right.high,
    "==": lambda left, right: left.low <= right.high and right.low <= left.high,
    "!=": lambda left, right: not left.low == left.high == right.low == right.high,
}


class Limit(NamedTuple):
    """One name compared with one value: `context_fill > 0.85`."""

    name: str
    sign: str
    value: float


def find_lowest(limits: list[Limit], max_turns: int | None) -> float | None:
    """The lowest value of their one name that meets all limits; None when no value does.

    For a fraction or a time under a strict limit (`> 0.85`) it is that limit, which itself does not meet it.
    """
    name = limits[0].name
    bounds = find_bounds(name, max_turns)
    whole = name in NAMES and NAMES[name].integer
    low, high, low_open, high_open = bounds.low, bounds.high, False, False
    for limit in limits:
        strict = limit.sign in (">", "<")
        if limit.sign in (">=", ">", "==") and (limit.value, strict) > (low, low_open):
            low, low_open = limit.value, strict
        if limit.sign in ("<=", "<", "==") and (-limit.value, strict) > (-high, high_open):
            high, high_open = limit.value, strict
    excluded = {limit.value for limit in limits if limit.sign == "!="}
    if whole and math.isfinite(low):
        low, low_open = math.floor(low) + 1 if low_open else math.ceil(low), False
        while low in excluded:
            low += 1
    empty = low > high or (low == high and (low_open or high_open or low in excluded))
    return None if empty else low


@dataclass(frozen=True, slots=True)
class Vacuous:
    """A condition that can never be true (`never`) or never be false (`always`), and the comparisons to blame."""

    outcome: Literal["never", "always"]
    comparisons: tuple[str, ...]


class _Literal(NamedTuple):
    """A comparison or flag that has to be true (or false). If it compares one name with a number, it is also a
    limit.
    """

    tree: TriggerTree
    wanted: bool
    limit: Limit | None


class _Branch(NamedTuple):
    """A part with the other operator (an OR inside an AND, or the reverse) that has to be true (or false)."""

    tree: TriggerTree
    wanted: bool


def find_vacuous(tree: TriggerTree, max_turns: int | None = None) -> Vacuous | None:
    """Prove that a trigger never or always trips; None when there is no proof of either."""
    blamed = _prove_impossible(tree, True, (), max_turns)
    if blamed is not None:
        return Vacuous("never", _render_blamed(blamed))
    blamed = _prove_impossible(tree, False, (), max_turns)
    return None if blamed is None else Vacuous("always", _render_blamed(blamed))


def is_free(tree: TriggerTree, max_turns: int | None = None) -> bool:
    """Whether no part of a trigger can be constant: no name occurs twice, and each comparison can be both true and
    false.

    Nearly all triggers are free, and this check takes a fifth of the time of `find_vacuous`.
    """
    names: set[str] = set()
    pending = [tree]
    while pending:
        part = pending.pop()
        if part[0] in ("or", "and", "not"):
            pending += part[1:]
            continue
        name = ""
        for wanted in (True, False):
            limit = _find_limit(part, wanted, max_turns)
            if limit is None or limit.name in names or find_lowest([limit], max_turns) is None:
                return False
            name = limit.name
        names.add(name)
    return True


def is_implied(tree: TriggerTree, by: TriggerTree, max_turns: int | None = None) -> bool:
    """Whether it is proven that a trigger is true whenever another one is. Neither may be constant."""
    return _prove_impossible(["and", by, ["not", tree]], True, (), max_turns) is not None


def find_thresholds(tree: TriggerTree, max_turns: int | None = None) -> dict[str, float]:
    """For each name, the lowest value at which a comparison of that name alone makes the trigger true.

    Only branches of the outermost OR that say "at least" or "more than" a constant count, since for the others lower
    is not milder. For whole numbers the value itself trips (`> 5` gives 6); for fractions and times a strict limit is
    returned as it stands (`> 0.85` gives 0.85, and anything above it trips). Names are sorted.
    """
    values_by_name: dict[str, float] = {}
    for literal in _split(tree, True, "or", max_turns):
        limit = literal.limit if isinstance(literal, _Literal) else None
        if limit is None or limit.sign not in (">=", ">") or literal.tree[0] == "flag":
            continue
        lowest = find_lowest([limit], max_turns)
        if lowest is not None:
            values_by_name[limit.name] = min(lowest, values_by_name.get(limit.name, lowest))
    return dict(sorted(values_by_name.items()))


def _split(
    tree: TriggerTree, wanted: bool, joined_by: Literal["or", "and"], max_turns: int | None
) -> Iterator[_Literal | _Branch]:
    """The operands of nested conditions that act as one OR (or AND), with NOT moved inwards by De Morgan's laws."""
    kind = tree[0]
    if kind == "not":
        yield from _split(tree[1], not wanted, joined_by, max_turns)
    elif kind not in ("or", "and"):
        yield _Literal(tree, wanted, _find_limit(tree, wanted, max_turns))
    elif (kind == joined_by) == wanted:
        for part in tree[1:]:
            yield from _split(part, wanted, joined_by, max_turns)
    else:
        yield _Branch(tree, wanted)


def _find_limit(tree: TriggerTree, wanted: bool, max_turns: int | None) -> Limit | None:
    if tree[0] == "flag":
        return Limit(tree[1], "==", 1 if wanted else 0)
    operator, left, right = tree
    if left[0] == "name" and right[0] == "number":  # nearly all are written so
        return Limit(left[1], operator if wanted else NEGATED[operator], right[1])
    for sign, name, other in ((operator, left, right), (MIRRORED[operator], right, left)):
        if name[0] != "name" or set(find_names(other)) - ({"max"} if max_turns is not None else set()):
            continue
        value = find_interval(other, max_turns)
        if value is not None and value.low == value.high:
            return Limit(name[1], sign if wanted else NEGATED[sign], value.low)
    return None


def _prove_impossible(
    tree: TriggerTree, wanted: bool, given: tuple[_Literal, ...], max_turns: int | None
) -> tuple[_Literal, ...] | None:
    """The literals because of which a condition cannot have the value `wanted` while all of `given` are true.
    None if it can.
    """
    parts = list(_split(tree, wanted, "and", max_turns))
    literals = given + tuple(part for part in parts if isinstance(part, _Literal))
    blamed = _find_contradiction(literals, max_turns)
    if blamed is not None:
        return blamed
    for part in parts:
        if isinstance(part, _Branch):
            proofs = [
                _prove_impossible(branch.tree, branch.wanted, literals, max_turns)
                for branch in _split(part.tree, part.wanted, "or", max_turns)
            ]
            if None not in proofs:
                return tuple(literal for proof in proofs if proof for literal in proof)
    return None


def _find_contradiction(literals: tuple[_Literal, ...], max_turns: int | None) -> tuple[_Literal, ...] | None:
    """The fewest literals that cannot be true together: one, else two, else all literals about one name."""
    for literal in literals:
        if not _can_hold(literal, max_turns):
            return (literal,)
    by_name: dict[str, list[tuple[Limit, _Literal]]] = {}
    for literal in literals:
        if literal.limit:
            by_name.setdefault(literal.limit.name, []).append((literal.limit, literal))
    for limited in by_name.values():
        if len(limited) > 1 and _exclude_each_other(limited, max_turns):
            pairs = (pair for pair in combinations(limited, 2) if _exclude_each_other(pair, max_turns))
            return tuple(literal for _, literal in next(pairs, tuple(limited)))
    return None


def _exclude_each_other(limited: Iterable[tuple[Limit, _Literal]], max_turns: int | None) -> bool:
    return find_lowest([limit for limit, _ in limited], max_turns) is None


def _can_hold(literal: _Literal, max_turns: int | None) -> bool:
    if literal.limit:
        return find_lowest([literal.limit], max_turns) is not None
    sign = literal.tree[0] if literal.wanted else NEGATED[literal.tree[0]]
    left, right = (find_interval(side, max_turns) for side in literal.tree[1:])
    return left is not None and right is not None and _CAN_HOLD[sign](left, right)


def _render_blamed(literals: tuple[_Literal, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(render_trigger(literal.tree) for literal in literals))
