r"""The syntax of triggers, read token by token with one token of lookahead; `trigger_builder.py` builds the expressions.

    disjunction = conjunction {OR conjunction}
    conjunction = negation {AND negation}
    negation    = {NOT} comparison
    comparison  = sum {(">=" | "<=" | "==" | "!=" | ">" | "<") sum}
    sum         = product {("+" | "-") product}
    product     = signed {("*" | "/") signed}
    signed      = {"-"} (NAME | NUMBER | "(" disjunction ")")

Conditions and numbers share one grammar, because `(` can begin both. The builder tells them apart and gives better messages
than a grammar could. A chained comparison (`1 < x < 2`) is read, so the builder can say what to write instead.

OR, AND and NOT are case-insensitive; names are in lower case. No token ends in the middle of a longer word.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from .lazy_patterns import lazy_pattern
from .trigger_builder import Builder, Expression

_TOKEN: Final = lazy_pattern(
    r"""[ \t\r\n]*(?:
      (?P<OR>(?i:or(?![a-z0-9_.])))
    | (?P<AND>(?i:and(?![a-z0-9_.])))
    | (?P<NOT>(?i:not(?![a-z0-9_.])))
    | (?P<NAME>[a-z_][a-z0-9_]*(?![A-Za-z0-9_.]))
    | (?P<NUMBER>[0-9]+(?:\.[0-9]+)?(?![A-Za-z0-9_.]))
    | (?P<COMPARE>>=|<=|==|!=|>|<)
    | (?P<MINUS>-)
    | (?P<PLUS>\+)
    | (?P<TIMES>[*/])
    | (?P<OPEN>\()
    | (?P<CLOSE>\))
    | (?P<END>\Z)
    )""",
    re.VERBOSE,
)
# The precedence of each operator in the grammar above, loosest first.
_DISJUNCTION, _CONJUNCTION, _NEGATION, _COMPARISON, _SUM, _PRODUCT, _SIGNED = range(1, 8)
_BINDING: Final = {
    "OR": _DISJUNCTION, "AND": _CONJUNCTION, "COMPARE": _COMPARISON, "PLUS": _SUM, "MINUS": _SUM, "TIMES": _PRODUCT,
}  # fmt: skip


class TriggerToken(NamedTuple):
    """A token: its kind, its text, and its start and end."""

    kind: str
    text: str
    start: int
    end: int


class UnknownToken(Exception):
    """No token begins at this offset of the text."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


class UnexpectedToken(Exception):
    """A token is in the place of another kind of token."""

    def __init__(self, token: TriggerToken, *, expects_operand: bool) -> None:
        super().__init__(token)
        self.token = token
        self.expects_operand = expects_operand
        """Whether a name or a number was expected, and not an operator."""


def read_expression(text: str, builder: Builder) -> Expression:
    """Build the whole trigger. Raises `UnknownToken` or `UnexpectedToken` at the first mistake."""
    reader = _Reader(text, builder)
    expression = reader.read_joined(_DISJUNCTION)
    if reader.token.kind != "END":
        raise UnexpectedToken(reader.token, expects_operand=False)
    return expression


class _Reader:
    """Reads tokens from left to right. Only parentheses recurse. The caller has limited their nesting."""

    def __init__(self, text: str, builder: Builder) -> None:
        self._text = text
        self._builder = builder
        self._offset = 0
        self.token = self._read_next()

    def _read_next(self) -> TriggerToken:
        match = _TOKEN.match(self._text, self._offset)
        if match is None:
            rest = self._text[self._offset :].lstrip(" \t\r\n")
            raise UnknownToken(len(self._text) - len(rest))
        kind = match.lastgroup or ""
        self._offset = match.end()
        return TriggerToken(kind, match[kind], match.start(kind), self._offset)

    def _take(self) -> TriggerToken:
        token, self.token = self.token, self._read_next()
        return token

    def read_joined(self, binding: int) -> Expression:
        """Read operands and the operators that bind at least as tightly as `binding`."""
        expression = self._read_negated(binding)
        while (joining := _BINDING.get(self.token.kind, 0)) >= binding:
            if joining in (_SUM, _PRODUCT):
                sign = self._take().text
                expression = self._builder.build_arithmetic(expression, sign, self.read_joined(joining + 1))
                continue
            expressions, signs = [expression], []
            while _BINDING.get(self.token.kind) == joining:
                signs.append(self._take().text)
                expressions.append(self.read_joined(joining + 1))
            if joining == _COMPARISON:
                expression = self._builder.build_comparison(expressions, signs)
            else:
                expression = self._builder.build_junction(
                    "and" if joining == _CONJUNCTION else "or", expressions
                )
        return expression

    def _read_negated(self, binding: int) -> Expression:
        starts = []
        while binding <= _NEGATION and self.token.kind == "NOT":
            starts.append(self._take().start)
        expression = self.read_joined(_COMPARISON) if starts else self._read_signed()
        for start in reversed(starts):
            expression = self._builder.build_negation(start, expression)
        return expression

    def _read_signed(self) -> Expression:
        starts = []
        while self.token.kind == "MINUS":
            starts.append(self._take().start)
        expression = self._read_operand()
        for start in reversed(starts):
            expression = self._builder.build_negative(start, expression)
        return expression

    def _read_operand(self) -> Expression:
        token = self.token
        if token.kind == "NAME":
            self._take()
            return self._builder.build_name(token.text, token.start, token.end)
        if token.kind == "NUMBER":
            self._take()
            return self._builder.build_number(token.text, token.start, token.end)
        if token.kind != "OPEN":
            raise UnexpectedToken(token, expects_operand=True)
        self._take()
        expression = self.read_joined(_DISJUNCTION)
        if self.token.kind != "CLOSE":
            raise UnexpectedToken(self.token, expects_operand=False)
        return expression._replace(start=token.start, end=self._take().end)
