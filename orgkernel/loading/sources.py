"""The results of reading: documents with the positions of their values, and documents that could not be read.

A document stores its record and its marks packed, in a tenth of their memory, and unpacks them on request. They are
needed constantly while a tree is built and checked, so they are kept unpacked until `drop_unpacked`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from orgkernel.diagnostics import Diagnostic, Place
from orgkernel.documents.records import RECORDS, Document
from orgkernel.loading.files import MARKDOWN, LocatedFile
from orgkernel.loading.marks import (
    LINE_BREAK,
    Marks,
    RouteStep,
    find_item_marks,
    find_mark,
    has_value,
    locate_keys,
    unpack_mark,
    unpack_within,
)
from orgkernel.prepared_types import prepared

# Kinds whose `body` is the text of a Markdown file from some line on.
MARKDOWN_KINDS = frozenset({"cognitive_skill", "standing_order"})
# The number of cached unpacked parts of sealed documents. A manifest reads one document about fifty times.
_KEPT = 256
NOTHING_UNKNOWN = b"\x90"

Unknown = tuple[tuple[str | int, ...], Any]
"""The route and value of an unknown field."""
_UNKNOWN = msgspec.msgpack.Decoder(prepared(tuple[Unknown, ...]))


NAMES_BEFORE = "names_before_union"
"""Key of the id and the name of a role or a skill before its source became part of a union, kept next to the record.

The name of a skill is the one that people see, with its source.
"""
NAME_IN_FILE = "name_in_file"
"""Key of the name in an agent's file, kept next to the record if another agent has that name."""
SKILL_KEY_PREFIXES = ("orgkernel-", "probos-")
"""The prefixes of metadata keys of a skill that restrict who has it; the second one is an alias."""


def get_skill_name(path: str) -> str:
    """The name of a skill, taken from the folder of its SKILL.md."""
    return os.path.basename(os.path.dirname(path))


class PackedParts(NamedTuple):
    """A document's parts as bytes (MessagePack)."""

    record: bytes
    marks: bytes
    unknown: bytes = NOTHING_UNKNOWN


def pack(shape: msgspec.Struct, marks: Marks, unknown: tuple[Unknown, ...] = ()) -> PackedParts:
    """The packed parts of a document, from its validated value."""
    return PackedParts(
        msgspec.msgpack.encode(shape),
        msgspec.msgpack.encode(marks),
        msgspec.msgpack.encode(unknown) if unknown else NOTHING_UNKNOWN,
    )


@lru_cache(_KEPT)
def unpack_record(kind: str, packed: bytes) -> Document:
    """The record of a document. Types are checked again; but constraints are not."""
    return msgspec.msgpack.decode(packed, type=prepared(RECORDS[kind]))


@lru_cache(_KEPT)
def unpack_marks(packed: bytes) -> Marks:
    """The marks of a document."""
    return msgspec.msgpack.decode(packed)


def unpack_unknown(packed: bytes) -> tuple[Unknown, ...]:
    """Unknown fields of a document."""
    return _UNKNOWN.decode(packed)


class SourceDocument:
    """An immutable document: its record, and the position of each value.

    Raises `msgspec.MsgspecError` if the parts are not a document of the kind.
    """

    __slots__ = (
        "_marks",
        "_record",
        "context",
        "digest",
        "format",
        "home",
        "kind",
        "name",
        "packed",
        "path",
        "shared",
    )

    def __init__(
        self,
        name: str,
        path: str,
        kind: str,
        packed: PackedParts,
        digest: str,
        shared: bool = False,
        context: bool = False,
        format: str = "",
        home: str = "",
    ) -> None:
        self.name = name
        """The name of the file, as shown."""
        self.path = path
        self.kind = kind
        self.packed = packed
        """The document's parts as bytes."""
        self.digest = digest
        self.shared = shared
        self.context = context
        self.format = format
        """The format of another host that it was read from; empty for an orgkernel document."""
        self.home = home
        """The folder of the organization that declared it as a source; empty if it belongs to its own folder."""
        self._record: Document | None = None
        self._marks: Marks = None

    def keep_unpacked(self, record: Document, marks: Marks) -> SourceDocument:
        """Keep the given record and marks unpacked until `drop_unpacked`."""
        self._record, self._marks = record, marks
        return self

    def bind_to_home(self, home: str) -> SourceDocument:
        """A copy of the document for the organizations of a folder that declared it as a source."""
        return SourceDocument(
            self.name,
            self.path,
            self.kind,
            self.packed,
            self.digest,
            self.shared,
            self.context,
            self.format,
            home,
        ).keep_unpacked(self.record, self.marks)

    def unpack_again(self) -> None:
        """Unpack the parts and keep them, as after reading."""
        self.keep_unpacked(unpack_record(self.kind, self.packed.record), unpack_marks(self.packed.marks))

    def drop_unpacked(self) -> None:
        """Drop the unpacked parts and keep the packed ones."""
        self._record = self._marks = None

    @property
    def record(self) -> Document:
        """The document's values."""
        return self._record or unpack_record(self.kind, self.packed.record)

    @property
    def marks(self) -> Marks:
        """The marks of the values."""
        marks = self._marks
        return unpack_marks(self.packed.marks) if marks is None else marks

    @property
    def unknown(self) -> tuple[Unknown, ...]:
        """Unknown fields, including the user's own (`x_…`)."""
        return () if self.packed.unknown == NOTHING_UNKNOWN else unpack_unknown(self.packed.unknown)

    @property
    def parts(self) -> tuple[SourceDocument, ...]:
        """The single-file documents that it consists of."""
        return (self,)

    def part(self, route: Sequence[RouteStep]) -> SourceDocument:
        """The single-file document that writes the value at a route, or would write it."""
        return self

    def place(self, *route: RouteStep, key: bool = False) -> Place:
        """The place of the value (or key) at a route. If the document omits it, the place of the nearest container."""
        line, column = unpack_mark(find_mark(self.marks, route, key=key))
        return Place(self.name, line, column)

    def locate(self, route: Sequence[RouteStep], names: Sequence[str]) -> list[tuple[str, int, bool]]:
        """File and line of keys of the mapping at a route, and whether the document sets them.

        The result equals `place(*route, name, key=True)` and `has(*route, name)` for each name, with one lookup of the route.
        """
        file = self.name
        return [(file, line, written) for line, written in locate_keys(self.marks, route, names)]

    def locate_items(self, *route: RouteStep) -> list[Place]:
        """The places of the items of the list at a route."""
        return [Place(self.name, *unpack_mark(mark)) for mark in find_item_marks(self.marks, route)]

    def locate_within(self, offset: int, *route: RouteStep) -> Place:
        """The place of a character of the string at a route."""
        if route == ("body",) and self.kind in MARKDOWN_KINDS and self.path.endswith(MARKDOWN):
            lines = LINE_BREAK.split(getattr(self.record, "body", "")[:offset])
            line, column = unpack_mark(find_mark(self.marks, route))
            at = column + len(lines[0]) if len(lines) == 1 else len(lines[-1]) + 1
            return Place(self.name, line + len(lines) - 1, at)
        return Place(self.name, *unpack_within(find_mark(self.marks, route), offset))

    def has(self, *route: RouteStep) -> bool:
        """Whether the document sets a value at a route."""
        return has_value(self.marks, route)


# Fields of the document as a whole, which are taken from the first part.
_OF_THE_FIRST = frozenset({"_schema", "_version", "role_id", "org_id", "suppressions"})


class MergedDocument(SourceDocument):
    """A document that several files set values of.

    It has the name of one of its parts. Places come from the part that writes the value.
    """

    __slots__ = ("_first", "_parts")

    def __init__(self, first: SourceDocument, parts: tuple[SourceDocument, ...], packed: PackedParts) -> None:
        """Merge the parts. They are searched in this order; a value that none writes belongs to the `first`."""
        super().__init__(
            first.name,
            first.path,
            first.kind,
            packed,
            first.digest,
            first.shared,
            first.context,
            first.format,
            first.home,
        )
        # A part can itself be merged, from the files of a source.
        self._first = first.part(())
        self._parts = tuple(each for part in parts for each in part.parts)

    def replace_values(self, packed: PackedParts) -> MergedDocument:
        """The same parts with other values."""
        return MergedDocument(self._first, self._parts, packed)

    def bind_to_home(self, home: str) -> SourceDocument:
        """A copy whose parts are copies for the organizations of the folder, too."""
        bound = {id(part): part.bind_to_home(home) for part in (self._first, *self._parts)}
        parts = tuple(bound[id(part)] for part in self._parts)
        return MergedDocument(bound[id(self._first)], parts, self.packed).keep_unpacked(
            self.record, self.marks
        )

    def drop_unpacked(self) -> None:
        """Drop the unpacked parts and keep the packed ones."""
        super().drop_unpacked()
        for part in self._parts:
            part.drop_unpacked()

    @property
    def parts(self) -> tuple[SourceDocument, ...]:
        """The single-file documents that it consists of."""
        return self._parts

    def part(self, route: Sequence[RouteStep]) -> SourceDocument:
        """The first part that writes the value at a route, or else the longest part of the route."""
        # These fields identify the document, so their place is in the file that declares it, and not in one that adds
        # to it.
        if not route or route[0] in _OF_THE_FIRST:
            return self._first
        for part in self._parts:
            if has_value(part.marks, route):
                return part
        # A value that no file writes is a default. The nearest place for a finding about it is the longest part of the
        # route.
        for length in range(len(route) - 1, 0, -1):
            for part in (self._first, *self._parts):
                if has_value(part.marks, route[:length]):
                    return part
        return self._first

    def place(self, *route: RouteStep, key: bool = False) -> Place:
        """The place in the part that sets the value."""
        part = self.part(route)
        line, column = unpack_mark(find_mark(part.marks, route, key=key))
        return Place(part.name, line, column)

    def locate(self, route: Sequence[RouteStep], names: Sequence[str]) -> list[tuple[str, int, bool]]:
        """File and line of keys, each in the part that sets it."""
        return [location for name in names for location in self.part((*route, name)).locate(route, (name,))]

    def locate_items(self, *route: RouteStep) -> list[Place]:
        """The places in the part that contains the list."""
        return self.part(route).locate_items(*route)

    def locate_within(self, offset: int, *route: RouteStep) -> Place:
        """The place in the part that contains the string."""
        return self.part(route).locate_within(offset, *route)

    def has(self, *route: RouteStep) -> bool:
        """Whether one of the parts sets a value at a route."""
        return any(part.has(*route) for part in self._parts)


class BrokenDocument(msgspec.Struct, frozen=True):
    """A document that could not be read, with the ids that it appears to declare, so these ids are not reported as
    missing.
    """

    name: str
    path: str
    kind: str | None
    declared_ids: frozenset[str]
    shared: bool = False
    home: str = ""
    """The folder of the organization that declared it as a source, as for a document."""
    format: str = ""
    """The format of another host that it was to be read from, as for a document."""
    is_kind_certain: bool = False
    """Whether the document is certainly of its kind, and its text contains no other document. A file that cannot be parsed
    could contain several documents.
    """


class FileResult(msgspec.Struct, frozen=True):
    """The result of one file."""

    documents: tuple[SourceDocument, ...] = ()
    broken: tuple[BrokenDocument, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    skipped: bool = False
    """Whether the file is not an orgkernel document."""


class LoadedFile(NamedTuple):
    """A file that was read, with its documents."""

    located: LocatedFile
    digest: str
    """The SHA-256 of the content; empty if it could not be read."""
    is_orgkernel_document: bool
    has_orgkernel_siblings: bool
    read: FileResult


class Lookup(NamedTuple):
    """A question about the disk: whether the file that a text refers to exists."""

    root: int
    """The number of the root."""
    folder: str
    """The folder of the text below the root. For a command, the folder of its host."""
    name: str
    """The path, or `/NAME` for a command."""


class LoadedFiles(msgspec.Struct, frozen=True):
    """The result of reading all files."""

    documents: tuple[SourceDocument, ...]
    broken: tuple[BrokenDocument, ...]
    diagnostics: tuple[Diagnostic, ...]
    paths: dict[str, str]
    """The path of each file that was read, by its name."""
    skipped: int
    """The number of skipped files, which are not orgkernel documents."""
    files: Sequence[LoadedFile] = ()
    """The results of the files, in the order of reading."""
    looked_up: Mapping[Lookup, bool] = msgspec.field(default_factory=dict)
    """The answers of the disk for references in texts."""


class Completion(NamedTuple):
    """Facts that follow only from several files in another format."""

    instead: Mapping[int, SourceDocument] = {}
    """Replacements of documents, by the identity (`id`) of the replaced one."""
    documents: tuple[SourceDocument, ...] = ()
    removed: frozenset[int] = frozenset()
    """Documents that are part of another one, by their identity."""


class TreeCompletion(NamedTuple):
    """Facts that follow only from all files of a tree."""

    instead: Mapping[int, tuple[SourceDocument, ...]] = {}
    """Replacements of documents, by the identity (`id`) of the replaced one: one, or one for each folder of
    organizations.
    """
    documents: tuple[SourceDocument, ...] = ()
    looked_up: Mapping[Lookup, bool] = {}
    """The answers of the disk for references in texts."""


NOTHING_TO_ADD = TreeCompletion()


def build_tree(files: Sequence[LoadedFile], completion: TreeCompletion = NOTHING_TO_ADD) -> LoadedFiles:
    """One result for all files."""
    documents = [document for file in files for document in file.read.documents]
    if completion.instead:
        documents = [
            made for document in documents for made in completion.instead.get(id(document), (document,))
        ]
    paths = {file.located.name: file.located.path for file in files if not file.read.skipped}
    return LoadedFiles(
        (*documents, *completion.documents),
        tuple(_find_broken(files)),
        tuple(diagnostic for file in files for diagnostic in file.read.diagnostics),
        {**{each.name: each.path for each in completion.documents}, **paths},
        # The package also contains schemas, which are not documents, so its skipped files are not counted.
        sum(file.read.skipped for file in files if not file.located.root.shared),
        tuple(files),
        completion.looked_up,
    )


def _find_broken(files: Iterable[LoadedFile]) -> Iterator[BrokenDocument]:
    """Every document that could not be read, once for each folder of organizations that it belongs to."""
    for file in files:
        for document in file.read.broken:
            root = file.located.root
            own = replace(document, format=root.format) if root.areas else document
            # Every organization that declares the source must know that something of it is missing.
            yield from (replace(own, home=home) for home in root.homes) if root.homes else (own,)
