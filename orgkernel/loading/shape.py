"""The shape of a document: does its value fit its kind?"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from orgkernel.documents.records import RECORDS
from orgkernel.loading.marks import Marks
from orgkernel.loading.parsed import Refusal
from orgkernel.loading.sources import Unknown
from orgkernel.prepared_types import prepared


def validate_shape(
    kind: str, value: dict[str, Any], marks: Marks
) -> tuple[msgspec.Struct | None, list[Refusal], tuple[Unknown, ...]]:
    """The value in its shape, or None if it does not fit, its findings, and its unread fields.

    A value that fits needs no pydantic, which takes longer to import than a small tree to check. For any other value the
    model decides. It also accepts other words for some values and fields, and unknown fields.
    """
    shape = get_shape(kind)
    try:
        return msgspec.convert(value, prepared(shape)), [], ()
    except msgspec.ValidationError:
        from orgkernel.loading.misfits import find_misfits

        accepted, refusals, unknown = find_misfits(kind, value, marks)
        return None if accepted is None else msgspec.convert(accepted, prepared(shape)), refusals, unknown


@cache
def get_shape(kind: str) -> type[msgspec.Struct]:
    """The shape of a kind. Shapes are imported on first use: what is read from the cache needs none."""
    from orgkernel.documents import shapes

    shape: type[msgspec.Struct] = getattr(shapes, RECORDS[kind].__name__)
    return shape
