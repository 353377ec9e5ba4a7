"""Values to records."""

from __future__ import annotations

from typing import Any

import msgspec

from orgkernel.loading.input_schemas import check_input_schemas
from orgkernel.loading.marks import Marks
from orgkernel.loading.parsed import Refusal
from orgkernel.loading.sources import Unknown
from orgkernel.records.kinds import RECORDS
from orgkernel.records.record import Document
from orgkernel.records.tool_catalog import ToolCatalog


def validate_shape(
    kind: str, value: dict[str, Any], marks: Marks
) -> tuple[Document | None, list[Refusal], tuple[Unknown, ...]]:
    """The record of a document, None where it does not fit, what is to be said about its shape, and what nobody reads.

    A value that fits its record is read without pydantic, which takes longer to import than a small tree to check. Of any
    other, the model decides: what it accepts in other words is a record all the same.
    """
    record_type = RECORDS[kind]
    refusals: list[Refusal] = []
    unknown: tuple[Unknown, ...] = ()
    try:
        record = msgspec.convert(value, record_type)
    except msgspec.ValidationError:
        from orgkernel.loading.misfits import find_misfits

        accepted, refusals, unknown = find_misfits(kind, value, marks)
        if accepted is None:
            return None, refusals, unknown
        record = msgspec.convert(accepted, record_type)
    if isinstance(record, ToolCatalog):
        refusals += check_input_schemas(record, marks)
    return record, refusals, unknown
