"""Resolves plain YAML scalars: the core schema of YAML 1.2 (§10.3.2), without its surprises.

`no`, `on`, `12:30`, `010` and dates stay text; only `true`, `false`, `null`, `~`, numbers without leading zeros,
`0x…` and `0o…` are anything else. Files of hosts in Python are resolved as PyYAML does, by YAML 1.1, where `no` is false.
"""

from __future__ import annotations

import math
import re

from orgkernel.runtime.lazy_patterns import lazy_pattern

_WORDS: dict[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_INTEGER = lazy_pattern(r"[-+]?(?:0|[1-9][0-9]*)\Z", re.ASCII)
_BASED = lazy_pattern(r"0o[0-7]+\Z|0x[0-9a-fA-F]+\Z", re.ASCII)
_FLOAT = lazy_pattern(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z", re.ASCII)
_NOT_FINITE = lazy_pattern(r"[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")
MAY_BEGIN_OTHERS = frozenset("-+.0123456789~nNtTfF")
"""First characters of plain scalars that are not strings."""
_MAY_BEGIN_NUMBERS = frozenset("-+.0123456789")
_MAX_NUMBER_LENGTH = 25


class NumberOutOfRange(ValueError):
    """The scalar is a number that does not fit in 64 bits or is not finite."""


def resolve_scalar(text: str) -> str | int | float | bool | None:
    """The value of a plain scalar; raises `NumberOutOfRange`."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _MAY_BEGIN_NUMBERS:
        return text
    if _INTEGER.match(text):
        return parse_bounded_integer(text, 10)
    if _FLOAT.match(text):
        return parse_bounded_float(text)
    if _BASED.match(text):
        return parse_bounded_integer(text[2:], 8 if text[1] == "o" else 16)
    if _NOT_FINITE.match(text):
        raise NumberOutOfRange(text)
    return text


def parse_bounded_integer(digits: str, base: int) -> int:
    """A 64-bit integer. `int` itself would raise another error for more than 5,000 digits."""
    if len(digits) > _MAX_NUMBER_LENGTH:
        raise NumberOutOfRange(digits)
    value = int(digits, base)
    if not -(2**63) <= value < 2**64:
        raise NumberOutOfRange(digits)
    return value


def parse_bounded_float(text: str) -> float:
    """A finite float. Otherwise `1E400` would silently become infinity."""
    value = float(text)
    if not math.isfinite(value):
        raise NumberOutOfRange(text)
    return value
