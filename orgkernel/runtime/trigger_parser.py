"""Parses PACE triggers: turns text into a compiled tree, or into problems with positions. Never raises.

    consecutive_tool_failures >= 5 OR context_fill > 0.85

Source: docs/triggers.md. Text is untrusted, so its length and its nesting are capped before it is read (`trigger_syntax.py`).

Known limits: the first syntax error hides the errors after it. All problems of names and kinds are reported, but only
if the syntax is valid. A sum or product of more than 50 terms is treated as too deep.
"""

from __future__ import annotations

import re
from typing import Final

from .lazy_patterns import lazy_pattern
from .trigger_builder import Builder
from .trigger_names import find_trigger_name
from .trigger_problems import JOIN, ParsedTrigger, TriggerProblem, say_nested
from .trigger_syntax import TriggerToken, UnexpectedToken, UnknownToken, read_expression
from .triggers import MAX_DEPTH

MAX_LENGTH: Final = 1_000

_WORD = lazy_pattern(r"[A-Za-z0-9_.]+")
_PARENTHESIS = lazy_pattern(r"[()]")
_PERCENT = lazy_pattern(r"([0-9]+(?:\.[0-9]+)?)\s*\Z", re.ASCII)
_DIGITS = lazy_pattern(r"[0-9]{1,6}(?:\.[0-9]{1,6})?")
# Operators of other languages, and what to write in a trigger; a longer sign comes before its own prefix.
_OPERATOR_FIXES: Final = {
    "&&": "AND",
    "&": "AND",
    "||": "OR",
    "|": "OR",
    "!": "NOT",
    "=>": ">=",
    "=<": "<=",
    "=": "==",
    "≥": ">=",
    "≤": "<=",
    "≠": "!=",
    "×": "*",
    "÷": "/",
    "−": "-",
}


def parse_trigger(text: str) -> ParsedTrigger:
    """Read a trigger; the result has either its compiled tree or its problems."""
    problem = _check_limits(text)
    if problem:
        return ParsedTrigger(text, None, (), (problem,))

    builder = Builder(text)
    try:
        expression = builder.build(read_expression(text, builder))
    except UnknownToken as error:
        return ParsedTrigger(text, None, (), (_describe_unknown_token(text, error.offset),))
    except UnexpectedToken as error:
        return ParsedTrigger(
            text, None, (), (_describe_unexpected_token(text, error.token, error.expects_operand),)
        )
    return ParsedTrigger(
        text, None if builder.problems else expression.tree, tuple(builder.uses), tuple(builder.problems)
    )


def _check_limits(text: str) -> TriggerProblem | None:
    if not text.strip(" \t\r\n"):
        return TriggerProblem(
            "syntax", "trigger is empty", 0, len(text), "leave `trigger` out, or write a condition"
        )
    if len(text) > MAX_LENGTH:
        message = f"trigger is {len(text)} characters long, more than {MAX_LENGTH}"
        return TriggerProblem("syntax", message, MAX_LENGTH, len(text))
    depth = 0
    for match in _PARENTHESIS.finditer(text):
        depth += 1 if match[0] == "(" else -1
        if depth > MAX_DEPTH:
            message = say_nested(MAX_DEPTH)
            return TriggerProblem("syntax", message, match.start(), match.end())
    return None


def _describe_unknown_token(text: str, offset: int) -> TriggerProblem:
    """Describe the problem at an offset where no token begins, and suggest a fix if it is clear."""
    match = _WORD.match(text, offset)
    if match:
        word = match.group()
        kind = "number" if word[0].isdigit() or word[0] == "." else "name"
        return TriggerProblem(
            "syntax", f"`{word}` is not a {kind}", offset, match.end(), _suggest_word(word, kind)
        )
    if text[offset] == "%":
        percentage = _PERCENT.search(text, 0, offset)
        start = percentage.start() if percentage else offset
        return TriggerProblem(
            "syntax",
            f"`{text[start : offset + 1]}` is a percentage",
            start,
            offset + 1,
            _suggest_fraction(percentage),
        )
    for sign, instead in _OPERATOR_FIXES.items():
        if text.startswith(sign, offset):
            return TriggerProblem(
                "syntax",
                f"`{sign}` is not an operator of triggers",
                offset,
                offset + len(sign),
                f"write `{instead}`",
            )
    printable = text[offset] if text[offset].isprintable() else f"U+{ord(text[offset]):04X}"
    return TriggerProblem("syntax", f"`{printable}` has no meaning in a trigger", offset, offset + 1)


def _suggest_word(word: str, kind: str) -> str:
    if kind == "number":
        return "write digits with at most one decimal point, such as `0.85`"
    entry = find_trigger_name(word.lower())
    return f"write `{entry.name}`" if entry else "use only lower-case letters, digits and underscores"


def _suggest_fraction(percentage: re.Match[str] | None) -> str:
    if percentage is None or not _DIGITS.fullmatch(percentage[1]):
        return "write a fraction between 0 and 1"
    integer, _, fraction = percentage[1].partition(".")
    padded = integer.zfill(3)
    digits = f"{padded[:-2].lstrip('0') or '0'}.{padded[-2:]}{fraction}".rstrip("0").rstrip(".")
    return f"write `{digits}`"


def _describe_unexpected_token(text: str, token: TriggerToken, expects_operand: bool) -> TriggerProblem:
    """Describe the problem of a token in the wrong place."""
    if token.kind == "END":
        end = len(text.rstrip(" \t\r\n"))
        if not expects_operand:
            opening = _find_unclosed(text)
            return TriggerProblem("syntax", "`(` is never closed", opening, opening + 1, "add `)`")
        last = re.search(r"[A-Za-z]+\Z|[<>=!]+\Z|.\Z", text[:end])
        return TriggerProblem(
            "syntax",
            f"trigger ends after `{last[0] if last else ''}`",
            end,
            end,
            "add a name, a number or a condition",
        )
    start, end = token.start, token.end
    if expects_operand:
        message = f"`{token.text}` is in the place of a name or a number"
        return TriggerProblem("syntax", message, start, end)
    if token.kind == "CLOSE":
        return TriggerProblem(
            "syntax", "`)` has no matching `(`", start, end, "remove it, or add `(` before it"
        )
    message = f"`{token.text}` is in the place of an operator"
    return TriggerProblem("syntax", message, start, end, JOIN)


def _find_unclosed(text: str) -> int:
    """Find the last unclosed opening parenthesis."""
    unclosed: list[int] = []
    for offset, character in enumerate(text):
        if character == "(":
            unclosed.append(offset)
        elif character == ")" and unclosed:
            unclosed.pop()
    return unclosed[-1] if unclosed else len(text)
