"""`procedure_catalog`: executable skills, which are run step by step instead of thought through each time."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, StringConstraints, Tag

from orgkernel.documents.model.record import Document, Id, Record, SkillId, ToolId

CompilationLevel = Annotated[int, Field(ge=1, le=5)]
# The name of a SKILL.md. Rules check the standard's further requirements.
SkillName = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class ToolNeed(Record):
    """A tool that a step calls, with the action."""

    tool: ToolId
    action: Id | None = None
    """Action of the tool. Absent means all its actions."""


def _choose_need_form(value: Any) -> str:
    return "(tool-id)" if isinstance(value, str) else "(tool-need)"


ToolNeedEntry = Annotated[
    Annotated[ToolId, Tag("(tool-id)")] | Annotated[ToolNeed, Tag("(tool-need)")],
    Discriminator(_choose_need_form),
]


class ProcedureStep(Record):
    """A step of a procedure."""

    id: Id
    name: str = ""
    required_tools: tuple[ToolNeedEntry, ...] = ()
    """Tools that the step calls: a tool id, or an object with the action."""


class Procedure(Record):
    """A procedure that a role can run."""

    name: str = ""
    description: str = ""
    intents: tuple[Id, ...] = ()
    """Intents that the procedure serves."""
    skill: SkillId | None = None
    """A role that requires this skill has the procedure."""
    compilation_level: CompilationLevel = 1
    """1 novice, 2 guided, 3 validated, 4 autonomous, 5 expert. A procedure is run at level 3 or above, and at level 4
    or above without a model."""
    falls_back_to: SkillName | None = None
    """Name of the cognitive skill that takes over if the procedure fails."""
    steps: tuple[ProcedureStep, ...] = ()


class ProcedureCatalog(Document):
    """Procedures: sequences of tool calls that run without a language model."""

    kind: Literal["orgkernel:procedure_catalog"] = Field(
        default="orgkernel:procedure_catalog", alias="_schema"
    )
    description: str = ""
    procedures: dict[Id, Procedure] = Field(default_factory=dict)
