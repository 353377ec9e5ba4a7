"""The key of a cached snapshot: a digest of the program, the request, and file names and contents."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from operator import attrgetter

import msgspec

from orgkernel.diagnostics import Severity
from orgkernel.loading.cache import Cache, Signature, compute_signature
from orgkernel.loading.files import LocatedFile
from orgkernel.snapshots.roots import Request
from orgkernel.version import __version__

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The packages that turn documents into a snapshot. Surfaces only display it.
_PARTS = (
    "decisions", "diagnostics", "documents", "graph", "loading", "rules", "runtime", "shell", "snapshots",
)  # fmt: skip
_LIBRARIES = (
    "jsonschema-",
    "kingfisher_secret_scanner-",
    "msgspec-",
    "networkx-",
    "pydantic-",
    "pydantic_core-",
    "pyyaml-",
)


def compute_program_fingerprint(store: Cache) -> bytes:
    """A digest of the other inputs of a cached result: this program, its libraries and this kind of machine.

    `store` caches it while no source file changes, because checking the state of two hundred files is faster than reading
    them.
    """
    signed = [each for part in _PARTS for each in _sign_sources(part)]
    libraries = "\n".join((__version__, sys.version, sys.byteorder, *_list_libraries())).encode()
    states = "".join([f"\n{name} {signature}" for name, signature in signed])
    key = f"code-{sha256(libraries + states.encode()).hexdigest()}"
    if known := store.find(key):
        return bytes(known)
    whole = sha256(libraries)
    for name, _ in signed:
        with open(os.path.join(_PACKAGE, name), "rb") as file:
            content = file.read()
        whole.update(f"\n{name} {len(content)}\n".encode() + content)
    store.put(key, whole.digest())
    return whole.digest()


def digest_request(
    program: bytes, request: Request, severities: Mapping[str, Severity | None], *more: str
) -> str:
    """A digest of the program and the request, independent of the location of the tree."""
    own = [root.path for root in request.roots if not root.shared]
    top = os.path.dirname(os.path.commonpath(own)) if own else ""
    shape = [
        (
            root.name,
            root.shared,
            root.context,
            os.path.relpath(root.path, top) if not root.shared else "",
            [os.fsencode(os.path.relpath(each, top)) for each in root.only],
            (root.format, root.areas, os.fsencode(root.called), root.is_pooled),
            root.union and (os.path.relpath(root.union.folder, top), *root.union[1:]),
            [(os.fsencode(os.path.relpath(use.file, top)), use.mark) for use in root.uses],
        )
        for root in request.roots
    ]
    levels = sorted((code, level and level.value) for code, level in severities.items())
    key_parts = (shape, levels, sorted(request.asked), more)
    return _digest(program, msgspec.msgpack.encode(key_parts))


def compute_contents_key(
    request_key: str, located_files: Sequence[LocatedFile], digests: Sequence[str | None]
) -> str:
    """A digest of a request, and of names and contents, independent of the location of the files."""
    files = [
        (each.number, each.name, _get_tail(each), each.root.shared, digest)
        for each, digest in zip(located_files, digests, strict=True)
    ]
    return f"snapshot-{_digest(request_key.encode(), msgspec.msgpack.encode(files))}"


def _digest(*parts: bytes) -> str:
    """A digest of several texts, including their boundaries."""
    whole = sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big"))
        whole.update(part)
    return whole.hexdigest()


def _get_tail(located_file: LocatedFile) -> str | bytes:
    """The path of a file below its root, as bytes, because it might not be valid text."""
    tail = located_file.path.removeprefix(located_file.root.path)
    return tail if tail.isascii() else os.fsencode(tail)


def _sign_sources(folder: str) -> Iterator[tuple[str, Signature]]:
    """The source files in a folder of this package, each with its state. Every command waits for this."""
    with os.scandir(f"{_PACKAGE}/{folder}") as entries:
        for entry in sorted(entries, key=_name_of):
            name = entry.name
            if name.endswith(".py"):
                yield f"{folder}/{name}", compute_signature(entry.stat())
            elif "." not in name and name != "__pycache__" and entry.is_dir():
                yield from _sign_sources(f"{folder}/{name}")


_name_of = attrgetter("name")


def _list_libraries() -> list[str]:
    """The names and versions of libraries, read from the names of installed folders, because asking the libraries would
    import them.
    """
    beside = os.path.dirname(os.path.dirname(os.path.abspath(msgspec.__file__)))
    return sorted(
        name.lower()
        for name in os.listdir(beside)
        if name.endswith(".dist-info") and name.lower().startswith(_LIBRARIES)
    )
