"""`skill_catalog`: skills, their categories and prerequisites; definitions only."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from orgkernel.model.record import Document, DomainId, Id, Record, SkillId, ToolId

# The category of skills that every crew member needs.
UNIVERSAL = "pcc"


class SkillCategory(Record):
    """A family of skills."""

    name: str = ""
    description: str = ""


class Skill(Record):
    """Something that an agent can be more or less good at."""

    name: str = ""
    description: str = ""
    category: Id | None = None
    domain: DomainId | None = None
    """Task domain of the skill. Absent means all domains."""
    prerequisites: tuple[SkillId, ...] = ()
    """Skills that are required first."""
    decay_rate_days: Annotated[int, Field(ge=1)] = 14
    """Days without practice after which the proficiency drops by one step. Not yet: the crew work counts them."""
    preferred_tools: tuple[ToolId, ...] = ()


class SkillCatalog(Document):
    """Skills."""

    kind: Literal["orgkernel:skill_catalog"] = Field(default="orgkernel:skill_catalog", alias="_schema")
    description: str = ""
    proficiency_scale: Annotated[tuple[str, ...], Field(min_length=7, max_length=7)] | None = None
    """Names of the seven steps, lowest first."""
    categories: dict[Id, SkillCategory] = Field(default_factory=dict)
    skills: dict[SkillId, Skill] = Field(default_factory=dict)
