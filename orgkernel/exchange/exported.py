"""The result of an export to the format of another tool."""

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
"""The loss of every export, because exports are made from documents."""


@dataclass(frozen=True, slots=True)
class ConvertedFiles:
    """An organization in another format."""

    files: Mapping[str, str]
    """File contents by name: a path with slashes, relative to the folder that is exported to."""
    covers: tuple[str, ...]
    """Facts that the target also expresses or decides, in the order in which the report lists them."""
    lost: tuple[Loss, ...]
    places: Mapping[str, tuple[Place | None, ...]] = field(default_factory=dict)
    """For each file, the place in the orgkernel documents of each of its lines. Optional."""
    withheld: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each exported role, the tools that it may use here, and does not have there."""
    dropped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each exported role, what its own file states and the exported file does not: fields that only the original host
    reads, and a language model with no equivalent in the target format.
    """
    left_out: tuple[str, ...] = ()
    """The roles that are not exported at all."""
    unmarked: frozenset[str] = frozenset()
    """Files whose format has no field for the mark of orgkernel. They count as exported if a marked file is next to them."""
