"""What a cached result depends on besides the documents: this program, its libraries and this kind of machine."""

from __future__ import annotations

import os
import platform
import sys
from functools import cache
from hashlib import sha256

import msgspec

from orgkernel import __version__

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What turns documents into a snapshot; surfaces only show it.
_PARTS = (
    "decisions", "diagnostics", "graph", "index", "kernel", "loading", "model", "records", "rules", "runtime", "triggers",
)  # fmt: skip
_LIBRARIES = ("jsonschema-", "lark-", "msgspec-", "networkx-", "pydantic-", "pydantic_core-", "pyyaml-")


@cache
def fingerprint() -> bytes:
    """The same for the same code; a changed rule, model or library makes it another one."""
    whole = sha256()
    for line in (__version__, platform.python_version(), sys.byteorder, *_libraries()):
        whole.update(line.encode() + b"\n")
    for part in _PARTS:
        folder = os.path.join(_PACKAGE, part)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            if name.endswith(".py"):
                with open(os.path.join(folder, name), "rb") as file:
                    content = file.read()
                whole.update(f"{part}/{name} {len(content)}\n".encode())
                whole.update(content)
    return whole.digest()


def _libraries() -> list[str]:
    """Names with versions, as the folders beside a library say; asking the libraries would import them."""
    beside = os.path.dirname(os.path.dirname(os.path.abspath(msgspec.__file__)))
    return sorted(
        name.lower()
        for name in os.listdir(beside)
        if name.endswith(".dist-info") and name.lower().startswith(_LIBRARIES)
    )
