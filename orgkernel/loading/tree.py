"""Folders to documents: which files are ours, and one result for all of them.

A file is ours when its `_schema` says so or when it was named itself. In a folder of our documents, one that cannot be
read or has the fields of one of our kinds is ours too. Anything else found on the way (a workflow, a package manifest) is
passed over and counted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from orgkernel.loading.documents import read_documents, says_ours
from orgkernel.loading.files import Located, Root, locate_files, read_text
from orgkernel.loading.sources import FileRead, ReadFile, Tree, tree_of

__all__ = ["ROLES", "OpenFile", "Tree", "open_text", "read_tree"]

ROLES = "roles"


class OpenFile(Protocol):
    """A file whose text is at hand, or what was once read from the same text."""

    @property
    def digest(self) -> str:
        """Of the content; empty where it could not be read."""

    @property
    def says_ours(self) -> bool:
        """Whether the text says that it is a document of ours."""

    def read(self, *, named: bool, among_ours: bool, shared: bool, context: bool) -> ReadFile:
        """The documents of the text, as `read_documents` yields them."""


class _Text:
    """A file whose text was read now."""

    __slots__ = ("_source", "digest", "says_ours")

    def __init__(self, located: Located) -> None:
        self._source = read_text(located.path, located.name)
        self.digest = self._source.digest
        self.says_ours = says_ours(self._source)

    def read(self, *, named: bool, among_ours: bool, shared: bool, context: bool) -> ReadFile:
        return read_documents(
            self._source, named=named, among_ours=among_ours, shared=shared, context=context
        )


def open_text(located: Located) -> OpenFile:
    """The file, read from disk."""
    return _Text(located)


@dataclass(slots=True)
class _Reading:
    """Results by path, filled out of order and read in order."""

    read: dict[str, FileRead] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)


def read_tree(
    roots: Iterable[Root],
    *,
    located: Sequence[Located] | None = None,
    open_file: Callable[[Located], OpenFile] = open_text,
) -> Tree:
    """All documents below the roots; `open_file` may have the results of files that were read before."""
    reading = _Reading()
    undecided: list[tuple[Located, OpenFile]] = []
    located = locate_files(roots) if located is None else located
    for each in located:
        file = open_file(each)
        if file.says_ours or each.path == each.root.path:
            _read_one(reading, each, file, among_ours=False)
        else:
            undecided.append((each, file))
    for each, file in undecided:
        among_ours = _is_among_ours(os.path.dirname(each.path), each.root.path, reading.folders)
        _read_one(reading, each, file, among_ours=among_ours, counts=False)
    return tree_of([reading.read[each.path] for each in located])


def _read_one(
    reading: _Reading, each: Located, file: OpenFile, *, among_ours: bool, counts: bool = True
) -> None:
    root = each.root
    read = file.read(
        named=each.path == root.path, among_ours=among_ours, shared=root.shared, context=root.context
    )
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
