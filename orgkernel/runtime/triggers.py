"""A compiled PACE trigger: plain JSON, checked before use, printable as text, evaluated inside any host.

A trigger such as `consecutive_tool_failures >= 5 OR context_fill > 0.85` is parsed once, at load, and is sent to
hosts as nested lists (docs/pace.md), so a host needs no parser. The forms are:

    condition   ["or", c, c, ...]   ["and", c, c, ...]   ["not", c]   ["flag", "name"]
                [">=", n, n]   also  >  <=  <  ==  !=
    number      ["name", "name"]   ["number", 0.85]   ["neg", n]   ["+", n, n]   also  -  *  /

INVARIANT: a tree that passes `check_tree` can be evaluated and rendered without exception, recursion is bounded
by `MAX_DEPTH`, and parsing its rendering yields an equal tree (provided the text fits the parser's length limit).
A negative literal is therefore ["neg", ["number", 5]], never ["number", -5].

Error policy (docs/pace.md): *assume nominal, but name every value that was not reported*. A value that the host does
not report is Unknown, which is neither true nor false: it neither raises a tier nor restores one. AND, OR and NOT follow
Kleene's strong logic: `true OR unknown` is true, `false AND unknown` is false, and everything else with unknown is
unknown. Arithmetic on Unknown is Unknown, and so is a division by zero or a result that is not finite.

A value of the wrong kind (text, NaN, a number for a flag, true for a number) is treated as not reported, because
reading a host must never raise. Only a malformed tree raises, `TriggerTreeError`, before anything is evaluated.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, NamedTuple, TypeAlias, TypeGuard

TriggerTree: TypeAlias = list[Any]
Measures: TypeAlias = Mapping[str, float | bool | None]

MAX_DEPTH: Final = 50
MAX_NODES: Final = 1_000
MAX_NUMBER: Final = 2**53  # the largest range in which every whole number is exact in any JSON reader

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
RESERVED_WORDS: Final = frozenset({"and", "or", "not"})

_NAME = re.compile(r"[a-z_][a-z0-9_]*", re.ASCII)
_BINDING = {"or": 1, "and": 2, "not": 3, "+": 5, "-": 5, "*": 6, "/": 6, "neg": 7} | dict.fromkeys(
    _COMPARE, 4
)
_ATOM = 8


class TriggerTreeError(ValueError):
    """Raised for a compiled trigger that has none of the forms above. Its bundle must not be used."""


def check_tree(tree: object) -> None:
    """Raise `TriggerTreeError` unless `tree` is a well-formed condition within the size limits."""
    budget = iter(range(MAX_NODES))
    _check(tree, condition=True, depth=1, budget=budget)


def _check(node: object, *, condition: bool, depth: int, budget: Iterator[int]) -> None:
    if depth > MAX_DEPTH:
        raise TriggerTreeError(f"trigger tree is nested more than {MAX_DEPTH} levels deep")
    if next(budget, None) is None:
        raise TriggerTreeError(f"trigger tree has more than {MAX_NODES} parts")
    if not isinstance(node, list | tuple) or not node or not isinstance(node[0], str):
        raise TriggerTreeError("each part of a trigger tree must be a list that starts with its operator")
    operator, *operands = node
    if operator in ("flag" if condition else "name", "number"):
        _check_leaf(operator, operands, condition=condition)
        return
    if condition:
        allowed = operator in ("or", "and", "not") or operator in _COMPARE
        least, most = {"or": (2, MAX_NODES), "and": (2, MAX_NODES), "not": (1, 1)}.get(operator, (2, 2))
    else:
        allowed = operator == "neg" or operator in _ARITHMETIC
        least = most = 1 if operator == "neg" else 2
    if not allowed:
        kind = "condition" if condition else "number"
        raise TriggerTreeError(f"`{operator[:40]}` is not a valid {kind} in a trigger tree")
    if not least <= len(operands) <= most:
        raise _build_count_error(operator, operands)
    for operand in operands:
        _check(operand, condition=operator in ("or", "and", "not"), depth=depth + 1, budget=budget)


def _build_count_error(operator: str, operands: list[object]) -> TriggerTreeError:
    return TriggerTreeError(
        f"`{operator}` has the wrong number of operands in a trigger tree: {len(operands)}"
    )


def _check_leaf(operator: str, operands: list[object], *, condition: bool) -> None:
    if len(operands) != 1:
        raise _build_count_error(operator, operands)
    value = operands[0]
    if operator == "number":
        if condition:
            raise TriggerTreeError("`number` is not a condition in a trigger tree")
        if not _is_plain_number(value) or not 0 <= value <= MAX_NUMBER:
            raise TriggerTreeError(f"a number in a trigger tree must be between 0 and {MAX_NUMBER}")
        if math.copysign(1.0, value) < 0:
            raise TriggerTreeError("minus zero is not allowed in a trigger tree")
    elif not isinstance(value, str) or not _NAME.fullmatch(value) or value in RESERVED_WORDS:
        raise TriggerTreeError("a name in a trigger tree must be lower-case letters, digits and underscores")


def _is_plain_number(value: object) -> TypeGuard[float]:
    return type(value) in (int, float)  # exactly: a bool is an int, and a host's own float prints differently


def find_names(tree: TriggerTree) -> tuple[str, ...]:
    """Every name a checked tree reads, once each, in reading order."""
    if tree[0] in ("name", "flag"):
        return (tree[1],)
    if tree[0] == "number":
        return ()
    return tuple(dict.fromkeys(name for operand in tree[1:] for name in find_names(operand)))


def render_trigger(tree: TriggerTree) -> str:
    """Print a checked tree as trigger text with as few parentheses as possible."""
    operator = tree[0]
    if operator in ("name", "flag"):
        return str(tree[1])
    if operator == "number":
        return render_number(tree[1])
    binding = _BINDING[operator]
    if operator in ("or", "and"):
        return f" {operator.upper()} ".join(_render_within(operand, binding + 1) for operand in tree[1:])
    if operator == "not":
        return f"NOT {_render_within(tree[1], binding)}"
    if operator == "neg":
        return f"-{_render_within(tree[1], binding)}"
    # Arithmetic groups to the left. A comparison never contains a comparison, so the same rule works for it.
    return f"{_render_within(tree[1], binding)} {operator} {_render_within(tree[2], binding + 1)}"


def _render_within(tree: TriggerTree, least: int) -> str:
    text = render_trigger(tree)
    return text if _BINDING.get(tree[0], _ATOM) >= least else f"({text})"


def render_number(value: float) -> str:
    """Print a finite number the way a trigger writes it: plain decimal digits, never an exponent."""
    text = repr(value)
    return format(Decimal(text), "f") if "e" in text else text


class Tripped(NamedTuple):
    """One comparison or flag that made a trigger true, with the values it saw: `context_fill 0.9 > 0.85`."""

    text: str
    names: tuple[str, ...]


class TriggerVerdict(NamedTuple):
    """The result of a trigger for one observation: its value (None is Unknown), why, and what was unknown.

    `tripped` is empty unless the value is true. `unknown` lists the names that the host did not report. `undefined` lists
    the arithmetic without a finite value although all its values were reported. Both are complete, even if they did not
    matter for the value.
    """

    value: bool | None
    tripped: tuple[Tripped, ...] = ()
    unknown: tuple[str, ...] = ()
    undefined: tuple[str, ...] = ()


class _Term(NamedTuple):
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


_checked: dict[int, TriggerTree] = {}
"""Trees that passed the check. They are kept alive, so no other tree gets the same identity."""
_MAX_CHECKED: Final = 1_000


def evaluate_trigger(tree: TriggerTree, observation: Measures) -> TriggerVerdict:
    """Evaluate a compiled trigger on a host's values. Raise `TriggerTreeError` only for a malformed tree.

    A tree is checked once, so do not change it later.
    """
    if _checked.get(id(tree), _checked) is not tree:
        check_tree(tree)
        if len(_checked) >= _MAX_CHECKED:
            _checked.clear()
        _checked[id(tree)] = tree
    reading = _Reading(observation)
    value, terms = _evaluate_condition(tree, reading)
    tripped = tuple(map(_describe, terms)) if value else ()
    return TriggerVerdict(value, tripped, tuple(reading.unknown), tuple(reading.undefined))


def _evaluate_condition(tree: TriggerTree, reading: _Reading) -> tuple[bool | None, tuple[_Term, ...]]:
    """The value of a condition and the terms that decided it. Every part is read, so `unknown` is complete."""
    kind = tree[0]
    if kind == "flag":
        flag = reading.observation.get(tree[1])
        if isinstance(flag, bool):
            return flag, (_Term(tree, flag),)
        reading.unknown[tree[1]] = None
        return None, ()
    if kind == "not":
        value, terms = _evaluate_condition(tree[1], reading)
        return (None if value is None else not value), terms
    if kind in ("or", "and"):
        deciding = kind == "or"
        parts = [_evaluate_condition(operand, reading) for operand in tree[1:]]
        values = [value for value, _ in parts]
        if deciding in values:
            return deciding, tuple(term for value, terms in parts if value is deciding for term in terms)
        if None in values:
            return None, ()
        return not deciding, tuple(term for _, terms in parts for term in terms)
    left, right = _evaluate_number(tree[1], reading), _evaluate_number(tree[2], reading)
    if left is None or right is None:
        return None, ()
    holds = _COMPARE[kind](left, right)
    return holds, (_Term(tree, holds, (left, right)),)


def _evaluate_number(tree: TriggerTree, reading: _Reading) -> float | None:
    kind = tree[0]
    if kind == "number":
        return float(tree[1])
    if kind == "name":
        value = _read_number(reading.observation.get(tree[1]))
        if value is None:
            reading.unknown[tree[1]] = None
        return value
    if kind == "neg":
        value = _evaluate_number(tree[1], reading)
        return None if value is None else -value
    left, right = _evaluate_number(tree[1], reading), _evaluate_number(tree[2], reading)
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
