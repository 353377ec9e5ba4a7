"""Words messages about values that do not fit their shape, based on the errors of msgspec."""

from __future__ import annotations

import re
from typing import NamedTuple

from orgkernel.diagnostics.wording import clean, quote

_KINDS = {
    "str": "a string", "int": "a whole number", "float": "a number", "bool": "true or false", "array": "a list",
    "object": "an object", "null": "`null`", "date": "a date", "datetime": "a date and time", "time": "a time",
    "bytes": "bytes",
}  # fmt: skip
_LIMITED = {
    "str": "a string",
    "array": "a list",
    "object": "an object",
    "int": "a number",
    "float": "a number",
}
_COUNTED = {"str": "characters", "array": "items", "object": "entries"}
_BOUNDS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than", "": "exactly"}

_KIND = re.compile(r"Expected `([^`]+)`(?:, got `([^`]+)`)?")
_LENGTH = re.compile(r"Expected `(\w+)` of length (>=|<=|)\s*(\d+)(?:, got (\d+))?")
_RANGE = re.compile(r"Expected `(?:int|float)` (>=|<=|>|<) ([\d.e+-]+)")
_MULTIPLE = re.compile(r"Expected `(?:int|float)` that's a multiple of ([\d.e+-]+)")
_PATTERN = re.compile(r"Expected `str` matching regex ['\"](.*)['\"]", re.DOTALL)
_CHOICE = re.compile(r"Invalid (?:enum )?value (?:(['\"])(.*)\1|(.*))", re.DOTALL)
_FIELD = re.compile(r"Object (?:(missing required)|contains unknown) field `(.*)`", re.DOTALL)
_PLACE = re.compile(r" - at (?:`(key)` in )?`\$(.*)`$", re.DOTALL)


class Unfit(NamedTuple):
    """A value that does not fit: its place, and a comparison with the expected value."""

    message: str
    place: str
    """Route from the outermost value, such as `.needs[1]`; empty for the outermost value itself."""


def describe_unfit(error: Exception) -> Unfit:
    """Describe a conversion error of msgspec in orgkernel's words. User text is quoted, and secrets in it are masked.

    >>> import msgspec
    >>> try:
    ...     msgspec.convert({"depth": ["x"]}, dict[str, int])
    ... except msgspec.ValidationError as error:
    ...     print(*describe_unfit(error), sep=" | ")
    expected a whole number, got a list | [...]
    """
    text = str(error)
    match = _PLACE.search(text)
    if match is None:
        return Unfit(_describe(text), "")
    message = _describe(text[: match.start()])
    return Unfit(f"a key: {message}" if match[1] else message, match[2])


def _describe(text: str) -> str:
    if match := _LENGTH.fullmatch(text):
        kind, bound, length, got = match.groups()
        unit = _COUNTED[kind] if length != "1" else _COUNTED[kind].replace("ies", "y").rstrip("s")
        return f"expected {_LIMITED[kind]} of {_BOUNDS[bound]} {length} {unit}" + (
            f", got {got}" if got else ""
        )
    if match := _RANGE.fullmatch(text):
        return f"expected a number of {_BOUNDS[match[1]]} {_format_limit(match[2])}"
    if match := _MULTIPLE.fullmatch(text):
        step = _format_limit(match[1])
        return "expected a whole number" if step == "1" else f"expected a number that is a multiple of {step}"
    if match := _PATTERN.fullmatch(text):
        return f"expected a string that matches {quote(match[1])}"
    if match := _CHOICE.fullmatch(text):
        return f"{quote(match[2] if match[1] else match[3])} is not one of the allowed values"
    if match := _KIND.fullmatch(text):
        return f"expected {_name_kinds(match[1])}" + (
            f", got {_name_given_kind(match[2])}" if match[2] else ""
        )
    if match := _FIELD.fullmatch(text):
        verb = "lacks the" if match[1] else "has the unknown"
        return f"{verb} field {quote(match[2])}"
    return clean(text[:1].lower() + text[1:])


def _name_kinds(named: str) -> str:
    """The expected kinds of a value, from `int | str | null`."""
    return " or ".join(_KINDS.get(name, "another value") for name in named.split(" | "))


def _name_given_kind(name: str) -> str:
    """The actual kind of a value. A number with a fraction is named as such, because a whole number can be expected."""
    return (
        "a number with a fraction" if name == "float" else "a number" if name == "int" else _name_kinds(name)
    )


def _format_limit(number: str) -> str:
    """A limit without a zero fraction."""
    return number.removesuffix(".0")
