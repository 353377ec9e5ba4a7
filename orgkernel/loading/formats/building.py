"""Builds documents from files in other formats."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from orgkernel.documents.records import Document, StandingOrder
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.references import pack_references
from orgkernel.loading.marks import Marks
from orgkernel.loading.sources import FileResult, MergedDocument, PackedParts, SourceDocument


def read_as(
    source: SourceText,
    root: Root,
    kind: str,
    record: Document,
    marks: Marks,
    raw: Mapping[str, Any] | None = None,
) -> SourceDocument:
    """A document from a file, with the marks of its values in that file.

    `raw` contains the original values, keyed by field, for `complete` and for the rules. `get_list_words` returns
    them. References in a text are kept in the same way.
    """
    if isinstance(record, StandingOrder):
        raw = {**(raw or {}), **pack_references(record.body)}
    packed = _pack(record, marks, raw or {})
    return SourceDocument(
        source.name, source.path, kind, packed, source.digest, root.shared, root.context, root.format
    ).keep_unpacked(record, marks)


def replace_document(
    document: SourceDocument, record: Document, marks: Marks, raw: Mapping[str, Any] | None = None
) -> SourceDocument:
    """A document that replaces another one of the same file, with values that other files add. The other one is sealed.

    It keeps the original values of the file, or those in `raw`.
    """
    packed = _pack(record, marks, raw or {})
    if raw is None:
        packed = packed._replace(unknown=document.packed.unknown)
    return _rebuild(document, packed, record, marks)


def join_reads(reads: Iterable[FileResult]) -> FileResult:
    """The result for a file, from the results for its agents."""
    parts = tuple(reads)
    return FileResult(
        tuple(each for part in parts for each in part.documents),
        tuple(each for part in parts for each in part.broken),
        tuple(each for part in parts for each in part.diagnostics),
    )


def _rebuild(document: SourceDocument, packed: PackedParts, record: Document, marks: Marks) -> SourceDocument:
    if isinstance(document, MergedDocument):
        return document.replace_values(packed).keep_unpacked(record, marks)
    made = SourceDocument(
        document.name,
        document.path,
        document.kind,
        packed,
        document.digest,
        document.shared,
        document.context,
        document.format,
    ).keep_unpacked(record, marks)
    document.drop_unpacked()
    return made


def add_words(document: SourceDocument, raw: Mapping[str, Any]) -> SourceDocument:
    """A document that replaces another one of the same file, with further words next to its record. The other one is
    sealed.
    """
    unknown = msgspec.msgpack.encode([*document.unknown, *(((key,), value) for key, value in raw.items())])
    return _rebuild(document, document.packed._replace(unknown=unknown), document.record, document.marks)


def add_text(read: FileResult, raw: Mapping[str, Any] | None = None) -> FileResult:
    """The result for a file with a skill, with the references of its text and further words next to the record."""
    made = []
    for each in read.documents:
        words = {**(raw or {}), **pack_references(getattr(each.record, "body", ""))}
        made.append(add_words(each, words) if words else each)
    return replace(read, documents=tuple(made))


def complete_with(
    like: SourceDocument, kind: str, record: Document, marks: Marks, *, name: str = "", path: str = ""
) -> SourceDocument:
    """A document that is not in a file of its own. It is shown at the name of another file, or at that of the
    document `like`.
    """
    packed = _pack(record, marks, {})
    digest = hashlib.sha256(packed.record).hexdigest()
    return SourceDocument(
        name or like.name, path or like.path, kind, packed, digest, like.shared, like.context, like.format
    ).keep_unpacked(record, marks)


def add_tools(marks: Marks, at: Sequence[int]) -> Marks:
    """Add the marks of the tools to the marks of a role."""
    key = marks[1]["tools"][0] if "tools" in marks[1] else marks[0]
    listed = (key, (key, at))
    return (marks[0], {**marks[1], "capabilities": (key, (key, {"tools_primary": listed}))})


def _pack(record: Document, marks: Marks, raw: Mapping[str, Any]) -> PackedParts:
    unknown = msgspec.msgpack.encode([((key,), value) for key, value in raw.items()])
    return PackedParts(msgspec.msgpack.encode(record), msgspec.msgpack.encode(marks), unknown)
