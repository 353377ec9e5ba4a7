"""`qualification_catalog`: tests that an agent can pass, and what they raise and unlock."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from orgkernel.model.levels import Proficiency
from orgkernel.model.record import Document, QualificationId, Record, SkillId, ToolId


def _raises_form(value: Any) -> str:
    return "(levels)" if isinstance(value, dict) else "(skills)"


Raises = Annotated[
    Annotated[dict[SkillId, Proficiency | None], Tag("(levels)")]
    | Annotated[tuple[SkillId, ...], Tag("(skills)")],
    Discriminator(_raises_form),
]


class Qualification(Record):
    """A test with a threshold."""

    name: str = ""
    description: str = ""
    tier: Annotated[int, Field(ge=1, le=3)] = 1
    """1 baseline, 2 domain, 3 collective."""
    threshold: Annotated[float, Field(ge=0.0, le=1.0)] = 0.5
    """Lowest score that passes, 0 to 1."""
    raises: Raises = ()
    """Skills that passing raises by one step: a list, or a mapping of each skill to its highest level. Not yet: the crew work
    keeps the skills of agents."""
    unlocks: tuple[ToolId, ...] = ()
    """Tools that need this qualification, in addition to tools that name it themselves."""
    prerequisites: tuple[QualificationId, ...] = ()
    """Qualifications that must be passed first. Not yet: the crew work checks a result against them."""
    expires_after_days: Annotated[float, Field(gt=0.0)] | None = None
    """Days after which a result expires. Absent means never."""

    @property
    def raised_skills(self) -> dict[str, int | None]:
        """Each raised skill and the highest level that passing raises it to, None without a limit."""
        return dict(self.raises) if isinstance(self.raises, dict) else dict.fromkeys(self.raises)


class QualificationCatalog(Document):
    """Qualifications."""

    kind: Literal["orgkernel:qualification_catalog"] = Field(
        default="orgkernel:qualification_catalog", alias="_schema"
    )
    description: str = ""
    qualifications: dict[QualificationId, Qualification] = Field(default_factory=dict)
