"""Reading a tree of which some files were read before with the same content."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orgkernel.loading.files import Located
from orgkernel.loading.sources import FileRead, ReadFile
from orgkernel.loading.tree import OpenFile, open_text


class _Known:
    """A file whose content yielded something before."""

    def __init__(self, located: Located, row: FileRead) -> None:
        self._located = located
        self._row = row
        self.digest = row.digest
        self.says_ours = row.says_ours

    def read(self, *, named: bool, among_ours: bool, shared: bool, context: bool) -> ReadFile:
        # Whether a file is ours may depend on what stands beside it; where it lies and is named cannot have changed.
        if among_ours != self._row.among_ours:
            return open_text(self._located).read(
                named=named, among_ours=among_ours, shared=shared, context=context
            )
        for document in self._row.read.documents:
            document.hold_again()
        return self._row.read


def open_with(known: Mapping[str, FileRead]) -> Callable[[Located], OpenFile]:
    """How to open files: those known by path are not read."""

    def open_file(located: Located) -> OpenFile:
        row = known.get(located.path)
        return open_text(located) if row is None else _Known(located, row)

    return open_file if known else open_text


def read_again(row: FileRead, located: Located) -> FileRead:
    """A file with a new content, read as what it was read as before."""
    file = open_text(located)
    root = located.root
    read = file.read(
        named=located.path == root.path, among_ours=row.among_ours, shared=root.shared, context=root.context
    )
    return FileRead(located, file.digest, file.says_ours, row.among_ours, read)
