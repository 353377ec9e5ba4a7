"""`qualification_catalog`: tests that an agent can pass, and what they raise and unlock. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Annotated, Literal
import msgspec
from orgkernel.shapes.levels import Proficiency
from orgkernel.shapes.record import Document, Id, QualificationId, Record, SkillId, ToolId
Raises = dict[SkillId, Proficiency | None] | tuple[SkillId, ...]


class Qualification(Record, frozen=True, kw_only=True):
    """A test with a threshold."""
    name: str = ''
    description: str = ''
    tier: Annotated[int, msgspec.Meta(ge=1, le=3)] = 1
    threshold: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] = 0.5
    raises: Raises = ()
    unlocks: tuple[ToolId, ...] = ()
    prerequisites: tuple[QualificationId, ...] = ()
    expires_after_days: Annotated[float, msgspec.Meta(gt=0.0)] | None = None
    min_sample_size: Annotated[int, msgspec.Meta(ge=1)] | None = None
    digests: dict[Id, str] = msgspec.field(default_factory=dict)


class QualificationCatalog(Document, frozen=True, kw_only=True):
    """Qualifications."""
    kind: Literal['orgkernel:qualification_catalog'] = msgspec.field(default='orgkernel:qualification_catalog', name='_schema')
    description: str = ''
    qualifications: dict[QualificationId, Qualification] = msgspec.field(default_factory=dict)
