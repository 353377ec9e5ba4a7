"""Reports values that do not fit their kind: pydantic finds the problems, and this module words them and adds their
places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import did_you_mean, listing, quote, suggest
from orgkernel.documents.model.kinds import KINDS, MARKDOWN_KINDS, RENAMED_FIELDS
from orgkernel.documents.model.record import Document
from orgkernel.loading.marks import Marks, find_mark, format_route, has_value
from orgkernel.loading.parsed import MAX_PROBLEMS, DocumentProblem, describe
from orgkernel.loading.sources import Unknown

_WRONG_TYPE = {
    "string_type": "a string",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "`true` or `false`",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "none_required": "null",
}
# If a field has one of two types, pydantic's error contains the tag of the type that it tried (see the unions in
# `orgkernel/documents/model`).
_EITHER: dict[str | int, str] = {
    "(lines)": "a string or a list",
    "(skill-use)": "the id of a skill or a mapping",
    "(step)": "a string or a mapping",
    "(tool-need)": "the id of a tool or a mapping",
    "(action)": "a level or a mapping",
    "(roles)": "`true`, `false` or a mapping",
    "(matrix-row)": "the name of a matrix row or a mapping",
    "(skills)": "a list or a mapping",
    "(allow-deny)": "`*`, a list or a mapping",
    "(names)": "`*` or a list",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}
# For each pattern, the name of such a string and how to write it. A pattern without a row here is an id.
_ID = ("an id", "use ASCII letters, digits and `_`, no digit first, at most 100 characters")
_WORDS = {
    r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$": (
        "the id of a tool",
        "use ASCII letters, digits, `_` and `.`, no digit first, at most 200 characters",
    ),
    r"^(\*|[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}\*?)$": (
        "a tool id or a pattern",
        "write a tool id, the beginning of a tool id followed by `*`, or `*` alone",
    ),
    r"^(\*|[A-Za-z_][A-Za-z0-9_-]{0,99})$": ("an id or `*`", "write an id, or `*` for any"),
    r"^(weekends|([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9])$": (
        "a time window",
        "write `HH:MM-HH:MM`, such as `23:00-08:00`, or `weekends`",
    ),
    r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T| )([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]|:[0-5][0-9][.][0-9]{1,9})?(Z|(-|[+])([01][0-9]|2[0-3]):?[0-5][0-9])?$": (
        "a time",
        "write ISO 8601, such as `2026-05-17T10:00:00Z`",
    ),
    r"^ORG[0-9]{3}$": (
        "the code of a rule",
        "write `ORG` and three digits; `orgkernel rule` lists the codes",
    ),
}
# The last step of pydantic's place when a key is wrong, and not its value.
_KEY = "[key]"
_LENGTHS = frozenset({"too_short", "too_long", "string_too_short", "string_too_long"})


def find_misfits(
    kind: str, value: dict[str, Any], marks: Marks
) -> tuple[dict[str, Any] | None, list[DocumentProblem], tuple[Unknown, ...]]:
    """The fields that a document sets, validated (None if they do not fit), its findings, and all unknown fields.

    Unknown fields are warnings, so files that were written for another version keep loading. Fields that start with `x_` belong to the user.
    """
    model = MARKDOWN_KINDS[kind] if kind in MARKDOWN_KINDS else KINDS[kind]
    try:
        # By alias only: `version` and `kind` are our names for `_version` and `_schema`, not fields of a document.
        document = model.model_validate(value, by_alias=True, by_name=False)
        return _dump_written_fields(document), [], ()
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=True)
    unknown = tuple(
        (_clean_route(details["loc"], marks), details["input"]) for details in errors if _is_unknown(details)
    )
    errors = [
        details
        for details in errors
        if not (_is_unknown(details) and str(details["loc"][-1]).startswith("x_"))
    ]
    problems = [_build_problem(kind, model, details, marks) for details in errors[:MAX_PROBLEMS]]
    fatal = not all(_is_unknown(details) for details in errors)
    if more := len(errors) - len(problems):
        what = "invalid fields and values" if fatal else "unknown fields"
        code = row.INVALID_VALUE if fatal else row.UNKNOWN_FIELD
        problems.append(DocumentProblem(code, find_mark(marks, ()), f"the document has {more:,} more {what}"))
    if fatal:
        return None, problems, unknown
    document = model.model_validate(value, extra="ignore", by_alias=True, by_name=False)
    return _dump_written_fields(document), problems, unknown


def _dump_written_fields(document: Document) -> dict[str, Any]:
    return document.model_dump(by_alias=True, exclude_unset=True)


def _is_unknown(details: Mapping[str, Any]) -> bool:
    return bool(details["type"] == "extra_forbidden")


def _build_problem(
    kind: str, model: type[Document], details: Mapping[str, Any], marks: Marks
) -> DocumentProblem:
    error, loc, context = details["type"], details["loc"], details.get("ctx") or {}
    bad_key = loc[-1:] == (_KEY,)
    at_key = _is_unknown(details) or bad_key
    route = _clean_route(loc[:-1] if bad_key else loc, marks)
    mark = find_mark(marks, route, key=at_key)
    where = quote(format_route(route)) if route else "the document"
    value = details.get("input")
    if error == "missing":
        return DocumentProblem(row.MISSING_FIELD, mark, f"the field {where} is missing")
    if error == "extra_forbidden":
        return DocumentProblem(
            row.UNKNOWN_FIELD, mark, f"the field {where} is unknown", _suggest_field(kind, model, route)
        )
    if error in _WRONG_TYPE:
        expected = _EITHER.get(loc[-1], _WRONG_TYPE[error])
        return DocumentProblem(row.WRONG_TYPE, mark, f"{where} is {describe(value)} but must be {expected}")
    if error == "literal_error":
        allowed = _list_allowed(context)
        help = did_you_mean(str(value), allowed) if isinstance(value, str) else ""
        message = f"{where} is {describe(value)}, which is not one of {listing(allowed)}"
        return DocumentProblem(row.UNKNOWN_VALUE, mark, message, help)
    if error == "string_pattern_mismatch":
        what, help = _WORDS.get(str(context.get("pattern")), _ID)
        subject = f"the key {quote(value)}" if at_key else f"{where} is {quote(value)}, which"
        return DocumentProblem(row.MALFORMED_ID, mark, f"{subject} is not {what}", help)
    if error in _BOUNDS:
        name, words = _BOUNDS[error]
        return DocumentProblem(
            row.OUT_OF_RANGE, mark, f"{where} is {quote(value)} but must be {words} {context[name]}"
        )
    if error in _LENGTHS:
        bound = context.get("min_length", context.get("max_length"))
        words = "at least" if "min_length" in context else "at most"
        unit = "character" if error.startswith("string") else "item"
        number = f"{bound} {unit}" if bound == 1 else f"{bound} {unit}s"
        return DocumentProblem(
            row.WRONG_LENGTH, mark, f"{where} has the wrong length; it must have {words} {number}"
        )
    return DocumentProblem(
        row.INVALID_VALUE, mark, f"{where} does not fit: {details['msg'][:1].lower()}{details['msg'][1:]}"
    )


def _clean_route(loc: tuple[str | int, ...], marks: Marks) -> tuple[str | int, ...]:
    """A route from a pydantic error, without the tags of unions. A user's key can look like such a tag."""
    route: tuple[str | int, ...] = ()
    for step in loc:
        is_tag = isinstance(step, str) and step.startswith("(") and step.endswith(")")
        if not is_tag or has_value(marks, (*route, step)):
            route = (*route, step)
    return route


def _list_allowed(context: Mapping[str, Any]) -> list[str]:
    expected = str(context.get("expected", ""))
    return [word.strip("' ") for word in expected.replace(" or ", ", ").split(",") if word.strip("' ")]


def _suggest_field(kind: str, model: type[Document], route: tuple[str | int, ...]) -> str:
    """The help for an unknown field: its new name, another spelling, or another place for the same name."""
    name = str(route[-1])
    new_name = _find_new_name(kind, route)
    if new_name is not None:
        return f"write {quote(new_name)}, its new name, or run `orgkernel upgrade`"
    parents = _map_fields(model)
    if name in parents:
        parent = parents[name]
        return f"move it to {quote(parent)}" if parent else "move it to the top of the document"
    match = suggest(name, parents)
    if match is None:
        return "correct its name, or start it with `x_` if it is your own field"
    return f"did you mean {quote(match)}?"


def _find_new_name(kind: str, route: tuple[str | int, ...]) -> str | None:
    """The new name of a renamed field."""
    for pattern, new_name in RENAMED_FIELDS.get(kind, ()):
        if len(pattern) == len(route) and all(
            step in (None, key) for step, key in zip(pattern, route, strict=True)
        ):
            return new_name
    return None


@cache
def _map_fields(model: type[BaseModel], parent: str = "") -> dict[str, str]:
    """Every field name in a model and the models nested in it, each with the dotted route of the mapping that it belongs in.

    Outer fields take precedence.
    """
    names: dict[str, str] = {}
    deeper: dict[str, str] = {}
    for name, field in model.model_fields.items():
        written = field.alias or name
        names.setdefault(written, parent)
        for part in _find_records(field.annotation):
            for below, parent_below in _map_fields(part, f"{parent}.{written}".removeprefix(".")).items():
                deeper.setdefault(below, parent_below)
    return {**deeper, **names}


def _find_records(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        return
    for part in get_args(annotation):
        yield from _find_records(part)
