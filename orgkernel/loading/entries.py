"""What a file yields as bytes: for the cache, and for a second process that reads half of a large tree.

    packed = pack_file(read)
    read = unpack_file(packed, path, name, shared=..., context=..., hold=...)

MessagePack, and never pickle: whatever the bytes hold, unpacking makes documents, findings and nothing else. An entry
depends on a file's content, shown name, file name and on what was expected of it, not on where the file lies.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import msgspec

from orgkernel.diagnostics import Diagnostic
from orgkernel.loading.packed import Packed, unpack_marks, unpack_record
from orgkernel.loading.sources import BrokenDocument, ReadFile, SourceDocument
from orgkernel.records.kinds import RECORDS

T = TypeVar("T")

# Sets in one order, so that one content has one encoding.
ENCODER = msgspec.msgpack.Encoder(order="deterministic")


class DamagedEntry(ValueError):
    """Bytes that are no entry."""


class DocumentEntry(msgspec.Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    """A document without its places in a tree."""

    kind: str
    digest: str
    record: bytes
    marks: bytes
    unknown: bytes
    quiet: bool = False


class FileEntry(msgspec.Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    """What one file yields."""

    documents: tuple[DocumentEntry, ...] = ()
    broken: tuple[BrokenDocument, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    skipped: bool = False


_FILE = msgspec.msgpack.Decoder(FileEntry)


def pack_file(read: ReadFile) -> bytes:
    """What a file yields, as bytes. The same for equal content, whoever packs it."""
    return ENCODER.encode(entry_of(read))


def entry_of(read: ReadFile) -> FileEntry:
    """What a file yields, without its places in a tree."""
    return FileEntry(
        tuple(DocumentEntry(each.kind, each.digest, *each.packed, each.quiet) for each in read.documents),
        tuple(replace(each, path="", shared=False) for each in read.broken),
        read.diagnostics,
        read.skipped,
    )


def unpack_file(
    packed: bytes,
    path: str,
    name: str,
    *,
    shared: bool = False,
    context: bool = False,
    hold: bool = False,
) -> ReadFile:
    """What `read_documents` would have returned. Raises `DamagedEntry` for bytes that are no entry.

    With `hold`, documents are ready to be asked many times, as they are after reading.
    """
    return read_of(decode(_FILE, packed), path, name, shared=shared, context=context, hold=hold)


def read_of(
    entry: FileEntry,
    path: str,
    name: str,
    *,
    shared: bool = False,
    context: bool = False,
    hold: bool = False,
) -> ReadFile:
    """What an entry stands for at a place in a tree. Raises `DamagedEntry`."""
    documents = []
    for each in entry.documents:
        if each.kind not in RECORDS:
            raise DamagedEntry("an entry has a kind that does not exist")
        parts = Packed(each.record, each.marks, each.unknown)
        document = SourceDocument(name, path, each.kind, parts, each.digest, shared, context)
        document.quiet = each.quiet
        if hold:
            document.hold(unpack_record(each.kind, each.record), unpack_marks(each.marks))
        documents.append(document)
    broken = tuple(replace(each, name=name, path=path, shared=shared) for each in entry.broken)
    return ReadFile(tuple(documents), broken, entry.diagnostics, entry.skipped)


def decode(decoder: msgspec.msgpack.Decoder[T], packed: bytes | memoryview) -> T:
    """What some bytes hold. Raises `DamagedEntry`, also for what is nested deeper than Python can follow."""
    try:
        return decoder.decode(packed)
    except (msgspec.MsgspecError, RecursionError, ValueError, OverflowError, MemoryError) as error:
        raise DamagedEntry(f"it holds something else: {type(error).__name__}") from None
