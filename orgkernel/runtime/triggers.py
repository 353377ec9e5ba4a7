"""Three-valued evaluation of a compiled PACE trigger inside any host.

Error policy (design §6 "PACE."): *assume nominal, but name every value that was not reported*. A value that the host does
not report is Unknown, which is neither true nor false: it neither raises a tier nor restores one. AND, OR and NOT follow
Kleene's strong logic: `true OR unknown` is true, `false AND unknown` is false, and everything else with unknown is
unknown. Arithmetic on Unknown is Unknown, and so is a division by zero or a result that is not finite.

A value of the wrong kind (text, NaN, a number for a flag, true for a number) counts as not reported, because reading a
host must never raise. Only a malformed tree raises, `TriggerTreeError`, before anything is evaluated.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from .trigger_tree import (
    TriggerTree,
    TriggerTreeError,
    check_tree,
    find_names,
    render_number,
    render_trigger,
)

__all__ = [
    "Measures",
    "TriggerTree",
    "TriggerTreeError",
    "TriggerVerdict",
    "Tripped",
    "check_tree",
    "evaluate_trigger",
    "find_names",
    "render_trigger",
]

Measures: TypeAlias = Mapping[str, float | bool | None]

_COMPARE: Final[dict[str, Callable[[float, float], bool]]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
    "==": operator.eq,
    "!=": operator.ne,
}
_ARITHMETIC: Final[dict[str, Callable[[float, float], float]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


@dataclass(frozen=True, slots=True)
class Tripped:
    """One comparison or flag that made a trigger true, with the values it saw: `context_fill 0.9 > 0.85`."""

    text: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TriggerVerdict:
    """The result of a trigger for one observation: its value (None is Unknown), why, and what was unknown.

    `tripped` is empty unless the value is true. `unknown` lists the names that the host did not report. `undefined` lists
    the arithmetic without a finite value although all its values were reported. Both are complete, even if they did not
    matter for the value.
    """

    value: bool | None
    tripped: tuple[Tripped, ...] = ()
    unknown: tuple[str, ...] = ()
    undefined: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Term:
    """A comparison or flag with the values it was evaluated on."""

    tree: TriggerTree
    value: bool
    sides: tuple[float, ...] = ()


@dataclass(slots=True)
class _Reading:
    """One evaluation: the observation that it reads and the values missing in it (dicts serve as ordered sets)."""

    observation: Measures
    unknown: dict[str, None] = field(default_factory=dict)
    undefined: dict[str, None] = field(default_factory=dict)


def evaluate_trigger(tree: TriggerTree, observation: Measures) -> TriggerVerdict:
    """Evaluate a compiled trigger on a host's values. Raise `TriggerTreeError` only for a malformed tree."""
    check_tree(tree)
    reading = _Reading(observation)
    value, terms = _condition(tree, reading)
    tripped = tuple(map(_describe, terms)) if value else ()
    return TriggerVerdict(value, tripped, tuple(reading.unknown), tuple(reading.undefined))


def _condition(tree: TriggerTree, reading: _Reading) -> tuple[bool | None, tuple[_Term, ...]]:
    """The value of a condition and the terms that decided it. Every part is read, so that `unknown` is complete."""
    kind = tree[0]
    if kind == "flag":
        flag = reading.observation.get(tree[1])
        if isinstance(flag, bool):
            return flag, (_Term(tree, flag),)
        reading.unknown[tree[1]] = None
        return None, ()
    if kind == "not":
        value, terms = _condition(tree[1], reading)
        return (None if value is None else not value), terms
    if kind in ("or", "and"):
        deciding = kind == "or"
        parts = [_condition(operand, reading) for operand in tree[1:]]
        values = [value for value, _ in parts]
        if deciding in values:
            return deciding, tuple(term for value, terms in parts if value is deciding for term in terms)
        if None in values:
            return None, ()
        return not deciding, tuple(term for _, terms in parts for term in terms)
    left, right = _number(tree[1], reading), _number(tree[2], reading)
    if left is None or right is None:
        return None, ()
    holds = _COMPARE[kind](left, right)
    return holds, (_Term(tree, holds, (left, right)),)


def _number(tree: TriggerTree, reading: _Reading) -> float | None:
    kind = tree[0]
    if kind == "number":
        return float(tree[1])
    if kind == "name":
        value = _read_number(reading.observation.get(tree[1]))
        if value is None:
            reading.unknown[tree[1]] = None
        return value
    if kind == "neg":
        value = _number(tree[1], reading)
        return None if value is None else -value
    left, right = _number(tree[1], reading), _number(tree[2], reading)
    if left is None or right is None:
        return None
    result = math.nan if kind == "/" and right == 0 else _ARITHMETIC[kind](left, right)
    if not math.isfinite(result):
        reading.undefined[render_trigger(tree)] = None
        return None
    return result


def _read_number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer too large for a float
        return None
    return number if math.isfinite(number) else None


def _describe(term: _Term) -> Tripped:
    if term.sides:
        left, right = (_describe_side(*side) for side in zip(term.tree[1:], term.sides, strict=True))
        text = f"{left} {term.tree[0]} {right}"
    else:
        text = render_trigger(term.tree)
    return Tripped(text if term.value else f"NOT {text}", find_names(term.tree))


def _describe_side(tree: TriggerTree, value: float) -> str:
    """`5` for a literal, `context_fill 0.9` for a name, `max * 1.5 (18)` for arithmetic."""
    shown = render_number(int(value) if value.is_integer() else value)
    if tree[0] == "number":
        return shown
    return f"{tree[1]} {shown}" if tree[0] == "name" else f"{render_trigger(tree)} ({shown})"
