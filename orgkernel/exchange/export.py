"""What every export is: files, what they cover, and what is lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loss:
    """Something the documents say, or decisions look at, that the target is not told."""

    what: str
    why: str
    count: int | None = None
    """How many declarations it concerns; None where it is about questions and not about declarations."""


@dataclass(frozen=True, slots=True)
class Export:
    """An organization in another format."""

    files: Mapping[str, str]
    """Name to text."""
    covers: tuple[str, ...]
    """The layers of decisions that the target decides too, in their order."""
    lost: tuple[Loss, ...]
