"""Bounds of numeric expressions, and sets of values one name may still take: the arithmetic under `ranges.py`.

Bounds are computed with the float operations the runtime uses. Rounding is monotone, so they never exclude a value
that evaluation can produce; they may include more than it can (a name used twice counts as two independent values).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple

from orgkernel.runtime.triggers import TriggerTree
from orgkernel.triggers.names import NAMES

NEGATED: Final = {">=": "<", ">": "<=", "<=": ">", "<": ">=", "==": "!=", "!=": "=="}
MIRRORED: Final = {">=": "<=", ">": "<", "<=": ">=", "<": ">", "==": "==", "!=": "!="}


class Interval(NamedTuple):
    """Every value an expression can take lies between `low` and `high`, both included."""

    low: float
    high: float


EVERYTHING: Final = Interval(-math.inf, math.inf)


def find_bounds(name: str, max_turns: int | None) -> Interval:
    """The values a name can take; `max` is one value once the role is known."""
    if name == "max" and max_turns is not None:
        return Interval(max_turns, max_turns)
    entry = NAMES.get(name)
    return Interval(entry.lower, entry.upper) if entry else EVERYTHING


def find_interval(tree: TriggerTree, max_turns: int | None) -> Interval | None:
    """Bounds of a number's tree; None when it never has a value (it divides by zero)."""
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
        return _span([left.low + right.low, left.high + right.high])
    if kind == "-":
        return _span([left.low - right.high, left.high - right.low])
    if kind == "*":
        return _span([_times(a, b) for a in (left.low, left.high) for b in (right.low, right.high)])
    if right.low == right.high == 0:
        return None
    if right.low <= 0 <= right.high:
        return EVERYTHING
    return _span([a / b for a in (left.low, left.high) for b in (right.low, right.high)])


def _times(left: float, right: float) -> float:
    # An infinite bound is never reached, so zero times it stays zero.
    return 0.0 if 0 in (left, right) else left * right


def _span(corners: list[float]) -> Interval:
    known = [corner for corner in corners if not math.isnan(corner)]
    # A corner without a value (infinity minus or over infinity) tells nothing; the others may not enclose it.
    return Interval(min(known), max(known)) if len(known) == len(corners) else EVERYTHING


def can_hold(sign: str, left: Interval, right: Interval) -> bool:
    """Whether some value of `left` can compare so with some value of `right`, taking them as independent."""
    return _CAN_HOLD[sign](left, right)


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
