"""What tells that files are as they were: their states, and their contents where states do not say."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import msgspec

from orgkernel.diagnostics import Severity
from orgkernel.loading.cache import Signature
from orgkernel.loading.files import Located, digest_file
from orgkernel.snapshots.roots import Request

# Times of files may be this coarse (FAT: two seconds), in ns.
_TICK = 2 * 10**9


class SignedFile(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The state of a file when it was read."""

    root: int
    name: str
    shared: bool
    signature: Signature | None
    digest: str


class SignedTree(msgspec.Struct, frozen=True, array_like=True):
    """What a load saw, and under which key its snapshot is."""

    key: str
    begun: int
    """Before the first file was looked at, in ns since 1970."""
    files: tuple[SignedFile, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """The files there are now; the digest only of those that are known to be as they were."""

    begun: int
    located: tuple[Located, ...]
    signatures: tuple[Signature | None, ...]
    digests: tuple[str | None, ...]


def key_of(seen: Seen, request_key: str) -> str:
    """Of a request, and of names and contents: the same wherever the files lie."""
    files = [
        (each.number, each.name, _tail(each), each.root.shared, digest)
        for each, digest in zip(seen.located, seen.digests, strict=True)
    ]
    return f"snapshot-{digest_of_parts(request_key.encode(), msgspec.msgpack.encode(files))}"


def digest_of_request(
    program: bytes, request: Request, severities: Mapping[str, Severity | None], *more: str
) -> str:
    """Of the program and of what was asked, wherever the tree lies."""
    own = [root.path for root in request.roots if not root.shared]
    top = os.path.dirname(os.path.commonpath(own)) if own else ""
    shape = [
        (root.name, root.shared, root.context, os.path.relpath(root.path, top) if not root.shared else "")
        for root in request.roots
    ]
    levels = sorted((code, level and level.value) for code, level in severities.items())
    asked = (shape, levels, sorted(request.asked), more)
    return digest_of_parts(program, msgspec.msgpack.encode(asked))


def _tail(located: Located) -> str | bytes:
    """Where a file lies below its root; as bytes where that may be no text."""
    tail = located.path.removeprefix(located.root.path)
    return tail if tail.isascii() else os.fsencode(tail)


def unchanged(
    signed: SignedTree | None, located: Sequence[Located], signatures: Sequence[Signature | None]
) -> tuple[str | None, ...]:
    """The digest of every file that is certainly as it was; None for any other."""
    if signed is None:
        return (None,) * len(located)
    limit = signed.begun - _TICK
    # Mostly the same files in the same order; otherwise each is looked for.
    ordered: Sequence[SignedFile | None] = signed.files
    if [(file.root, file.name) for file in signed.files] != [(each.number, each.name) for each in located]:
        before = {(file.root, file.name): file for file in signed.files}
        ordered = [before.get((each.number, each.name)) for each in located]
    digests: list[str | None] = []
    for each, signature, file in zip(located, signatures, ordered, strict=True):
        is_same = (
            file is not None
            and signature is not None
            and file.signature == signature
            and file.shared == each.root.shared
            and signature[1] < limit
            and signature[2] < limit
        )
        digests.append(file.digest if is_same and file is not None else None)
    return tuple(digests)


def find_numbers(located: Sequence[Located], changed: Iterable[str]) -> list[int] | None:
    """The positions of the files at paths that changed; None where the files may be others now.

    What is gone and held none of the files, such as what an editor writes beside a file, changes nothing.
    """
    positions = {each.path: number for number, each in enumerate(located)}
    found = set()
    for path in changed:
        if path in positions and os.path.isfile(path) and not os.path.islink(path):
            found.add(positions[path])
        elif (
            path in positions
            or os.path.lexists(path)
            or any(known.startswith(os.path.join(path, "")) for known in positions)
        ):
            return None
    return sorted(found)


def with_digests(seen: Seen) -> Seen:
    """With the digests of the files that may have changed, as far as they can be read."""
    digests = tuple(
        digest if digest is not None else digest_file(each.path)
        for each, digest in zip(seen.located, seen.digests, strict=True)
    )
    return Seen(seen.begun, seen.located, seen.signatures, digests)


def digest_of_parts(*parts: bytes) -> str:
    """One digest of several texts, none of which can pass for part of another."""
    whole = sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big"))
        whole.update(part)
    return whole.hexdigest()
