"""`qualification_catalog`: tests an agent can pass, what they raise and unlock (crew-capability facts §5)."""

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
    """Least score, 0 to 1, that passes."""
    raises: Raises = ()
    """Skills that passing raises by one step: a list, or a mapping with the level beyond which it raises no further."""
    unlocks: tuple[ToolId, ...] = ()
    """Tools that need this qualification, for those that do not say so themselves."""
    prerequisites: tuple[QualificationId, ...] = ()
    """Qualifications to be passed before."""
    expires_after_days: Annotated[float, Field(gt=0.0)] | None = None
    """Days after which a result no longer counts; absent means never."""

    @property
    def raised_skills(self) -> dict[str, int | None]:
        """Skill to the level beyond which passing raises it no further, None where there is no such bound."""
        return dict(self.raises) if isinstance(self.raises, dict) else dict.fromkeys(self.raises)


class QualificationCatalog(Document):
    """Qualifications."""

    kind: Literal["orgkernel:qualification_catalog"] = Field(
        default="orgkernel:qualification_catalog", alias="_schema"
    )
    description: str = ""
    qualifications: dict[QualificationId, Qualification] = Field(default_factory=dict)
