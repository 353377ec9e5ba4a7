"""What a cached result depends on besides the documents: this program, its libraries and this kind of machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256

import msgspec

from orgkernel.loading.cache import Cache, sign_file
from orgkernel.version import __version__

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What turns documents into a snapshot; surfaces only show it.
_PARTS = (
    "decisions", "diagnostics", "graph", "index", "loading", "model", "records", "rules", "runtime", "snapshots", "triggers",
)  # fmt: skip
_LIBRARIES = ("jsonschema-", "lark-", "msgspec-", "networkx-", "pydantic-", "pydantic_core-", "pyyaml-")


def fingerprint(store: Cache | None) -> bytes:
    """The same for the same code; a changed rule, model or library makes it another one.

    `store` remembers it as long as no source file changes: looking at two hundred files is faster than reading them.
    """
    return _fingerprint(store.folder if store else "", store)


@lru_cache(8)
def _fingerprint(_: str, store: Cache | None) -> bytes:
    names = list(_sources())
    libraries = "\n".join((__version__, sys.version, sys.byteorder, *_libraries())).encode()
    states = sha256(libraries)
    for name in names:
        states.update(f"{name} {sign_file(os.path.join(_PACKAGE, name))}\n".encode())
    key = f"code-{states.hexdigest()}"
    if store and (known := store.find(key)):
        return bytes(known)
    whole = sha256(libraries)
    for name in names:
        with open(os.path.join(_PACKAGE, name), "rb") as file:
            content = file.read()
        whole.update(f"\n{name} {len(content)}\n".encode() + content)
    if store:
        store.put(key, whole.digest())
    return whole.digest()


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
