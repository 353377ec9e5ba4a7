"""`qualification_catalog`: tests that an agent can pass, and what they raise and unlock. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Literal
import msgspec
from orgkernel.records.levels import Proficiency
from orgkernel.records.record import Document, Id, QualificationId, Record, SkillId, ToolId
Raises = dict[SkillId, Proficiency | None] | tuple[SkillId, ...]


class Qualification(Record, frozen=True, kw_only=True):
    """A test with a threshold."""
    name: str = ''
    description: str = ''
    tier: int = 1
    threshold: float = 0.5
    raises: Raises = ()
    unlocks: tuple[ToolId, ...] = ()
    prerequisites: tuple[QualificationId, ...] = ()
    expires_after_days: float | None = None
    min_sample_size: int | None = None
    digests: dict[Id, str] = msgspec.field(default_factory=dict)

    @property
    def raised_skills(self) -> dict[str, int | None]:
        """Each raised skill and the highest level that passing raises it to, None where the score says it."""
        return dict(self.raises) if isinstance(self.raises, dict) else dict.fromkeys(self.raises)


class QualificationCatalog(Document, frozen=True, kw_only=True):
    """Qualifications."""
    kind: Literal['orgkernel:qualification_catalog'] = msgspec.field(default='orgkernel:qualification_catalog', name='_schema')
    description: str = ''
    qualifications: dict[QualificationId, Qualification] = msgspec.field(default_factory=dict)
