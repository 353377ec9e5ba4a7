"""`skill_catalog`: skills, their categories and prerequisites; definitions only."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from orgkernel.documents.model.levels import Proficiency
from orgkernel.documents.model.record import Document, DomainId, Id, Record, SkillId, ToolId

# The category of skills that every crew member needs.
UNIVERSAL = "pcc"


class Prerequisite(Record):
    """A skill that is required first, at a given proficiency."""

    skill: SkillId
    min_proficiency: Proficiency = 3
    """Lowest proficiency on the seven-step scale."""


def _choose_prerequisite_form(value: Any) -> str:
    return "(skill-id)" if isinstance(value, str) else "(prerequisite)"


PrerequisiteEntry = Annotated[
    Annotated[SkillId, Tag("(skill-id)")] | Annotated[Prerequisite, Tag("(prerequisite)")],
    Discriminator(_choose_prerequisite_form),
]


class SkillCategory(Record):
    """A family of skills."""

    name: str = ""
    description: str = ""


class Skill(Record):
    """An ability that an agent has to some degree."""

    name: str = ""
    description: str = ""
    category: Id | None = None
    domain: DomainId | None = None
    """Task domain of the skill. Absent means all domains."""
    prerequisites: tuple[PrerequisiteEntry, ...] = ()
    """Skills that are required first: a skill id, which means proficiency 3, or an object with a lowest proficiency."""
    decay_rate_days: Annotated[int, Field(ge=1)] = 14
    """Number of days without practice after which the proficiency drops by one step."""
    preferred_tools: tuple[ToolId, ...] = ()
    external: dict[Id, str] = Field(default_factory=dict)
    """The skill in public classifications: `esco` (URI of the skill) and `onet` (code). Answers show them; nothing is looked
    up."""

    @property
    def prerequisite_levels(self) -> dict[str, int]:
        """Each prerequisite with its lowest proficiency. If a skill is listed twice, the higher one is used."""
        levels: dict[str, int] = {}
        for entry in self.prerequisites:
            skill, level = (entry, 3) if isinstance(entry, str) else (entry.skill, entry.min_proficiency)
            levels[skill] = max(level, levels.get(skill, 0))
        return levels


class SkillCatalog(Document):
    """Skills, with their prerequisites and decay."""

    kind: Literal["orgkernel:skill_catalog"] = Field(default="orgkernel:skill_catalog", alias="_schema")
    description: str = ""
    proficiency_scale: Annotated[tuple[str, ...], Field(min_length=7, max_length=7)] | None = None
    """Names of the seven steps, lowest first."""
    categories: dict[Id, SkillCategory] = Field(default_factory=dict)
    skills: dict[SkillId, Skill] = Field(default_factory=dict)
