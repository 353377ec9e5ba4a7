r"""The syntax of triggers, read word by word with one word of lookahead; `trigger_builder.py` makes the parts.

    either     = both {OR both}
    both       = negation {AND negation}
    negation   = {NOT} comparison
    comparison = sum {(">=" | "<=" | "==" | "!=" | ">" | "<") sum}
    sum        = product {("+" | "-") product}
    product    = signed {("*" | "/") signed}
    signed     = {"-"} (NAME | NUMBER | "(" either ")")

Conditions and numbers share one grammar, because `(` may open either; the builder tells them apart, with better messages
than a grammar has. A chained comparison (`1 < x < 2`) is read so that the builder can say what to write instead.

OR, AND and NOT are words of the language in any case; names are in lower case. No word ends in the middle of a longer one.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from .lazy_patterns import lazy_pattern
from .trigger_builder import Builder, Part

_WORD: Final = lazy_pattern(
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
# How tightly what joins two parts binds them, by the rules above.
_EITHER, _BOTH, _NEGATION, _COMPARISON, _SUM, _PRODUCT, _SIGNED = range(1, 8)
_BINDING: Final = {
    "OR": _EITHER, "AND": _BOTH, "COMPARE": _COMPARISON, "PLUS": _SUM, "MINUS": _SUM, "TIMES": _PRODUCT,
}  # fmt: skip


class Word(NamedTuple):
    """A word of the language, what it is, and its place in the text."""

    kind: str
    text: str
    start: int
    end: int


class UnknownWord(Exception):
    """At this place of the text no word of the language begins."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


class MisplacedWord(Exception):
    """A word stands where another one has to."""

    def __init__(self, word: Word, *, operand_wanted: bool) -> None:
        super().__init__(word)
        self.word = word
        self.operand_wanted = operand_wanted
        """Whether a name or a number has to stand there, and not an operator."""


def read_parts(text: str, builder: Builder) -> Part:
    """The whole trigger, built. Raises `UnknownWord` or `MisplacedWord` at the first mistake."""
    reader = _Reader(text, builder)
    part = reader.read_joined(_EITHER)
    if reader.word.kind != "END":
        raise MisplacedWord(reader.word, operand_wanted=False)
    return part


class _Reader:
    """Reads from left to right. Only parentheses recurse, and how deep they nest is limited before."""

    def __init__(self, text: str, builder: Builder) -> None:
        self._text = text
        self._builder = builder
        self._at = 0
        self.word = self._next()

    def _next(self) -> Word:
        match = _WORD.match(self._text, self._at)
        if match is None:
            rest = self._text[self._at :].lstrip(" \t\r\n")
            raise UnknownWord(len(self._text) - len(rest))
        kind = match.lastgroup or ""
        self._at = match.end()
        return Word(kind, match[kind], match.start(kind), self._at)

    def _take(self) -> Word:
        word, self.word = self.word, self._next()
        return word

    def read_joined(self, binding: int) -> Part:
        """Operands and what joins them at least as tightly as `binding`."""
        part = self._read_negated(binding)
        while (joining := _BINDING.get(self.word.kind, 0)) >= binding:
            if joining in (_SUM, _PRODUCT):
                sign = self._take().text
                part = self._builder.arithmetic(part, sign, self.read_joined(joining + 1))
                continue
            parts, signs = [part], []
            while _BINDING.get(self.word.kind) == joining:
                signs.append(self._take().text)
                parts.append(self.read_joined(joining + 1))
            if joining == _COMPARISON:
                part = self._builder.comparison(parts, signs)
            else:
                part = self._builder.joined("and" if joining == _BOTH else "or", parts)
        return part

    def _read_negated(self, binding: int) -> Part:
        starts = []
        while binding <= _NEGATION and self.word.kind == "NOT":
            starts.append(self._take().start)
        part = self.read_joined(_COMPARISON) if starts else self._read_signed()
        for start in reversed(starts):
            part = self._builder.negated(start, part)
        return part

    def _read_signed(self) -> Part:
        starts = []
        while self.word.kind == "MINUS":
            starts.append(self._take().start)
        part = self._read_operand()
        for start in reversed(starts):
            part = self._builder.negative(start, part)
        return part

    def _read_operand(self) -> Part:
        word = self.word
        if word.kind == "NAME":
            self._take()
            return self._builder.name(word.text, word.start, word.end)
        if word.kind == "NUMBER":
            self._take()
            return self._builder.number(word.text, word.start, word.end)
        if word.kind != "OPEN":
            raise MisplacedWord(word, operand_wanted=True)
        self._take()
        part = self.read_joined(_EITHER)
        if self.word.kind != "CLOSE":
            raise MisplacedWord(self.word, operand_wanted=False)
        return part._replace(start=word.start, end=self._take().end)
