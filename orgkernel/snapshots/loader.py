"""Loading with a memory: what did not change since the last load is not read again, in this process or in another.

The state of every file (size, times, inode) is compared with that of the last load; contents are compared where states
differ, and where a file is as new as that load, because it may have been written again within one tick of the clock. Only
files with another content are read as documents.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import msgspec

from orgkernel.diagnostics import Severity
from orgkernel.loading.cache import Cache, sign_file
from orgkernel.loading.entries import DamagedEntry, decode
from orgkernel.loading.files import Located, locate_files
from orgkernel.loading.sources import FileRead
from orgkernel.snapshots.file_states import (
    Seen,
    SignedFile,
    SignedTree,
    digest_of_request,
    find_numbers,
    key_of,
    unchanged,
    with_digests,
)
from orgkernel.snapshots.fingerprint import fingerprint
from orgkernel.snapshots.packed_files import Wanted, pick_files
from orgkernel.snapshots.packing import decode_snapshot, pack_snapshot, restore_snapshot
from orgkernel.snapshots.roots import Request
from orgkernel.snapshots.snapshot import Snapshot

# More changed files than this are quicker linked as a whole.
_PATCHED = 16
_SIGNED = msgspec.msgpack.Decoder(SignedTree)


class Loader:
    """Loads one request again and again. Use from one thread at a time."""

    def __init__(
        self, request: Request, severities: Mapping[str, Severity | None], cache: Cache | None = None
    ) -> None:
        self.request = request
        self._severities = dict(severities)
        self.cache = cache
        self._last: tuple[SignedTree, Snapshot] | None = None
        self._located: tuple[Located, ...] = ()
        """The files of the last load."""
        self._is_unsaved = False

    def load(self, changed: Collection[str] | None = None) -> Snapshot:
        """Everything as it is now.

        `changed` are the paths that can have changed since the last load, for who has watched them all along; the others
        are not looked at. Where it cannot be enough to read these files again, everything is compared as without.
        """
        if changed is not None:
            patched = self._load_only(changed)
            if patched is not None:
                return patched
        begun = time.time_ns()
        located = tuple(locate_files(self.request.roots))
        signatures = tuple(sign_file(each.path) for each in located)
        signed = self._last[0] if self._last else self._find_signed()
        seen = Seen(begun, located, signatures, unchanged(signed, located, signatures))
        if signed is not None and None not in seen.digests and len(signed.files) == len(located):
            snapshot = self._last[1] if self._last else self._restore(signed.key, located)
            if snapshot is not None:
                self._last, self._located = (signed, snapshot), located
                return snapshot
        if signed is not None or self._base_key():
            seen = with_digests(seen)
        snapshot = self._patch(signed, seen) or self._find_snapshot(seen)
        if snapshot is None:
            snapshot = self._build(seen)
            # Of what was read, which may have changed since the contents were compared.
            seen = replace(seen, digests=tuple(row.digest for row in snapshot.tree.files))
        self._remember(seen, snapshot)
        return snapshot

    def save(self) -> None:
        """Put what was loaded into the cache; later than the answer, because nobody waits for it."""
        is_unsaved, self._is_unsaved = self._is_unsaved, False
        if not is_unsaved or self.cache is None or self._last is None:
            return
        tree, snapshot = self._last
        seen = Seen(
            tree.begun,
            self._located,
            tuple(file.signature for file in tree.files),
            tuple(file.digest or None for file in tree.files),
        )
        key = key_of(seen, self._request_key(""))
        if not self.cache.has(key) and not self.cache.put(key, pack_snapshot(snapshot)):
            return
        self.cache.put(self._tree_key(), msgspec.msgpack.encode(msgspec.structs.replace(tree, key=key)))
        if self._base_key() != key:
            self.cache.put(self._request_key("last"), key.encode())

    # -- what is the same as before -----------------------------------------------------------------------------------

    def _find_snapshot(self, seen: Seen) -> Snapshot | None:
        """The snapshot of the same contents, whoever made it: this process, an earlier one, another machine."""
        if None in seen.digests:
            return None
        return self._restore(key_of(seen, self._request_key("")), seen.located) if self.cache else None

    def _restore(self, key: str, located: Sequence[Located]) -> Snapshot | None:
        packed = self.cache.find(key) if self.cache else None
        if packed is None or self.cache is None:
            return None
        try:
            return restore_snapshot(decode_snapshot(packed), located)
        except DamagedEntry:
            self.cache.discard(key)
            return None

    def _patch(self, signed: SignedTree | None, seen: Seen) -> Snapshot | None:
        """The last snapshot with a few files exchanged, where that is enough."""
        if signed is None or None in seen.digests or len(signed.files) != len(seen.located):
            return None
        numbers = []
        for number, (file, each, digest) in enumerate(
            zip(signed.files, seen.located, seen.digests, strict=True)
        ):
            if (file.root, file.name, file.shared) != (each.number, each.name, each.root.shared):
                return None
            if file.digest != digest:
                numbers.append(number)
        if len(numbers) > _PATCHED:
            return None
        last = self._last[1] if self._last else self._restore(signed.key, seen.located)
        if last is None or not numbers:
            return last
        from orgkernel.snapshots.patch import patch_snapshot
        from orgkernel.snapshots.reuse import read_again

        rows = {number: read_again(last.tree.files[number], seen.located[number]) for number in numbers}
        if any(row.digest != seen.digests[number] for number, row in rows.items()):
            return None  # it changed again meanwhile
        return patch_snapshot(last, rows, self._severities, self.request.asked)

    def _load_only(self, changed: Collection[str]) -> Snapshot | None:
        """The last snapshot with the files at these paths exchanged, where that is certainly all."""
        if self._last is None:
            return None
        tree, last = self._last
        numbers = find_numbers(self._located, changed)
        if numbers is None or len(numbers) > _PATCHED:
            return None
        from orgkernel.snapshots.patch import patch_snapshot
        from orgkernel.snapshots.reuse import read_again

        files, rows = list(tree.files), {}
        for number in numbers:
            # As it was before it is read: what is written meanwhile differs the next time.
            signature = sign_file(self._located[number].path)
            row = read_again(last.tree.files[number], self._located[number])
            if not row.digest:
                return None
            if row.digest != files[number].digest:
                rows[number] = row
            files[number] = msgspec.structs.replace(files[number], signature=signature, digest=row.digest)
        patched = patch_snapshot(last, rows, self._severities, self.request.asked) if rows else last
        if patched is not None and rows:
            # Begun when everything was looked at last: these files are newer, and will be compared by content.
            self._last = (SignedTree("", tree.begun, tuple(files)), patched)
            self._is_unsaved = self.cache is not None and all(file.digest for file in files)
        return patched

    # -- what is not --------------------------------------------------------------------------------------------------

    def _build(self, seen: Seen) -> Snapshot:
        from orgkernel.snapshots.build import read_and_build
        from orgkernel.snapshots.reuse import open_with

        return read_and_build(
            self.request.roots,
            self._severities,
            self.request.asked,
            located=seen.located,
            open_file=open_with(self._known_files(seen)),
        )

    def _known_files(self, seen: Seen) -> dict[str, FileRead]:
        """What files yielded before, by path, of those that have the same content now."""
        wanted = {
            (each.number, each.name): (each, digest)
            for each, digest in zip(seen.located, seen.digests, strict=True)
            if digest
        }
        if self._last is None:
            return self._known_in_cache(wanted)
        known = {}
        for row in self._last[1].tree.files:
            each, digest = wanted.get((row.located.number, row.located.name), (None, ""))
            if each == row.located and digest == row.digest:
                known[row.located.path] = row
        return known

    def _known_in_cache(self, wanted: Wanted) -> dict[str, FileRead]:
        key = self._base_key() if wanted else ""
        packed = self.cache.find(key) if self.cache and key else None
        try:
            return pick_files(decode_snapshot(packed).files, wanted) if packed else {}
        except (DamagedEntry, ValueError, LookupError):
            return {}

    # -- keys ---------------------------------------------------------------------------------------------------------

    def _find_signed(self) -> SignedTree | None:
        packed = self.cache.find(self._tree_key()) if self.cache else None
        try:
            return decode(_SIGNED, packed) if packed else None
        except DamagedEntry:
            return None

    def _base_key(self) -> str:
        """Under which key the last snapshot of this request is, wherever it was made."""
        packed = self.cache.find(self._request_key("last")) if self.cache else None
        return bytes(packed).decode("ascii", "replace") if packed else ""

    def _tree_key(self) -> str:
        return self._request_key("tree", *(root.path for root in self.request.roots))

    def _request_key(self, kind: str, *more: str) -> str:
        """Of the program and of what was asked; without `more`, the same for every copy of the tree."""
        program = fingerprint(self.cache)
        return f"{kind}-{digest_of_request(program, self.request, self._severities, *more)}"

    # -- remembering --------------------------------------------------------------------------------------------------

    def _remember(self, seen: Seen, snapshot: Snapshot) -> None:
        tree = SignedTree(
            "",
            seen.begun,
            tuple(
                SignedFile(each.number, each.name, each.root.shared, signature, digest or "")
                for each, signature, digest in zip(seen.located, seen.signatures, seen.digests, strict=True)
            ),
        )
        self._last, self._located = (tree, snapshot), seen.located
        # What could not be read may be readable the next time, and nothing would show it.
        self._is_unsaved = self.cache is not None and all(seen.digests)
