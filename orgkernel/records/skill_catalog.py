"""`skill_catalog`: skills, their categories and prerequisites; definitions only. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Literal
import msgspec
from orgkernel.records.levels import Proficiency
from orgkernel.records.record import Document, DomainId, Id, Record, SkillId, ToolId
UNIVERSAL = 'pcc'


class Prerequisite(Record, frozen=True, kw_only=True):
    """A skill that is required first, at a given proficiency."""
    skill: SkillId
    min_proficiency: Proficiency = 3
PrerequisiteEntry = SkillId | Prerequisite


class SkillCategory(Record, frozen=True, kw_only=True):
    """A family of skills."""
    name: str = ''
    description: str = ''


class Skill(Record, frozen=True, kw_only=True):
    """Something that an agent can be more or less good at."""
    name: str = ''
    description: str = ''
    category: Id | None = None
    domain: DomainId | None = None
    prerequisites: tuple[PrerequisiteEntry, ...] = ()
    decay_rate_days: int = 14
    preferred_tools: tuple[ToolId, ...] = ()
    external: dict[Id, str] = msgspec.field(default_factory=dict)

    @property
    def prerequisite_levels(self) -> dict[str, int]:
        """Each skill that is required first, with its lowest proficiency; the highest where it is named twice."""
        found: dict[str, int] = {}
        for entry in self.prerequisites:
            skill, level = (entry, 3) if isinstance(entry, str) else (entry.skill, entry.min_proficiency)
            found[skill] = max(level, found.get(skill, 0))
        return found


class SkillCatalog(Document, frozen=True, kw_only=True):
    """Skills."""
    kind: Literal['orgkernel:skill_catalog'] = msgspec.field(default='orgkernel:skill_catalog', name='_schema')
    description: str = ''
    proficiency_scale: tuple[str, ...] | None = None
    categories: dict[Id, SkillCategory] = msgspec.field(default_factory=dict)
    skills: dict[SkillId, Skill] = msgspec.field(default_factory=dict)
