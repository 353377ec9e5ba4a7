"""What an export to the format of another tool consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from orgkernel.diagnostics import Place


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that the documents declare, or decisions use, and the export leaves out."""

    what: str
    why: str
    count: int | None = None
    """How many declarations it concerns. None if it concerns requests, not declarations."""


STORED_STATE = Loss(
    "stored state",
    "grants, restrictions, earned ranks, test results and the lifecycle of agents are not in documents",
)
"""What no export has, because it is made of documents."""


@dataclass(frozen=True, slots=True)
class Export:
    """An organization in another format."""

    files: Mapping[str, str]
    """File texts by name: a path with slashes, relative to the folder that is exported to."""
    covers: tuple[str, ...]
    """What the target also says or decides, in order."""
    lost: tuple[Loss, ...]
    places: Mapping[str, tuple[Place | None, ...]] = field(default_factory=dict)
    """By file, for each of its lines the place in our documents that says so. May be left out."""
    unmarked: frozenset[str] = frozenset()
    """Files whose format has no place for a mark. They belong to the marked files of the export beside them."""
