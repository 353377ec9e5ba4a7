"""Checks whether the input schemas of a tool catalog are valid JSON Schemas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import ToolCatalog
from orgkernel.loading.marks import Marks, find_mark, format_route
from orgkernel.loading.parsed import DocumentProblem, describe

_MAX_MIXED_LENGTH = 500
_JSON_TYPES = {
    "array": "a list", "boolean": "`true` or `false`", "integer": "a whole number", "null": "null",
    "number": "a number", "object": "a mapping", "string": "a string",
}  # fmt: skip


def check_input_schemas(catalog: ToolCatalog, marks: Marks) -> Iterator[DocumentProblem]:
    """Check the input schemas of a catalog."""
    for tool_id, tool in catalog.tools.items():
        if tool.input_schema is None:
            continue
        route, problem = _find_schema_problem(tool.input_schema)
        if problem:
            mark = find_mark(marks, ("tools", tool_id, "input_schema", *route))
            message = f"the input schema of tool {quote(tool_id)} is not valid JSON Schema: {problem}"
            yield DocumentProblem(row.INVALID_INPUT_SCHEMA, mark, message)


def _find_schema_problem(schema: Mapping[str, Any]) -> tuple[tuple[str | int, ...], str]:
    """The place at which a JSON Schema is not valid, and the reason. Empty if it is valid."""
    from jsonschema import Draft202012Validator  # most catalogs contain no schema
    from jsonschema.exceptions import SchemaError

    if route := _find_mixed_list(schema, ()):
        return route, "a long list mixes text with other values"
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        route = tuple(error.absolute_path)
        where, shown = quote(format_route(route)) if route else "it", describe(error.instance)
        wanted: Any = error.validator_value
        if error.validator == "type":
            types = wanted if isinstance(wanted, list) else [wanted]
            return (
                route,
                f"{where} is {shown} but must be {' or '.join(_JSON_TYPES[name] for name in types)}",
            )
        if error.validator == "format" and wanted == "regex":
            return route, f"{where} is {shown}, which is not a regular expression"
        if error.validator == "enum":
            return route, f"{where} is {shown}, which is not one of {listing(wanted)}"
        return route, f"{where} is {shown}, which is not allowed there"
    except (RecursionError, OverflowError):  # from `re`, about a pattern
        return (), "one of its regular expressions is too large"
    return (), ""


def _find_mixed_list(value: Any, route: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """A list that cannot be sorted. To check whether its items differ, jsonschema would compare every pair of them."""
    if isinstance(value, dict):
        below: Iterable[tuple[str | int, Any]] = value.items()
    elif isinstance(value, list):
        if len(value) > _MAX_MIXED_LENGTH and len({type(item) for item in value}) > 1:
            return route
        below = enumerate(value)
    else:
        return ()
    return next(
        (mixed_route for step, item in below if (mixed_route := _find_mixed_list(item, (*route, step)))), ()
    )
