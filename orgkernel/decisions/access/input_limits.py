"""Find the limits of an input schema: the values of arguments that it refuses, in words.

The types of arguments and which of them are required are not limits: every call must have them. A limit
distinguishes calls that have them, so a question that states no input cannot be answered with a plain allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from orgkernel.diagnostics.wording import listing, quote

_WORDS: Final = {
    "maximum": "is more than {}",
    "exclusiveMaximum": "is {} or more",
    "minimum": "is less than {}",
    "exclusiveMinimum": "is {} or less",
    "multipleOf": "is not a multiple of {}",
    "maxLength": "is longer than {} characters",
    "minLength": "is shorter than {} characters",
    "maxItems": "has more than {} items",
    "minItems": "has fewer than {} items",
    "pattern": "does not match {}",
    "enum": "is not {}",
    "const": "is not {}",
}
"""The keywords of JSON Schema that compare a value with a stated one, and when a call breaks them."""
_OTHERS: Final = frozenset(
    {
        "not",
        "if",
        "uniqueItems",
        "maxProperties",
        "minProperties",
        "contains",
        "propertyNames",
        "dependentSchemas",
    }
)
"""Keywords that limit values in ways that a few words cannot state."""
_BELOW: Final = ("items", "prefixItems", "additionalProperties", "allOf", "anyOf", "oneOf")
"""Keywords that contain schemas of parts of a value."""
_BELOW_BY_NAME: Final = ("properties", "patternProperties", "$defs", "definitions")
"""Keywords that contain such schemas by name."""


def list_input_limits(schema: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The ways in which the arguments of a call can break the limits of a schema; empty if it only describes their form.

    >>> list_input_limits({"properties": {"amount": {"type": "number", "maximum": 100}, "note": {"type": "string"}}})
    ('`amount` is more than 100',)
    """
    return tuple(dict.fromkeys(_iterate_limits(schema))) if isinstance(schema, Mapping) else ()


def _iterate_limits(schema: Mapping[str, Any]) -> Iterator[str]:
    properties = schema.get("properties")
    for name, below in properties.items() if isinstance(properties, Mapping) else ():
        words = tuple(_describe_limits(below)) if isinstance(below, Mapping) else ()
        yield from (f"{quote(name)} {text}" for text in words)
        if not words and _has_limit(below):
            yield f"{quote(name)} does not match its schema"
    if _has_limit({key: value for key, value in schema.items() if key != "properties"}):
        yield "it does not match the schema"


def _describe_limits(schema: Mapping[str, Any]) -> Iterator[str]:
    for keyword, words in _WORDS.items():
        if keyword in schema:
            value = schema[keyword]
            values = value if isinstance(value, list | tuple) else [value]
            number = isinstance(value, int | float) and not isinstance(value, bool)
            yield words.format(value if number else listing(values))


def _has_limit(schema: Any) -> bool:
    """Whether a schema or a schema of a part of it compares values. Schemas are bounded in depth when they are read."""
    if isinstance(schema, list | tuple):
        return any(map(_has_limit, schema))
    if not isinstance(schema, Mapping):
        return False
    if not schema.keys().isdisjoint(_OTHERS | _WORDS.keys()):
        return True
    # A reference out of a schema is never fetched, so it refuses every call.
    if not str(schema.get("$ref", "#")).startswith("#"):
        return True
    parts = [schema.get(keyword) for keyword in _BELOW]
    for keyword in _BELOW_BY_NAME:
        below = schema.get(keyword)
        parts += below.values() if isinstance(below, Mapping) else [below]
    return any(map(_has_limit, parts))
