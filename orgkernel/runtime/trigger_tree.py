"""The compiled form of a PACE trigger: plain JSON, checked before use, printable as text.

A trigger such as `consecutive_tool_failures >= 5 OR context_fill > 0.85` is parsed once, at load, and travels to
hosts as nested lists (design §6 "PACE."; facts/ecosystem §7), so that a host needs no parser. The forms are:

    condition   ["or", c, c, ...]   ["and", c, c, ...]   ["not", c]   ["flag", "name"]
                [">=", n, n]   also  >  <=  <  ==  !=
    number      ["name", "name"]   ["number", 0.85]   ["neg", n]   ["+", n, n]   also  -  *  /

INVARIANT: a tree that passes `check_tree` can be evaluated and rendered without exception, recursion is bounded
by `MAX_DEPTH`, and parsing its rendering yields an equal tree (provided the text fits the parser's length limit).
A negative literal is therefore ["neg", ["number", 5]], never ["number", -5].

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final, TypeAlias, TypeGuard

TriggerTree: TypeAlias = list[Any]

MAX_DEPTH: Final = 50
MAX_NODES: Final = 1_000
MAX_NUMBER: Final = 2**53  # the largest range in which every whole number is exact in any JSON reader

COMPARISONS: Final = frozenset({">=", ">", "<=", "<", "==", "!="})
ARITHMETIC: Final = frozenset({"+", "-", "*", "/"})
RESERVED_WORDS: Final = frozenset({"and", "or", "not"})

_NAME = re.compile(r"[a-z_][a-z0-9_]*", re.ASCII)
_BINDING = {"or": 1, "and": 2, "not": 3, "+": 5, "-": 5, "*": 6, "/": 6, "neg": 7} | dict.fromkeys(
    COMPARISONS, 4
)
_ATOM = 8


class TriggerTreeError(ValueError):
    """A compiled trigger has none of the forms above. The bundle that holds it must not be used."""


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
        allowed = operator in ("or", "and", "not") or operator in COMPARISONS
        least, most = {"or": (2, MAX_NODES), "and": (2, MAX_NODES), "not": (1, 1)}.get(operator, (2, 2))
    else:
        allowed = operator == "neg" or operator in ARITHMETIC
        least = most = 1 if operator == "neg" else 2
    if not allowed:
        kind = "condition" if condition else "number"
        raise TriggerTreeError(f"`{operator[:40]}` is not a valid {kind} in a trigger tree")
    if not least <= len(operands) <= most:
        raise TriggerTreeError(
            f"`{operator}` has the wrong number of operands in a trigger tree: {len(operands)}"
        )
    for operand in operands:
        _check(operand, condition=operator in ("or", "and", "not"), depth=depth + 1, budget=budget)


def _check_leaf(operator: str, operands: list[object], *, condition: bool) -> None:
    if len(operands) != 1:
        raise TriggerTreeError(
            f"`{operator}` has the wrong number of operands in a trigger tree: {len(operands)}"
        )
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
