"""The location of shipped documents: in the wheel, or next to the sources."""

from __future__ import annotations

import os
from functools import cache

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@cache
def get_shipped_folder(name: str) -> str:
    """The path of `ontology`, `templates` or `extension`."""
    packed = os.path.join(_PACKAGE, "_data", name)
    if os.path.isdir(packed):
        return packed
    return os.path.join(os.path.dirname(_PACKAGE), name)


def list_templates() -> tuple[str, ...]:
    """The templates that `orgkernel new` can copy."""
    with os.scandir(get_shipped_folder("templates")) as entries:
        return tuple(sorted(entry.name for entry in entries if entry.is_dir()))
