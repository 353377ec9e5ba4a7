"""The key of a cached snapshot: a digest of the program, of the request, and of file names and contents."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

import msgspec

from orgkernel.diagnostics import Severity
from orgkernel.loading.cache import Cache, sign_file
from orgkernel.loading.files import Located
from orgkernel.snapshots.roots import Request
from orgkernel.version import __version__

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What turns documents into a snapshot; surfaces only show it.
_PARTS = (
    "decisions", "diagnostics", "graph", "index", "loading", "model", "records", "rules", "runtime", "shapes", "snapshots",
    "triggers",
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


def fingerprint(store: Cache) -> bytes:
    """What a cached result depends on besides the documents: this program, its libraries and this kind of machine.

    `store` remembers it as long as no source file changes: looking at two hundred files is faster than reading them.
    """
    names = list(_sources())
    libraries = "\n".join((__version__, sys.version, sys.byteorder, *_libraries())).encode()
    states = sha256(libraries)
    for name in names:
        states.update(f"{name} {sign_file(os.path.join(_PACKAGE, name))}\n".encode())
    key = f"code-{states.hexdigest()}"
    if known := store.find(key):
        return bytes(known)
    whole = sha256(libraries)
    for name in names:
        with open(os.path.join(_PACKAGE, name), "rb") as file:
            content = file.read()
        whole.update(f"\n{name} {len(content)}\n".encode() + content)
    store.put(key, whole.digest())
    return whole.digest()


def digest_request(
    program: bytes, request: Request, severities: Mapping[str, Severity | None], *more: str
) -> str:
    """Of the program and of what was asked, wherever the tree lies."""
    own = [root.path for root in request.roots if not root.shared]
    top = os.path.dirname(os.path.commonpath(own)) if own else ""
    shape = [
        (
            root.name,
            root.shared,
            root.context,
            os.path.relpath(root.path, top) if not root.shared else "",
            [os.fsencode(os.path.relpath(each, top)) for each in root.only],
            (root.format, root.areas, os.fsencode(root.called)),
            [(os.fsencode(os.path.relpath(use.file, top)), use.mark) for use in root.uses],
        )
        for root in request.roots
    ]
    levels = sorted((code, level and level.value) for code, level in severities.items())
    asked = (shape, levels, sorted(request.asked), more)
    return _digest(program, msgspec.msgpack.encode(asked))


def key_of_contents(request_key: str, located: Sequence[Located], digests: Sequence[str | None]) -> str:
    """Of a request, and of names and contents: the same wherever the files lie."""
    files = [
        (each.number, each.name, _tail(each), each.root.shared, digest)
        for each, digest in zip(located, digests, strict=True)
    ]
    return f"snapshot-{_digest(request_key.encode(), msgspec.msgpack.encode(files))}"


def _digest(*parts: bytes) -> str:
    """One digest of several texts. The boundaries between texts count."""
    whole = sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big"))
        whole.update(part)
    return whole.hexdigest()


def _tail(located: Located) -> str | bytes:
    """Where a file lies below its root; as bytes where that may be no text."""
    tail = located.path.removeprefix(located.root.path)
    return tail if tail.isascii() else os.fsencode(tail)


def _sources() -> Iterator[str]:
    for part in _PARTS:
        for folder, below, names in os.walk(os.path.join(_PACKAGE, part)):
            below.sort()
            within = os.path.relpath(folder, _PACKAGE)
            yield from (os.path.join(within, name) for name in sorted(names) if name.endswith(".py"))


def _libraries() -> list[str]:
    """Names with versions, as the folders beside a library say; asking the libraries would import them."""
    beside = os.path.dirname(os.path.dirname(os.path.abspath(msgspec.__file__)))
    return sorted(
        name.lower()
        for name in os.listdir(beside)
        if name.endswith(".dist-info") and name.lower().startswith(_LIBRARIES)
    )
