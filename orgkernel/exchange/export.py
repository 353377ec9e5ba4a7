"""An export: files, the layers that they cover, and what is lost."""

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
    """The decision layers that the target also decides, in order."""
    lost: tuple[Loss, ...]
