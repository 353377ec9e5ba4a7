"""Incremental loading: files that did not change since the last load are not read again, even in another process.

The state of every file (size, times, inode) is compared with that of the last load. Contents are compared if the states
differ, or if a file is as new as that load, because it could have been written again within one tick of the clock. If
nothing changed, the last snapshot is reused. Otherwise changed files are read, every other document is taken from the
last snapshot, and everything is assembled, linked and checked again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from orgkernel.diagnostics import Severity
from orgkernel.loading.cache import Cache, Signature, sign_file
from orgkernel.loading.files import LocatedFile, digest_file, locate_files
from orgkernel.loading.formats.lookups import are_answers_current
from orgkernel.prepared_types import prepared
from orgkernel.snapshots.cache_keys import compute_contents_key, compute_program_fingerprint, digest_request
from orgkernel.snapshots.packing import (
    NOTHING_PICKED,
    DamagedEntry,
    OutdatedEntry,
    PickedFiles,
    decode,
    decode_snapshot,
    pack_snapshot,
    pick_files,
    restore_snapshot,
)
from orgkernel.snapshots.roots import Request
from orgkernel.snapshots.snapshot import Snapshot
from orgkernel.snapshots.sources import NO_SOURCES, DeclaredSource, find_declared_sources, find_sources

# The coarsest resolution of file times (FAT: two seconds), in ns.
_TICK = 2 * 10**9


class SignedFile(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The state of a file when it was read."""

    root: int
    name: str
    shared: bool
    signature: Signature | None
    digest: str
    """The digest of the content; empty if the file could not be read."""
    sources: tuple[DeclaredSource, ...] = ()
    """The sources that organizations in the file declare."""


class SignedTree(msgspec.Struct, frozen=True, array_like=True):
    """The files of a load, and the cache key of its snapshot."""

    key: str
    begun: int
    """The time before the first file was examined, in ns since 1970."""
    files: tuple[SignedFile, ...]
    refused: str = ""
    """The digest of the messages about sources that could not be read."""


class _Last(NamedTuple):
    """The last load of this process."""

    signed: SignedTree
    located: tuple[LocatedFile, ...]
    snapshot: Snapshot


_SIGNED = msgspec.msgpack.Decoder(prepared(SignedTree))


class Loader:
    """Loads one request repeatedly. Use it from one thread at a time."""

    def __init__(
        self, request: Request, severities: Mapping[str, Severity | None], cache: Cache | None = None
    ) -> None:
        self.request = request
        self._severities = dict(severities)
        self.cache = cache
        self._last: _Last | None = None
        self._is_unsaved = False
        self.sources = NO_SOURCES
        """The files that were last read for the sources of organizations."""
        self._is_outdated = False
        """Whether the cached snapshot of these files refers to something that has changed since."""

    def load(self) -> Snapshot:
        """The current snapshot."""
        begun = time.time_ns()
        signed = self._last.signed if self._last else self._find_signed()
        located = tuple(locate_files(self.request.roots))
        signatures = [sign_file(each.path) for each in located]
        digests = _find_unchanged(signed, located, signatures)
        declared = {
            each.path: declared_sources
            for each, declared_sources in zip(
                located, _list_declared_sources(signed, located, digests), strict=True
            )
            if declared_sources
        }
        sources = self.sources = NO_SOURCES
        if declared:
            sources = self.sources = find_sources(
                self.request, ((each, declared[each.path]) for each in located if each.path in declared)
            )
            # Located again with the sources: their files belong to them even if a path of the request covers them.
            located = tuple(locate_files((*self.request.roots, *sources.roots)))
            signatures = [sign_file(each.path) for each in located]
            digests = _find_unchanged(signed, located, signatures)
        # Sources that could not be read have findings of their own, which no file of the tree shows.
        is_same = signed is not None and None not in digests and signed.refused == sources.key
        if signed is not None and is_same and len(signed.files) == len(located):
            snapshot = self._get_last_snapshot() if self._last else self._restore(signed.key, located)
            if snapshot is not None:
                self._last = _Last(signed, located, snapshot)
                return snapshot
        if signed is not None or self._compute_last_key():
            digests = [
                digest or (None if each.leaves else digest_file(each.path))
                for each, digest in zip(located, digests, strict=True)
            ]
        snapshot = self._find_same(located, digests)
        if snapshot is None:
            # Imported here, because a restored snapshot needs neither pydantic, yaml nor the rules.
            from orgkernel.snapshots.build import build_snapshot

            known = self._get_known_files(located, digests)
            snapshot = build_snapshot(
                (*self.request.roots, *sources.roots),
                self._severities,
                self.request.asked,
                refused=sources.refused,
                located_files=located,
                known_files=known.files,
                found_before=known.found_before,
            )
            # The key is of the content that was read, which could have changed since the comparison.
            digests = [file.digest for file in snapshot.tree.files]
        files = tuple(
            SignedFile(
                each.number, each.name, each.root.shared, signature, digest or "", declared.get(each.path, ())
            )
            for each, signature, digest in zip(located, signatures, digests, strict=True)
        )
        self._last = _Last(SignedTree("", begun, files, sources.key), located, snapshot)
        # Do not cache an unreadable file: it could become readable without a visible change.
        self._is_unsaved = self.cache is not None and all(digests)
        return snapshot

    def save(self) -> None:
        """Write the snapshot to the cache, after the answer, so no caller waits for it."""
        is_unsaved, self._is_unsaved = self._is_unsaved, False
        if not is_unsaved or self.cache is None or self._last is None:
            return
        signed, located, snapshot = self._last
        key = self._compute_contents_key(located, [file.digest for file in signed.files])
        is_kept = self.cache.has(key) and not self._is_outdated
        if not is_kept and not self.cache.put(key, pack_snapshot(snapshot)):
            return
        self._is_outdated = False
        self.cache.put(
            self._compute_tree_key(), msgspec.msgpack.encode(msgspec.structs.replace(signed, key=key))
        )
        # The pointer has no paths in its key, so a copy of the tree in another place begins with this snapshot.
        if self._compute_last_key() != key:
            self.cache.put(self._compute_request_key("last"), key.encode())

    # -- unchanged files ----------------------------------------------------------------------------------------------

    def _find_same(
        self, located_files: tuple[LocatedFile, ...], digests: list[str | None]
    ) -> Snapshot | None:
        """The snapshot with the same contents from this process, an earlier one, or another machine."""
        if None in digests:
            return None
        last = self._last
        if not last or last.signed.refused != self.sources.key:
            return (
                self._restore(self._compute_contents_key(located_files, digests), located_files)
                if self.cache
                else None
            )
        if last.located == located_files and [each.digest for each in last.signed.files] == digests:
            return self._get_last_snapshot()
        return (
            self._restore(self._compute_contents_key(located_files, digests), located_files)
            if self.cache
            else None
        )

    def _get_last_snapshot(self) -> Snapshot | None:
        """The snapshot of the last load in this process, if its references are unchanged."""
        if self._last is None:
            return None
        if not are_answers_current(
            (*self.request.roots, *self.sources.roots), self._last.snapshot.tree.looked_up
        ):
            self._is_outdated = True
            return None
        return self._last.snapshot

    def _restore(self, key: str, located_files: Sequence[LocatedFile]) -> Snapshot | None:
        packed = self.cache.find(key) if self.cache else None
        if packed is None or self.cache is None:
            return None
        try:
            return restore_snapshot(decode_snapshot(packed), located_files)
        except DamagedEntry:
            self.cache.discard(key)
            return None
        except OutdatedEntry:
            self._is_outdated = True
            return None

    def _get_known_files(
        self, located_files: Sequence[LocatedFile], digests: Sequence[str | None]
    ) -> PickedFiles:
        """The earlier results for files whose content is unchanged, by path."""
        wanted = {
            (each.number, each.name): (each, digest)
            for each, digest in zip(located_files, digests, strict=True)
            if digest
        }
        if self._last is None:
            return self._get_known_from_cache(wanted)
        known = {}
        for file in self._last.snapshot.tree.files:
            each, digest = wanted.get((file.located.number, file.located.name), (None, ""))
            if each == file.located and digest == file.digest:
                known[file.located.path] = file
        return PickedFiles(known, self._last.snapshot.found_before)

    def _get_known_from_cache(
        self, wanted_files: Mapping[tuple[int, str], tuple[LocatedFile, str]]
    ) -> PickedFiles:
        key = self._compute_last_key() if wanted_files else ""
        packed = self.cache.find(key) if self.cache and key else None
        try:
            if packed is None:
                return NOTHING_PICKED
            return pick_files(decode_snapshot(packed), wanted_files, self.request.roots)
        except DamagedEntry:
            return NOTHING_PICKED

    # -- keys ---------------------------------------------------------------------------------------------------------

    def _find_signed(self) -> SignedTree | None:
        packed = self.cache.find(self._compute_tree_key()) if self.cache else None
        try:
            return decode(_SIGNED, packed) if packed else None
        except DamagedEntry:
            return None

    def _compute_last_key(self) -> str:
        """The cache key of the last snapshot for this request, from any location."""
        packed = self.cache.find(self._compute_request_key("last")) if self.cache else None
        return bytes(packed).decode("ascii", "replace") if packed else ""

    def _compute_tree_key(self) -> str:
        return self._compute_request_key("tree", *(root.path for root in self.request.roots))

    def _compute_contents_key(
        self, located_files: Sequence[LocatedFile], digests: Sequence[str | None]
    ) -> str:
        roots = (*self.request.roots, *self.sources.roots)
        request = replace(self.request, roots=roots)
        return compute_contents_key(
            self._compute_key("snapshot", request, self.sources.key), located_files, digests
        )

    def _compute_request_key(self, kind: str, *more: str) -> str:
        """The key of the program and the request; without `more`, it is the same for every copy of the tree."""
        return self._compute_key(kind, self.request, *more)

    def _compute_key(self, kind: str, request: Request, *more: str) -> str:
        return f"{kind}-{digest_request(self._program, request, self._severities, *more)}"

    @cached_property
    def _program(self) -> bytes:
        return compute_program_fingerprint(self.cache) if self.cache else b""


def _list_declared_sources(
    signed: SignedTree | None, located_files: Sequence[LocatedFile], digests: Sequence[str | None]
) -> list[tuple[DeclaredSource, ...]]:
    """The sources that organizations in each file declare."""
    before = {} if signed is None else {(file.root, file.name): file for file in signed.files}
    return [
        find_declared_sources(each) if digest is None else before[each.number, each.name].sources
        for each, digest in zip(located_files, digests, strict=True)
    ]


def _find_unchanged(
    signed: SignedTree | None, located_files: Sequence[LocatedFile], signatures: Sequence[Signature | None]
) -> list[str | None]:
    """The digest of every file that is certainly unchanged; None for any other."""
    if signed is None:
        return [None] * len(located_files)
    # A file that was written in the tick of the load can have been written once more with the same times.
    limit = signed.begun - _TICK
    before = {(file.root, file.name): file for file in signed.files}
    digests: list[str | None] = []
    for each, signature in zip(located_files, signatures, strict=True):
        file = before.get((each.number, each.name))
        is_same = (
            file is not None
            and not each.leaves  # its target is outside and never read, so there is no content to compare
            and signature is not None
            and file.signature == signature
            and file.shared == each.root.shared
            and signature[1] < limit
            and signature[2] < limit
        )
        digests.append(file.digest if is_same and file is not None else None)
    return digests
