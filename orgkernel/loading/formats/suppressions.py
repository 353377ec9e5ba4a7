"""Reads the findings that the front matter of a file accepts. Hosts ignore the field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.documents.records import Suppression
from orgkernel.loading.marks import Marks, start_of
from orgkernel.loading.parsed import DocumentProblem
from orgkernel.runtime.lazy_patterns import lazy_pattern

SUPPRESSIONS = "orgkernel-suppressions"
_CODE = lazy_pattern(r"ORG[0-9]{3}\Z")


def read_suppressions(
    value: dict[str, Any], marks: dict[str, tuple[int, Marks]], problems: list[DocumentProblem]
) -> Iterator[Suppression]:
    """The findings that an agent accepts, each a mapping of `rule`, `reason` and optionally `subject`."""
    if SUPPRESSIONS not in value:
        return
    listed = value[SUPPRESSIONS]
    mark = start_of(marks[SUPPRESSIONS][1])
    for each in listed if isinstance(listed, tuple) else (listed,):
        fields = each if isinstance(each, dict) else {}
        texts = all(isinstance(field, str) for field in fields.values())
        known = {"rule", "reason"} <= fields.keys() <= {"rule", "reason", "subject"}
        if (
            isinstance(listed, tuple)
            and texts
            and known
            and _CODE.match(fields["rule"])
            and fields["reason"].strip()
        ):
            yield Suppression(**{key: field.strip() for key, field in fields.items()})
        else:
            text = f"`{SUPPRESSIONS}` is not a list of mappings with `rule` and `reason`"
            problems.append(
                DocumentProblem(row.INVALID_VALUE, mark, text, "write `- {rule: ORG750, reason: …}` for each")
            )
            return
