"""Folders to documents: which files are ours, and one result for all of them.

A file is ours when its `_schema` says so or when it was named itself. In a folder of our documents, one that cannot be
read or has the fields of one of our kinds is ours too. Anything else found on the way (a workflow, a package manifest) is
passed over and counted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from orgkernel.loading.documents import read_documents, says_ours
from orgkernel.loading.files import Root, SourceText, find_files, read_text
from orgkernel.loading.sources import ReadFile, Tree

__all__ = ["ROLES", "Tree", "read_tree"]

ROLES = "roles"


@dataclass(slots=True)
class _Reading:
    """Results by path, filled out of order and read in order."""

    names: dict[str, str] = field(default_factory=dict)
    read: dict[str, ReadFile] = field(default_factory=dict)
    undecided: list[tuple[Root, SourceText]] = field(default_factory=list)
    folders: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)


def read_tree(roots: Iterable[Root]) -> Tree:
    """All documents below the roots. A file below two roots is read once, for the first of them."""
    reading = _Reading()
    seen: set[str] = set()
    roots = tuple(roots)
    shared = tuple(os.path.join(os.path.realpath(root.path), "") for root in roots if root.shared)
    for root in roots:
        for path, name in find_files(root):
            real = os.path.realpath(path)
            if real in seen:
                continue
            seen.add(real)
            # The shared catalogues stay shared when a path of the user's covers them.
            _read_one(reading, replace(root, shared=True) if real.startswith(shared) else root, path, name)
    for root, source in reading.undecided:
        among_ours = _is_among_ours(os.path.dirname(source.path), root.path, reading.folders)
        reading.read[source.path] = read_documents(
            source, named=False, among_ours=among_ours, shared=root.shared, context=root.context
        )
    files = [reading.read[path] for path in reading.names]
    return Tree(
        tuple(document for file in files for document in file.documents),
        tuple(document for file in files for document in file.broken),
        tuple(found for file in files for found in file.diagnostics),
        {
            name: path
            for (path, name), file in zip(reading.names.items(), files, strict=True)
            if not file.skipped
        },
        # What comes with the package holds more than documents: its schemas are nobody's oversight.
        sum(file.skipped for path, file in reading.read.items() if path not in reading.shared),
    )


def _read_one(reading: _Reading, root: Root, path: str, name: str) -> None:
    source = read_text(path, name)
    reading.names[path] = name
    if root.shared:
        reading.shared.add(path)
    named = path == root.path
    if not named and not says_ours(source):
        reading.undecided.append((root, source))
        return
    reading.read[path] = read_documents(
        source, named=named, among_ours=False, shared=root.shared, context=root.context
    )
    if reading.read[path].documents:
        folder = os.path.dirname(path)
        reading.folders.add(folder)
        if os.path.basename(folder) == ROLES:
            reading.folders.add(os.path.dirname(folder))  # where the organisation of the roles lies


def _is_among_ours(folder: str, top: str, folders: set[str]) -> bool:
    """Whether a folder, or one above it up to the top, holds documents of ours."""
    while True:
        if folder in folders:
            return True
        parent = os.path.dirname(folder)
        if folder in (top, parent):
            return False
        folder = parent
