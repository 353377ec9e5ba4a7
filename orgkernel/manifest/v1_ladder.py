"""What a `crew_manifest` of version 1 says of an agent's rank, of the next one, and of what it has passed."""

from __future__ import annotations

import msgspec

from orgkernel.manifest.v1_items import Named


class RankItem(Named, frozen=True, kw_only=True):
    """A rank of the ladder (crew-capability facts §2.2)."""

    description: str
    trust_from: float
    """Mean trust from which an agent is of this rank, 0 to 1."""
    agency: str | None
    """How much it may begin by itself."""
    recall_tier: str | None
    """How much it may remember."""


class RequirementItem(msgspec.Struct, frozen=True, kw_only=True):
    """Skills a promotion takes (crew-capability facts §4.7)."""

    scope: str
    min_proficiency: int
    """On the scale of 1 to 7."""
    min_count: int | None
    """How many of them; null for all."""


class NextRank(RankItem, frozen=True, kw_only=True):
    """The rank above, and what it takes."""

    requirements: tuple[RequirementItem, ...]
    qualifications: tuple[str, ...]
    missing_qualifications: tuple[str, ...]
    """Those the agent has not passed, or not lately enough."""


class QualificationItem(Named, frozen=True, kw_only=True):
    """A test the agent has passed (crew-capability facts §5)."""

    description: str
    tier: int | None
    """1 baseline, 2 domain, 3 collective; null for a test nothing declares any more."""
    threshold: float | None
    """The score it takes, 0 to 1."""
    score: float
    passed_at: str | None
