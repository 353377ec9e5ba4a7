"""Folders to documents: which files are ours, and one result for all of them.

A file is ours when its `_schema` says so or when it was named itself. In a folder of our documents, one that cannot be
read or has the fields of one of our kinds is ours too. Anything else found on the way (a workflow, a package manifest) is
passed over and counted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from orgkernel.loading.documents import read_documents, says_ours
from orgkernel.loading.files import Located, Root, locate_files, read_text
from orgkernel.loading.sources import FileRead, ReadFile, Tree, tree_of

ROLES = "roles"


class _Text:
    """A file whose text was read now."""

    __slots__ = ("_source", "digest", "says_ours")

    def __init__(self, located: Located) -> None:
        self._source = read_text(located.path, located.name)
        self.digest = self._source.digest
        """Of the content; empty where it could not be read."""
        self.says_ours = says_ours(self._source)

    def read(self, located: Located, *, named: bool, among_ours: bool) -> ReadFile:
        """The documents of the text, as `read_documents` yields them."""
        root = located.root
        return read_documents(
            self._source, named=named, among_ours=among_ours, shared=root.shared, context=root.context
        )


class _Known:
    """A file that yielded something before, with the same content at the same place."""

    __slots__ = ("_before", "digest", "says_ours")

    def __init__(self, before: FileRead) -> None:
        self._before = before
        self.digest = before.digest
        self.says_ours = before.says_ours

    def read(self, located: Located, *, named: bool, among_ours: bool) -> ReadFile:
        """What it yielded, unless what stands beside it makes it something else now."""
        if among_ours != self._before.among_ours:
            return _Text(located).read(located, named=named, among_ours=among_ours)
        for document in self._before.read.documents:
            document.hold_again()
        return self._before.read


@dataclass(slots=True)
class _Reading:
    """Results by path, filled out of order and read in order."""

    read: dict[str, FileRead] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)


def read_tree(
    roots: Iterable[Root],
    *,
    located: Sequence[Located] | None = None,
    known: Mapping[str, FileRead] | None = None,
) -> Tree:
    """All documents below the roots. What is `known` by its path, read earlier and unchanged, is not read again."""
    reading = _Reading()
    undecided: list[tuple[Located, _Text | _Known]] = []
    located = locate_files(roots) if located is None else located
    for each in located:
        before = known.get(each.path) if known else None
        file = _Text(each) if before is None else _Known(before)
        if file.says_ours or each.path == each.root.path:
            _read_one(reading, each, file, among_ours=False)
        else:
            undecided.append((each, file))
    for each, file in undecided:
        among_ours = _is_among_ours(os.path.dirname(each.path), each.root.path, reading.folders)
        _read_one(reading, each, file, among_ours=among_ours, counts=False)
    return tree_of([reading.read[each.path] for each in located])


def _read_one(
    reading: _Reading, each: Located, file: _Text | _Known, *, among_ours: bool, counts: bool = True
) -> None:
    read = file.read(each, named=each.path == each.root.path, among_ours=among_ours)
    reading.read[each.path] = FileRead(each, file.digest, file.says_ours, among_ours, read)
    if counts and read.documents:
        folder = os.path.dirname(each.path)
        reading.folders.add(folder)
        if os.path.basename(folder) == ROLES:
            reading.folders.add(os.path.dirname(folder))  # where the organization of the roles lies


def _is_among_ours(folder: str, top: str, folders: set[str]) -> bool:
    """Whether a folder, or one above it up to the top, holds documents of ours."""
    while True:
        if folder in folders:
            return True
        parent = os.path.dirname(folder)
        if folder in (top, parent):
            return False
        folder = parent
