"""Reads documents from folders: selects the files that are orgkernel documents, and reads them all.

A file is an orgkernel document if its `_schema` says so or if the user named it. In a folder with such documents, an
unreadable file, or a file with the fields of a known kind, is treated as a document too. Any other file (a workflow,
a package manifest) is skipped and counted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from orgkernel.diagnostics import Diagnostic, Place
from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.loading.documents import is_orgkernel_document, read_documents
from orgkernel.loading.files import LocatedFile, Root, SourceText, locate_files, read_located
from orgkernel.loading.formats import FORMATS, complete, format_named
from orgkernel.loading.marks import unpack_mark
from orgkernel.loading.sources import LoadedFile, LoadedFiles, build_tree
from orgkernel.runtime.progress import enter_stage

ROLES = "roles"
TextReader = Callable[[LocatedFile], SourceText]
"""Reads the text of a file."""


class _Candidate:
    """A candidate file: with its text, or with the earlier result for the same content at the same place."""

    __slots__ = ("_before", "_read_text", "_source", "digest", "is_orgkernel_document", "located", "named")

    def __init__(self, located: LocatedFile, before: LoadedFile | None, read_text: TextReader) -> None:
        self.located = located
        self._read_text = read_text
        self.named = located.path == located.root.path
        self._before = before
        self._source: SourceText | None = None
        if before is None:
            self._source = read_text(located)
            self.digest = self._source.digest
            # The areas of a format name its files, so what is found in one needs no `_schema`.
            self.is_orgkernel_document = bool(located.root.areas) or is_orgkernel_document(self._source)
        else:
            self.digest, self.is_orgkernel_document = before.digest, before.is_orgkernel_document

    def read(self, *, has_orgkernel_siblings: bool) -> LoadedFile:
        """The result for the file. The earlier result is used unless the files next to it change its meaning."""
        before, located = self._before, self.located
        if before is not None and before.has_orgkernel_siblings == has_orgkernel_siblings:
            # Later steps of the load read every document many times, so a reused one is unpacked once, as a new one is.
            for document in before.read.documents:
                document.unpack_again()
            return LoadedFile(
                located, self.digest, self.is_orgkernel_document, has_orgkernel_siblings, before.read
            )
        source, root = self._source or self._read_text(located), located.root
        if root.areas:
            read = format_named(root.format).read(source, root)
        else:
            read = read_documents(
                source,
                named=self.named,
                has_orgkernel_siblings=has_orgkernel_siblings,
                shared=root.shared,
                context=root.context,
            )
            for document in read.documents if root.format else ():
                document.format = root.format
        return LoadedFile(located, self.digest, self.is_orgkernel_document, has_orgkernel_siblings, read)


def read_tree(
    roots: Iterable[Root],
    *,
    located: Sequence[LocatedFile] | None = None,
    known: Mapping[str, LoadedFile] | None = None,
    read_text: TextReader | None = None,
) -> LoadedFiles:
    """All documents below the roots. Unchanged files that are `known` by their path are not read again.

    `read_text` yields the texts of files that are not on the disk as they are located.
    """
    read_text = read_text or read_located
    roots = tuple(roots)
    read: dict[str, LoadedFile] = {}
    folders: set[str] = set()
    undecided: list[_Candidate] = []
    located = locate_files(roots) if located is None else located
    enter_stage(f"reading {len(located):,} files")
    for each in located:
        file = _Candidate(each, known.get(each.path) if known else None, read_text)
        if not (file.is_orgkernel_document or file.named):
            undecided.append(file)
            continue
        file_read = read[each.path] = file.read(has_orgkernel_siblings=False)
        if file_read.read.documents:
            folder = os.path.dirname(each.path)
            folders.add(folder)
            if os.path.basename(folder) == ROLES:
                folders.add(os.path.dirname(folder))  # the folder of the roles' organization
    # A second pass, because whether a folder contains orgkernel documents is known only when all of them are read.
    for file in undecided:
        path, top = file.located.path, file.located.root.path
        read[path] = file.read(
            has_orgkernel_siblings=_has_orgkernel_siblings(os.path.dirname(path), top, folders)
        )
    files = [read[each.path] for each in located]
    tree = build_tree(files, complete(files))
    if any(root.uses for root in roots):
        tree = replace(tree, diagnostics=(*tree.diagnostics, *_find_empty_sources(roots, files)))
    return tree


def _find_empty_sources(roots: Iterable[Root], files: Iterable[LoadedFile]) -> Iterator[Diagnostic]:
    """Sources of organizations that contain no files of their format."""
    nonempty_roots = {file.located.root for file in files if file.read.documents or file.read.broken}
    for root in roots:
        for use in root.uses if root not in nonempty_roots else ():
            what = FORMATS[root.format].title
            yield row.EMPTY_SOURCE.at(
                Place(use.name, *unpack_mark(use.mark)),
                f"the source contains no files of {what}",
                f"correct its path, or remove it; orgkernel searched {quote(root.name)}",
            )


def _has_orgkernel_siblings(folder: str, top: str, folders: set[str]) -> bool:
    """Whether a folder, or a folder above it, contains orgkernel documents."""
    while True:
        if folder in folders:
            return True
        parent = os.path.dirname(folder)
        if folder in (top, parent):
            return False
        folder = parent
