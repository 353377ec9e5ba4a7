"""`rank_ladder`: ranks in order, the requirements of promotions, and the tool levels of each rank."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from orgkernel.documents.model.levels import Proficiency, SideEffects, ToolLevel
from orgkernel.documents.model.record import Document, Id, QualificationId, RankId, Record
from orgkernel.documents.model.tool_catalog import ToolType

RecallTier = Literal["basic", "enhanced", "full", "oracle"]


class Rank(Record):
    """A step of trust that an agent has earned."""

    id: RankId
    name: str = ""
    """Name for people. Default: the id in words."""
    trust_from: Annotated[float, Field(ge=0.0, le=1.0)] = 0.0
    """Lowest trust for this rank, 0 to 1."""
    agency: Literal["reactive", "suggestive", "autonomous", "unrestricted"] | None = None
    """How independently a holder may act. It also limits the level at which the holder runs procedures: 2 if `reactive`, 3 if `suggestive`, 4 if `autonomous`, 5 if `unrestricted`."""
    recall_tier: RecallTier | None = None
    """Memory-recall tier of the rank. Not yet: no command reads it."""
    description: str = ""


class Requirement(Record):
    """A requirement on an agent's skills for a promotion."""

    skills: Literal["universal", "role", "required_role"]
    """The skills that are counted: universal skills, the role's skills, or only skills that the role requires."""
    min_proficiency: Proficiency
    """Lowest proficiency on the seven-step scale."""
    min_count: Annotated[int, Field(ge=1)] | None = None
    """Number of these skills that must have it. Absent means all."""


class Promotion(Record):
    """The requirements to reach a rank from the one below."""

    requirements: tuple[Requirement, ...] = ()
    """Requirements on skills. All must be met."""
    qualifications: tuple[QualificationId, ...] = ()
    """Qualifications that must be passed and not expired."""


class MatrixRow(Record):
    """The level of each rank for tools with certain types and side effects."""

    name: Id
    """Name that a tool can use to refer to the row."""
    types: tuple[ToolType, ...] = ()
    """Tool types that the row applies to. Empty means all."""
    side_effects: tuple[SideEffects, ...] = ()
    """Side effects that the row applies to. Empty means all."""
    levels: dict[RankId, ToolLevel]
    """Each rank and its level. An entry also applies to higher ranks up to the next entry. Ranks below the first entry have no access."""


class RankLadder(Document):
    """Ranks, promotions and permission matrices."""

    kind: Literal["orgkernel:rank_ladder"] = Field(default="orgkernel:rank_ladder", alias="_schema")
    description: str = ""
    ranks: tuple[Rank, ...] = ()
    """Ranks, lowest first. An organization uses the first ladder with ranks, from its own folder upward and then in the shared catalogs."""
    trust_margin: Annotated[float, Field(ge=0.0, le=1.0)] = 0.05
    """How far the trust in an agent must fall below `trust_from` of its rank before a demotion is proposed."""
    promotions: dict[RankId, Promotion] = Field(default_factory=dict)
    """Requirements for each rank. The key is the rank that is reached."""
    matrices: dict[Id, tuple[MatrixRow, ...]] = Field(default_factory=dict)
    """Permission matrices. A matrix has no effect until a tool or an organization refers to it."""
