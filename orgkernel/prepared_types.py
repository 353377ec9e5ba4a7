"""Types that several threads decode. Each is prepared by one thread before any of them uses it."""

from __future__ import annotations

from threading import Lock
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
_preparing = Lock()
_prepared: set[Any] = set()


def prepared(kind: T) -> T:
    """A type for `msgspec` to decode.

    msgspec 0.22 collects what it knows of a type when it first decodes it, without a lock: two threads that do so at once
    end the process with a segmentation fault. A test sees to it that every type that is decoded comes from here.
    """
    if kind not in _prepared:
        with _preparing:
            msgspec.json.Decoder(kind)
            _prepared.add(kind)
    return kind
