"""Which limits an input schema has, in words."""

from __future__ import annotations

from typing import Any

import pytest

from orgkernel.decisions.access.input_limits import list_input_limits


@pytest.mark.parametrize(
    ("schema", "limits"),
    [
        ({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}, ()),
        ({"properties": {"a": {"minimum": 1, "maximum": 9}}}, ("`a` is more than 9", "`a` is less than 1")),
        ({"properties": {"env": {"enum": ["dev", "test"]}}}, ("`env` is not `dev`, `test`",)),
        ({"properties": {"enum": {"type": "string"}, "maximum": {"type": "number"}}}, ()),
        ({"properties": {"a": {"items": {"properties": {"b": {"pattern": "x"}}}}}}, ("`a` does not match its schema",)),
        ({"properties": {"a": {"anyOf": [{"type": "null"}, {"maxLength": 3}]}}}, ("`a` does not match its schema",)),
        ({"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"const": 1}}}, ("it does not match the schema",)),
        ({"properties": {"a": {"$ref": "https://example.com/s"}}}, ("`a` does not match its schema",)),
        ({"additionalProperties": False, "properties": {"a": {"type": "integer"}}}, ()),
        ({"not": {"required": ["force"]}}, ("it does not match the schema",)),
        (None, ()),
    ],
)  # fmt: skip
def test_limits_compare_values(schema: dict[str, Any] | None, limits: tuple[str, ...]) -> None:
    """Keywords that compare values are limits, at any depth; types, required arguments and names of arguments are not."""
    assert list_input_limits(schema) == limits
