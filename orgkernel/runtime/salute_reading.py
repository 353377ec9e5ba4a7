"""Read a SALUTE report from another writer, perhaps in an older version.

Any `1.x` is read. A missing field gets its default, an unknown field is dropped, names starting with `x_` stay. A value
of the wrong kind is an error with its place, never a guess. The result has every field, secrets masked and lengths
bounded, like a report computed here.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from .salute_format import LARGEST, SCHEMA, SECTIONS, VERSION, Field, Report, fit_text
from .utc import as_seconds

_MAJOR: Final = VERSION.partition(".")[0]
_LIMITS: Final = {"a number from 0 to 1": 1}


class ReportError(ValueError):
    """The data is not a readable SALUTE report.

    `code` is `NOT_A_REPORT`, `UNKNOWN_VERSION`, `MISSING_FIELD` or `BAD_FIELD`. `where` is the field, such as
    `status/state`. `text` is a sentence for people.
    """

    def __init__(self, code: str, where: str, text: str) -> None:
        super().__init__(f"{where}: {text}" if where else text)
        self.code = code
        self.where = where
        self.text = text


def read_report(data: object) -> Report:
    """The report in decoded JSON, in the form of this version. Raises `ReportError`."""
    if not isinstance(data, Mapping):
        raise ReportError("NOT_A_REPORT", "", "a report must be a mapping")
    if data.get("_schema") != SCHEMA:
        raise ReportError("NOT_A_REPORT", "_schema", f"a report must have `_schema: {SCHEMA}`")
    version = data.get("_version", VERSION)
    major, dot, minor = version.partition(".") if isinstance(version, str) else ("", "", "")
    if major != _MAJOR or not dot or not (minor.isascii() and minor.isdigit()):
        shown = f"`{fit_text(version, 40)}`" if isinstance(version, str) else "(not text)"
        raise ReportError(
            "UNKNOWN_VERSION", "_version", f"version {shown} is not supported; this reader accepts {_MAJOR}.x"
        )
    report: Report = {"_schema": SCHEMA, "_version": VERSION}
    for section, fields in SECTIONS.items():
        given = data.get(section)
        if given is None:
            given = {}
        if not isinstance(given, Mapping):
            raise ReportError("BAD_FIELD", section, "must be a mapping")
        report[section] = {
            name: _read(given, name, field, f"{section}/{name}") for name, field in fields.items()
        } | _own(given)
    return report | _own(data)


def _own(given: Mapping[Any, Any]) -> dict[str, Any]:
    """The writer's own fields: only plain values, with the same size limit as all others."""
    return {
        name: fit_text(value) if isinstance(value, str) else value
        for name, value in given.items()
        if isinstance(name, str)
        and name.startswith("x_")
        and (value is None or isinstance(value, str | bool) or _is_number(value))
    }


def _read(given: Mapping[Any, Any], name: str, field: Field, where: str) -> Any:
    value = given.get(name)
    if value is None and (name not in given or field.default is not None):
        if field.required:
            raise ReportError("MISSING_FIELD", where, "this field is required")
        if name not in given or not field.kind.endswith("null"):
            return list(field.default) if isinstance(field.default, list) else field.default
    fitting = field.fit(value)
    # A required value with nothing left after fitting, such as an id of a thousand characters, is wrong too.
    if not _fits(value, field) or (field.required and not fitting):
        among = f", one of {', '.join(field.words)}" if field.words else ""
        raise ReportError("BAD_FIELD", where, f"must be {field.kind}{among}")
    return fitting


def _fits(value: object, field: Field) -> bool:
    kind = field.kind
    if kind.endswith("null") and value is None:
        return True
    if field.words:
        return value in field.words
    if kind.startswith("a text"):
        return isinstance(value, str)
    if kind.startswith("a timestamp"):
        return isinstance(value, str) and as_seconds(value) is not None
    if kind == "a list of texts":
        return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
    if kind.startswith("true"):
        return isinstance(value, bool)
    if not _is_number(value):
        return False
    number = float(value)  # type: ignore[arg-type]
    if kind.startswith("a count") and not number.is_integer():
        return False
    return 0 <= number <= _LIMITS.get(kind, LARGEST)


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= LARGEST if isinstance(value, int) else math.isfinite(value)
