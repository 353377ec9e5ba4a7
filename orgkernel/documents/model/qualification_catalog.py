"""`qualification_catalog`: tests that an agent can pass, the skills that they raise, and the tools that they unlock."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from orgkernel.documents.model.levels import Proficiency
from orgkernel.documents.model.record import Document, Id, QualificationId, Record, SkillId, ToolId


def _choose_raises_form(value: Any) -> str:
    return "(levels)" if isinstance(value, dict) else "(skills)"


Raises = Annotated[
    Annotated[dict[SkillId, Proficiency | None], Tag("(levels)")]
    | Annotated[tuple[SkillId, ...], Tag("(skills)")],
    Discriminator(_choose_raises_form),
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
    """Skills that passing raises by one step: a list, or a mapping of each skill to its highest level. If no highest
    level is given, it follows from the score: 0.5 reaches level 2, 0.6 level 3, 0.7 level 4, 0.8 level 5, 0.9 level 6
    and 0.95 level 7."""
    unlocks: tuple[ToolId, ...] = ()
    """Tools that need this qualification, in addition to tools that name it themselves."""
    prerequisites: tuple[QualificationId, ...] = ()
    """Qualifications that must be passed before a result of this one is recorded."""
    expires_after_days: Annotated[float, Field(gt=0.0)] | None = None
    """Days after which a result expires. Absent means never."""
    min_sample_size: Annotated[int, Field(ge=1)] | None = None
    """Minimum number of cases behind a score. A result with fewer cases, or without a number of cases, is not valid."""
    digests: dict[Id, str] = Field(default_factory=dict)
    """The current version of the test subject: the digest of the model, prompt, tool schemas, policy, test set and so
    on, by name. A result with another digest, or without one, is not valid. `skill:NAME`, `orders:ROLE` and `tool:TOOL` in place
    of a digest stand for the current files, so that a change of one drops the results."""

    @property
    def raised_skills(self) -> dict[str, int | None]:
        """Each raised skill and the highest level to which passing raises it. None if it follows from the score."""
        return dict(self.raises) if isinstance(self.raises, dict) else dict.fromkeys(self.raises)


class QualificationCatalog(Document):
    """Qualifications: the tests that agents take."""

    kind: Literal["orgkernel:qualification_catalog"] = Field(
        default="orgkernel:qualification_catalog", alias="_schema"
    )
    description: str = ""
    qualifications: dict[QualificationId, Qualification] = Field(default_factory=dict)
