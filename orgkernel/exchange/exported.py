"""What an export to the format of another tool consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that the documents declare, or decisions use, and the export leaves out."""

    what: str
    why: str
    count: int | None = None
    """How many declarations it concerns. None if it concerns requests, not declarations."""


@dataclass(frozen=True, slots=True)
class Export:
    """An organization in another format."""

    files: Mapping[str, str]
    """File texts by name."""
    covers: tuple[str, ...]
    """What the target also says or decides, in order."""
    lost: tuple[Loss, ...]
