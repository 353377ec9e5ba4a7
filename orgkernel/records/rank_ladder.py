"""`rank_ladder`: ranks in order, the requirements of promotions, and the tool levels of each rank. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Literal
import msgspec
from orgkernel.records.levels import Proficiency, SideEffects, ToolLevel
from orgkernel.records.record import Document, Id, QualificationId, RankId, Record
from orgkernel.records.tool_catalog import ToolType
RecallTier = Literal['basic', 'enhanced', 'full', 'oracle']


class Rank(Record, frozen=True, kw_only=True):
    """A step of trust that an agent has earned."""
    id: RankId
    name: str = ''
    trust_from: float = 0.0
    agency: Literal['reactive', 'suggestive', 'autonomous', 'unrestricted'] | None = None
    recall_tier: RecallTier | None = None
    description: str = ''


class Requirement(Record, frozen=True, kw_only=True):
    """A requirement on an agent's skills for a promotion."""
    scope: Literal['universal', 'role', 'required_role']
    min_proficiency: Proficiency
    min_count: int | None = None


class Promotion(Record, frozen=True, kw_only=True):
    """The requirements to reach a rank from the one below."""
    requirements: tuple[Requirement, ...] = ()
    qualifications: tuple[QualificationId, ...] = ()


class MatrixRow(Record, frozen=True, kw_only=True):
    """The level of each rank for tools with certain types and side effects."""
    name: Id
    types: tuple[ToolType, ...] = ()
    side_effects: tuple[SideEffects, ...] = ()
    levels: dict[RankId, ToolLevel]


class RankLadder(Document, frozen=True, kw_only=True):
    """Ranks, promotions and permission matrices."""
    kind: Literal['orgkernel:rank_ladder'] = msgspec.field(default='orgkernel:rank_ladder', name='_schema')
    description: str = ''
    ranks: tuple[Rank, ...] = ()
    trust_margin: float = 0.05
    promotions: dict[RankId, Promotion] = msgspec.field(default_factory=dict)
    matrices: dict[Id, tuple[MatrixRow, ...]] = msgspec.field(default_factory=dict)
