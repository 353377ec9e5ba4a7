"""The rank of an agent, its next rank and its qualifications in `crew_manifest` version 1."""

from __future__ import annotations

import msgspec

from orgkernel.manifest.v1_items import Named


class RankItem(Named, frozen=True, kw_only=True):
    """A rank of the ladder (crew-capability facts §2.2)."""

    description: str
    trust_from: float
    """Lowest mean trust for this rank, 0 to 1."""
    agency: str | None
    """How much an agent of this rank may start on its own."""
    recall_tier: str | None
    """The memory-recall tier of this rank."""


class RequirementItem(msgspec.Struct, frozen=True, kw_only=True):
    """Skills that a promotion requires (crew-capability facts §4.7)."""

    scope: str
    min_proficiency: int
    """Lowest proficiency on the scale of 1 to 7."""
    min_count: int | None
    """How many of these skills must reach it. Null means all."""


class NextRank(RankItem, frozen=True, kw_only=True):
    """The next rank and its requirements."""

    requirements: tuple[RequirementItem, ...]
    qualifications: tuple[str, ...]
    missing_qualifications: tuple[str, ...]
    """Required qualifications that the agent has not passed or that have expired."""


class QualificationItem(Named, frozen=True, kw_only=True):
    """A test that the agent has passed (crew-capability facts §5)."""

    description: str
    tier: int | None
    """1 baseline, 2 domain, 3 collective. Null for a test that is no longer declared."""
    threshold: float | None
    """The score needed to pass, 0 to 1."""
    score: float
    passed_at: str | None
