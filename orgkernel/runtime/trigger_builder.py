"""Builds the compiled tree of a trigger from its expressions, and checks names and kinds on the way.

Every expression is a number, a flag or a condition. The kind of a name comes from its entry in
`trigger_names.py`. An unknown name fits anywhere, so one misspelling causes one problem.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from .trigger_names import ALIASES, NAMES, find_trigger_name, suggest_trigger_name
from .trigger_problems import JOIN, NameUse, ProblemKind, TriggerProblem
from .triggers import MAX_DEPTH, MAX_NUMBER, TriggerTree

_Kind: TypeAlias = Literal["number", "flag", "condition", "unknown", "truth"]


class Expression(NamedTuple):
    """A parsed expression: its compiled tree, the kind of its value, its start and end in the text, and its depth."""

    tree: TriggerTree
    kind: _Kind
    start: int
    end: int
    depth: int = 1


class Builder:
    """Builds one trigger: operands first, then the expression that contains them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.uses: list[NameUse] = []
        self.problems: list[TriggerProblem] = []

    def build(self, expression: Expression) -> Expression:
        """Check that the whole trigger is a condition, and sort its names and problems by position."""
        self._expect_condition(expression)
        self.uses.sort(key=lambda use: use.start)
        self.problems.sort(key=lambda problem: (problem.start, problem.end))
        return expression

    def build_name(self, word: str, start: int, end: int) -> Expression:
        entry = find_trigger_name(word)
        self.uses.append(NameUse(word, start, end, entry.name if entry else None, word in ALIASES))
        if entry is None:
            truth = word in ("true", "false")
            self._report(
                "unknown-name", f"name `{word}` is unknown in triggers", start, end, _suggest_name(word)
            )
            return Expression(["name", word], "truth" if truth else "unknown", start, end)
        leaf = "flag" if entry.kind == "flag" else "name"
        return Expression([leaf, entry.name], entry.kind, start, end)

    def build_number(self, digits: str, start: int, end: int) -> Expression:
        value = float(digits) if "." in digits else int(digits)
        if value > MAX_NUMBER:
            self._report(
                "syntax", f"number `{_shorten(digits)}` is larger than {MAX_NUMBER}", start, end, None
            )
        return Expression(["number", value], "number", start, end)

    def build_negative(self, start: int, expression: Expression) -> Expression:
        self._expect_number(expression)
        return self._join("neg", [expression], "number", start)

    def build_arithmetic(self, left: Expression, sign: str, right: Expression) -> Expression:
        self._expect_number(left)
        self._expect_number(right)
        return self._join(sign, [left, right], "number")

    def build_comparison(self, expressions: list[Expression], signs: list[str]) -> Expression:
        with_truth = any(expression.kind == "truth" for expression in expressions)
        for expression in expressions:
            # `flag == true` is one mistake, reported at `true`.
            if not (with_truth and expression.kind == "flag"):
                self._expect_number(expression)
        if len(signs) > 1:
            texts = [self.text[expression.start : expression.end] for expression in expressions]
            pairs = [f"{texts[at]} {sign} {texts[at + 1]}" for at, sign in enumerate(signs)]
            start, end = expressions[0].start, expressions[-1].end
            message = f"`{_shorten(self.text[start:end])}` chains {len(signs)} comparisons"
            self._report("type", message, start, end, f"write `{' AND '.join(pairs)}`")
        return self._join(signs[0], expressions, "condition")

    def build_negation(self, start: int, expression: Expression) -> Expression:
        self._expect_condition(expression)
        return self._join("not", [expression], "condition", start)

    def build_junction(self, operator: Literal["and", "or"], expressions: list[Expression]) -> Expression:
        for expression in expressions:
            self._expect_condition(expression)
        return self._join(operator, expressions, "condition")

    def _join(
        self, operator: str, expressions: list[Expression], kind: _Kind, start: int | None = None
    ) -> Expression:
        start, end = expressions[0].start if start is None else start, expressions[-1].end
        depth = 1 + max(expression.depth for expression in expressions)
        if depth == MAX_DEPTH + 1:  # once per branch that grows too deep
            self._report("syntax", f"trigger nests more than {MAX_DEPTH} levels deep", start, end, None)
        return Expression(
            [operator, *(expression.tree for expression in expressions)], kind, start, end, depth
        )

    def _expect_number(self, expression: Expression) -> None:
        if expression.kind == "flag":
            shown = self._show(expression)
            advice = f"write `{shown}` alone, or `NOT {shown}`"
            self._report(
                "type", f"`{shown}` is a flag, not a number", expression.start, expression.end, advice
            )
        elif expression.kind == "condition":
            message = f"`{self._show(expression)}` is a condition, not a number"
            self._report("type", message, expression.start, expression.end, JOIN)

    def _expect_condition(self, expression: Expression) -> None:
        if expression.kind == "number":
            shown = self._show(expression)
            advice = f"compare it with a limit, as in `{shown} >= …`"
            self._report(
                "type", f"`{shown}` is a number, not a condition", expression.start, expression.end, advice
            )

    def _show(self, expression: Expression) -> str:
        return _shorten(self.text[expression.start : expression.end])

    def _report(self, kind: ProblemKind, message: str, start: int, end: int, advice: str | None) -> None:
        self.problems.append(TriggerProblem(kind, message, start, end, advice))


def _shorten(text: str) -> str:
    """User text for a one-line message."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"


def _suggest_name(word: str) -> str:
    if word in ("true", "false"):
        return "write the flag alone, or `NOT` before it"
    suggestion = suggest_trigger_name(word)
    if suggestion:
        return f"did you mean `{suggestion}`?"
    shown = list(NAMES)[:5]
    return f"use one of {', '.join(f'`{name}`' for name in shown)} and {len(NAMES) - len(shown)} more"
