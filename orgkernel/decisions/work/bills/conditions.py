"""The conditions of bills: outputs of steps, compared with constants. The text is untrusted, so its length is limited.

    review.verdict == "approved" AND NOT tests.failed

    either     = both {OR both}
    both       = negation {AND negation}
    negation   = {NOT} (NAME | NAME SIGN CONSTANT | "(" either ")")

A condition is true, false or unknown. An output that was not reported is unknown, which is neither
true nor false.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from orgkernel.documents.records import StepOutput
from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.runtime.trigger_problems import JOIN, say_nested

MAX_LENGTH: Final = 1_000
MAX_DEPTH: Final = 20
Value: TypeAlias = str | float | bool
OutputName: TypeAlias = tuple[str, str]
"""A step and its output."""
Outputs: TypeAlias = Mapping[OutputName, Value]

_WORD: Final = lazy_pattern(
    r"""[ \t\r\n]*(?:
      (?P<OR>(?i:or)(?![\w.-]))
    | (?P<AND>(?i:and)(?![\w.-]))
    | (?P<NOT>(?i:not)(?![\w.-]))
    | (?P<TRUTH>(?:true|false)(?![\w.-]))
    | (?P<NAME>[A-Za-z_][\w-]*\.[A-Za-z_][\w-]*(?![\w.-]))
    | (?P<NUMBER>-?[0-9]{1,15}(?:\.[0-9]{1,15})?(?![\w.]))
    | (?P<TEXT>"[^"]*"|'[^']*')
    | (?P<SIGN>>=|<=|==|!=|>|<)
    | (?P<OPEN>\()
    | (?P<CLOSE>\))
    | (?P<END>\Z)
    )""",
    re.VERBOSE | re.ASCII,
)


class OutputComparison(NamedTuple):
    """An output compared with a constant. Without a sign, it is a boolean output."""

    name: OutputName
    sign: str
    value: Value


class JoinedConditions(NamedTuple):
    """Conditions joined by `and`, `or` or `not`."""

    word: str
    parts: tuple[OutputComparison | JoinedConditions, ...]


Condition: TypeAlias = OutputComparison | JoinedConditions


class ConditionProblem(NamedTuple):
    """The problem with a condition, and the position of its character."""

    message: str
    at: int
    help: str = ""


class _Misread(Exception):
    def __init__(self, problem: ConditionProblem) -> None:
        super().__init__(problem.message)
        self.problem = problem


@lru_cache(1024)
def parse_condition(text: str) -> Condition | ConditionProblem:
    """The condition, or its problem.

    >>> parse_condition("review.verdict == 'approved'")
    OutputComparison(name=('review', 'verdict'), sign='==', value='approved')
    >>> parse_condition("verdict = 1").message
    'unexpected character `v`'
    """
    if len(text) > MAX_LENGTH:
        return ConditionProblem(f"it is {len(text)} characters long, more than {MAX_LENGTH}", MAX_LENGTH)
    try:
        reader = _Reader(text)
        condition = reader.read_either(0)
        reader.take("END", JOIN)
    except _Misread as error:
        return error.problem
    return condition


class _Reader:
    """A parser that reads from left to right with one token of lookahead."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._kind, self._word, self._start = "", "", 0
        self._advance()

    def _advance(self) -> None:
        match = _WORD.match(self._text, self._at)
        if match is None:
            at = len(self._text) - len(self._text[self._at :].lstrip(" \t\r\n"))
            help = "write outputs as STEP.OUTPUT, and strings in quotes"
            raise _Misread(ConditionProblem(f"unexpected character `{self._text[at]}`", at, help))
        self._kind = match.lastgroup or ""
        self._word, self._start, self._at = match[self._kind], match.start(self._kind), match.end()

    def take(self, kind: str, help: str) -> str:
        """The current token, which must be of a kind."""
        if self._kind != kind:
            raise _Misread(ConditionProblem(f"{self._name_token()} is in the wrong place", self._start, help))
        word = self._word
        if kind != "END":
            self._advance()
        return word

    def _name_token(self) -> str:
        return f"`{self._word}`" if self._word else "its end"

    def read_either(self, depth: int) -> Condition:
        if depth > MAX_DEPTH:
            message = say_nested(MAX_DEPTH)
            raise _Misread(ConditionProblem(message, self._start))
        return self._read_joined("OR", lambda: self._read_joined("AND", lambda: self._read_negation(depth)))

    def _read_joined(self, kind: str, read: Callable[[], Condition]) -> Condition:
        parts = [read()]
        while self._kind == kind:
            self._advance()
            parts.append(read())
        return parts[0] if len(parts) == 1 else JoinedConditions(kind.lower(), tuple(parts))

    def _read_negation(self, depth: int) -> Condition:
        # Two negations cancel out. A loop instead of recursion keeps long chains of `not` within the depth limit.
        negated = False
        while self._kind == "NOT":
            self._advance()
            negated = not negated
        if self._kind == "OPEN":
            self._advance()
            condition = self.read_either(depth + 1)
            self.take("CLOSE", "add `)`")
        else:
            condition = self._read_comparison()
        return JoinedConditions("not", (condition,)) if negated else condition

    def _read_comparison(self) -> Condition:
        step, _, output = self.take("NAME", "write an output as STEP.OUTPUT").partition(".")
        if self._kind != "SIGN":
            return OutputComparison((step, output), "", True)
        sign = self.take("SIGN", "")
        return OutputComparison((step, output), sign, self._read_constant())

    def _read_constant(self) -> Value:
        kind, word = self._kind, self._word
        if kind not in ("TEXT", "NUMBER", "TRUTH"):
            help = "compare with a number, true, false or a string in quotes"
            raise _Misread(ConditionProblem(f"{self._name_token()} is not a constant", self._start, help))
        self._advance()
        if kind == "TEXT":
            return word[1:-1]
        return float(word) if kind == "NUMBER" else word == "true"


def list_comparisons(condition: Condition) -> Iterator[OutputComparison]:
    """Every comparison in a condition."""
    if isinstance(condition, OutputComparison):
        yield condition
    else:
        for part in condition.parts:
            yield from list_comparisons(part)


def describe_misfit(comparison: OutputComparison, output: StepOutput) -> str:
    """The reason why an output cannot be compared like this; empty if it can."""
    _, sign, value = comparison
    if not sign:
        return "" if output.type == "boolean" else f"it is of type {output.type}, not true or false"
    wanted = "boolean" if isinstance(value, bool) else "number" if isinstance(value, float) else "text"
    held = output.type if output.type in ("boolean", "number") else "text"
    if wanted != held:
        return f"it is of type {output.type}, and the constant is a {wanted}"
    if sign not in ("==", "!=") and held != "number":
        return f"`{sign}` compares numbers, and it is of type {output.type}"
    if output.type == "enum" and value not in output.values:
        return f"`{value}` is not among its values"
    return ""


def does_fit_type(value: Any, output: StepOutput) -> bool:
    """Whether a reported value is of the type of an output."""
    if output.type == "boolean":
        return isinstance(value, bool)
    if output.type == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, str) and (output.type != "enum" or value in output.values)


def evaluate(condition: Condition, outputs: Outputs) -> bool | None:
    """Whether a condition is true; None if the known outputs do not decide it.

    >>> condition = parse_condition("a.ok AND NOT b.count > 3")
    >>> [evaluate(condition, known) for known in ({("a", "ok"): True}, {("b", "count"): 4.0}, {("a", "ok"): True, ("b", "count"): 1})]
    [None, False, True]
    """
    if isinstance(condition, OutputComparison):
        return _compare(condition, outputs)
    results = [evaluate(part, outputs) for part in condition.parts]
    if condition.word == "not":
        return None if results[0] is None else not results[0]
    # One true part decides `or`, one false part decides `and`, even if other parts are unknown.
    decisive = condition.word == "or"
    if decisive in results:
        return decisive
    return None if None in results else not decisive


def _compare(comparison: OutputComparison, outputs: Outputs) -> bool | None:
    name, sign, value = comparison
    held = outputs.get(name)
    if held is None:
        return None
    if not sign:
        return held if isinstance(held, bool) else None
    # To Python, True equals 1. A boolean that is compared with a number is a mistake, so the answer is unknown.
    if isinstance(held, bool) != isinstance(value, bool) or isinstance(held, str) != isinstance(value, str):
        return None
    if sign in ("==", "!="):
        return (held == value) == (sign == "==")
    if isinstance(held, str) or isinstance(value, str) or isinstance(held, bool):
        return None
    return _ORDER[sign](held, value)


_ORDER: Final[Mapping[str, Callable[[float, float], bool]]] = {
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
}


def is_true(text: str | None, outputs: Outputs) -> bool | None:
    """Whether a written condition is true. One that cannot be parsed is unknown, so it permits nothing."""
    if text is None:
        return True
    condition = parse_condition(text)
    return None if isinstance(condition, ConditionProblem) else evaluate(condition, outputs)


def select_known_outputs(
    declared_outputs: Sequence[StepOutput], step: str, reported: Mapping[str, Any]
) -> dict[OutputName, Value]:
    """The reported outputs that the step declares and that are of the declared type."""
    return {
        (step, output.name): reported[output.name]
        for output in declared_outputs
        if output.name in reported and does_fit_type(reported[output.name], output)
    }
