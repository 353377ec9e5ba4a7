"""Checks the shape of a document: whether its value fits its kind."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from orgkernel.documents.records import RECORDS
from orgkernel.loading.marks import Marks
from orgkernel.loading.parsed import DocumentProblem
from orgkernel.loading.sources import Unknown
from orgkernel.prepared_types import prepared


def validate_shape(
    kind: str, value: dict[str, Any], marks: Marks
) -> tuple[msgspec.Struct | None, list[DocumentProblem], tuple[Unknown, ...]]:
    """The value in its shape (None if it does not fit), its findings, and its unread fields.

    A value that fits does not need pydantic, whose import takes longer than checking a small organization. The model
    checks any other value. It also accepts synonyms for some values and fields, and unknown fields.
    """
    shape = get_shape(kind)
    try:
        return msgspec.convert(value, prepared(shape)), [], ()
    except msgspec.ValidationError:
        from orgkernel.loading.misfits import find_misfits

        accepted, problems, unknown = find_misfits(kind, value, marks)
        return None if accepted is None else msgspec.convert(accepted, prepared(shape)), problems, unknown


@cache
def get_shape(kind: str) -> type[msgspec.Struct]:
    """The shape of a kind. Shapes are imported on first use, because documents from the cache do not need them."""
    from orgkernel.documents import shapes

    shape: type[msgspec.Struct] = getattr(shapes, RECORDS[kind].__name__)
    return shape
