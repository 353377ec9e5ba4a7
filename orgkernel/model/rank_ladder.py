"""`rank_ladder`: ranks in order, what a promotion takes, and which tool levels a rank has (crew-capability facts §2–4)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from orgkernel.model.levels import Proficiency, SideEffects, ToolLevel
from orgkernel.model.record import Document, Id, QualificationId, RankId, Record
from orgkernel.model.tool_catalog import ToolType

RecallTier = Literal["basic", "enhanced", "full", "oracle"]


class Rank(Record):
    """A step of trust an agent has earned."""

    id: RankId
    name: str = ""
    """Name for people; by default the id in words."""
    trust_from: Annotated[float, Field(ge=0.0, le=1.0)] = 0.0
    """Least trust, 0 to 1, at which an agent is of this rank."""
    agency: Literal["reactive", "suggestive", "autonomous", "unrestricted"] | None = None
    """How much a holder does without being asked."""
    recall_tier: RecallTier | None = None
    """Memory-recall tier the rank gives."""
    description: str = ""


class Requirement(Record):
    """Something an agent's skills must show for a promotion."""

    scope: Literal["universal", "role", "required_role"]
    """Which skills are looked at: universal ones, those of the role, or only those the role requires."""
    min_proficiency: Proficiency
    """Least proficiency on the seven-step scale."""
    min_count: Annotated[int, Field(ge=1)] | None = None
    """How many of these skills must show it; absent means all of them."""


class Promotion(Record):
    """What it takes to reach a rank from the one below."""

    requirements: tuple[Requirement, ...] = ()
    """Requirements on skills; all of them must hold."""
    qualifications: tuple[QualificationId, ...] = ()
    """Qualifications that must have been passed and not have expired."""


class MatrixRow(Record):
    """For tools of some types and side effects, the level each rank has."""

    name: Id
    """Name by which a tool can refer to the row."""
    types: tuple[ToolType, ...] = ()
    """Types of tools the row is for; none means all of them."""
    side_effects: tuple[SideEffects, ...] = ()
    """Side effects of tools the row is for; none means all of them."""
    levels: dict[RankId, ToolLevel]
    """Rank to level. An entry holds upwards until the next; ranks below the first have no access."""


class RankLadder(Document):
    """Ranks, promotions and permission matrices."""

    kind: Literal["orgkernel:rank_ladder"] = Field(default="orgkernel:rank_ladder", alias="_schema")
    description: str = ""
    ranks: tuple[Rank, ...] = ()
    """Ranks, lowest first. The nearest ladder that lists any is the one an organization has."""
    promotions: dict[RankId, Promotion] = Field(default_factory=dict)
    """What each rank takes, under the rank that is reached."""
    matrices: dict[Id, tuple[MatrixRow, ...]] = Field(default_factory=dict)
    """Permission matrices. Nothing is capped by one until a tool or an organization refers to it."""
