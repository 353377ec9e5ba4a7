"""A document's record and marks as bytes (MessagePack): a tenth of what they take as objects."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from orgkernel.loading.marks import Marks
from orgkernel.records.kinds import RECORDS
from orgkernel.records.record import Document

# Unpacked parts of sealed documents that are kept; a manifest asks one document some fifty times.
_KEPT = 256
NOTHING_UNKNOWN = b"\x90"

Unknown = tuple[tuple[str | int, ...], Any]
"""Route and value of a field that is in no record."""


class Packed(NamedTuple):
    """A document's parts as bytes (MessagePack)."""

    record: bytes
    marks: bytes
    unknown: bytes = NOTHING_UNKNOWN


class Slice(NamedTuple):
    """A document's parts in the body of a cache: the record from `start` to `middle`, the marks from there to `end`."""

    body: memoryview
    start: int
    middle: int
    end: int


def pack(kind: str, value: dict[str, Any], marks: Marks, unknown: tuple[Unknown, ...] = ()) -> Packed:
    """The parts of a document whose value has been validated."""
    return pack_with_record(kind, value, marks, unknown)[0]


def pack_with_record(
    kind: str, value: dict[str, Any], marks: Marks, unknown: tuple[Unknown, ...] = ()
) -> tuple[Packed, Document]:
    """The parts, and the record as it is made: what unpacking gives, but that a field of any value holds tuples."""
    record = msgspec.convert(value, RECORDS[kind])
    packed = Packed(
        msgspec.msgpack.encode(record),
        msgspec.msgpack.encode(marks),
        msgspec.msgpack.encode(unknown) if unknown else NOTHING_UNKNOWN,
    )
    return packed, record


@lru_cache(_KEPT)
def unpack_record(kind: str, packed: bytes) -> Document:
    """The record of a document, validated again while it is made."""
    return msgspec.msgpack.decode(packed, type=RECORDS[kind])


@lru_cache(_KEPT)
def unpack_marks(packed: bytes) -> Marks:
    """Where each value of a document stands."""
    return msgspec.msgpack.decode(packed)


def unpack_unknown(packed: bytes) -> tuple[Unknown, ...]:
    """Fields that are in no record."""
    return msgspec.msgpack.decode(packed, type=tuple[tuple[tuple[str | int, ...], Any], ...])
