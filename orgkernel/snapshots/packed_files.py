"""The files of a load as columns: names, digests and one body of bytes that documents are cut out of when asked.

Nearly every file is one document without findings, and costs a name, a digest and its parts; any other is a whole entry.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import overload

import msgspec

from orgkernel.loading.entries import DamagedEntry, FileEntry, entry_of, read_of
from orgkernel.loading.files import Located
from orgkernel.loading.packed import Slice
from orgkernel.loading.sources import FileRead, ReadFile, SourceDocument, Tree
from orgkernel.records.kinds import RECORDS

_KINDS = tuple(RECORDS)
_NUMBER_OF_KIND = {kind: number for number, kind in enumerate(_KINDS)}
_WHOLE = 255
"""In place of a kind: the file is among the entries that are kept whole."""
_SAYS_OURS, _AMONG_OURS = 1, 2
_NOTHING_UNKNOWN = b"\x90"
_DIGEST = 32


Wanted = Mapping[tuple[int, str], tuple[Located, str]]
"""Position of the root and shown name to the file there is now, and the digest of its content."""


class PackedFiles(msgspec.Struct, frozen=True, array_like=True):
    """Files in the order in which they were read; columns of one item a file."""

    names: tuple[str, ...]
    roots: bytes
    """Positions of the roots, 32 bits each."""
    digests: bytes
    flags: bytes
    kinds: bytes
    sizes: bytes
    """Lengths of record and marks, 32 bits each; nothing in the body for an entry kept whole."""
    body: memoryview
    whole: tuple[tuple[int, FileEntry], ...]


def pack_files(files: Sequence[FileRead]) -> PackedFiles:
    """The columns of some files."""
    names, roots, sizes = [], array("I"), array("I")
    digests, flags, kinds, body = bytearray(), bytearray(), bytearray(), bytearray()
    whole: dict[int, FileEntry] = {}
    for number, file in enumerate(files):
        names.append(file.located.name)
        roots.append(file.located.number)
        digests += bytes.fromhex(file.digest) if file.digest else bytes(_DIGEST)
        flags.append(_SAYS_OURS * file.says_ours | _AMONG_OURS * file.among_ours)
        read = file.read
        packed = read.documents[0].packed if _is_plain(read) else None
        if packed is None:
            kinds.append(_WHOLE)
            sizes.extend((0, 0))
            whole[number] = entry_of(read)
        else:
            kinds.append(_NUMBER_OF_KIND[read.documents[0].kind])
            sizes.extend((len(packed.record), len(packed.marks)))
            body += packed.record
            body += packed.marks
    return PackedFiles(
        tuple(names), roots.tobytes(), bytes(digests), bytes(flags), bytes(kinds), sizes.tobytes(), memoryview(body), tuple(whole.items())
    )  # fmt: skip


def _is_plain(read: ReadFile) -> bool:
    return (
        len(read.documents) == 1
        and not (read.broken or read.diagnostics or read.skipped)
        and read.documents[0].packed.unknown == _NOTHING_UNKNOWN
    )


class _Rows(Sequence[FileRead]):
    """What each file yielded, put together when asked: only a change to the tree asks."""

    def __init__(
        self,
        packed: PackedFiles,
        located: Sequence[Located | None],
        read: Sequence[ReadFile | SourceDocument | None],
    ) -> None:
        self._packed = packed
        self._located = located
        self._read = read

    def __len__(self) -> int:
        return len(self._located)

    @overload
    def __getitem__(self, number: int) -> FileRead: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[FileRead]: ...
    def __getitem__(self, number: int | slice) -> FileRead | Sequence[FileRead]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        located, read, flags = self._located[number], self._read[number], self._packed.flags[number]
        assert located is not None
        assert read is not None
        return FileRead(
            located,
            digest_of(self._packed, number),
            bool(flags & _SAYS_OURS),
            bool(flags & _AMONG_OURS),
            ReadFile((read,)) if isinstance(read, SourceDocument) else read,
        )


def digest_of(packed: PackedFiles, number: int) -> str:
    """The digest of a file's content; empty where it could not be read."""
    digest = packed.digests[number * _DIGEST : (number + 1) * _DIGEST]
    return digest.hex() if any(digest) else ""


def pick_files(packed: PackedFiles, wanted: Wanted) -> dict[str, FileRead]:
    """What those of the files yielded whose content is the wanted one, by path. Raises as `restore_tree`."""
    numbers = array("I", packed.roots)
    then: list[Located | None] = []
    for number, name in enumerate(packed.names):
        located, digest = wanted.get((numbers[number], name), (None, ""))
        then.append(located if digest and digest == digest_of(packed, number) else None)
    rows = _Rows(packed, then, _cut(packed, then))
    return {each.path: rows[number] for number, each in enumerate(then) if each is not None}


def restore_tree(packed: PackedFiles, located: Sequence[Located]) -> Tree:
    """The tree of these files, where they lie now. Raises `DamagedEntry`, or `ValueError` for columns that do not fit."""
    numbers = array("I", packed.roots)
    if packed.names != tuple(each.name for each in located) or list(numbers) != [
        each.number for each in located
    ]:
        raise DamagedEntry("it is about other files")
    rows = _cut(packed, located)
    odd = (
        {number: read for number, read in enumerate(rows) if isinstance(read, ReadFile)}
        if packed.whole
        else {}
    )
    skipped = {number for number, read in odd.items() if read.skipped}
    documents: list[SourceDocument] = []
    for read in rows:
        if isinstance(read, SourceDocument):
            documents.append(read)
        elif read is not None:
            documents += read.documents
    return Tree(
        tuple(documents),
        tuple(broken for read in odd.values() for broken in read.broken),
        tuple(found for read in odd.values() for found in read.diagnostics),
        {each.name: each.path for number, each in enumerate(located) if number not in skipped},
        sum(not located[number].root.shared for number in skipped),
        _Rows(packed, located, rows),
    )


def _cut(packed: PackedFiles, located: Sequence[Located | None]) -> list[ReadFile | SourceDocument | None]:
    """What each file that lies somewhere yielded, its documents cut out of the body."""
    sizes, digests, whole = array("I", packed.sizes), packed.digests.hex(), dict(packed.whole)
    body, end = packed.body, 0
    rows: list[ReadFile | SourceDocument | None] = []
    for number, (each, kind) in enumerate(zip(located, packed.kinds, strict=True)):
        start, middle = end, end + sizes[2 * number]
        end = middle + sizes[2 * number + 1]
        if each is None:
            rows.append(None)
        elif kind == _WHOLE:
            root = each.root
            entry = whole[number]
            rows.append(read_of(entry, each.path, each.name, shared=root.shared, context=root.context))
        else:
            rows.append(
                SourceDocument(
                    each.name, each.path, _KINDS[kind], Slice(body, start, middle, end),
                    digests[number * 2 * _DIGEST : (number + 1) * 2 * _DIGEST],
                    each.root.shared, each.root.context,
                )
            )  # fmt: skip
    if end != len(body):
        raise DamagedEntry("its parts have other lengths")
    return rows
