"""`procedure_catalog`: executable skills, which are run step by step instead of thought through each time. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Annotated, Literal
import msgspec
from orgkernel.shapes.record import Document, Id, Record, SkillId, ToolId
CompilationLevel = Annotated[int, msgspec.Meta(ge=1, le=5)]
SkillName = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


class ToolNeed(Record, frozen=True, kw_only=True):
    """A tool that a step calls, with the action."""
    tool: ToolId
    action: Id | None = None
ToolNeedEntry = ToolId | ToolNeed


class ProcedureStep(Record, frozen=True, kw_only=True):
    """A step of a procedure."""
    id: Id
    name: str = ''
    required_tools: tuple[ToolNeedEntry, ...] = ()


class Procedure(Record, frozen=True, kw_only=True):
    """A procedure that a role can run."""
    name: str = ''
    description: str = ''
    intents: tuple[Id, ...] = ()
    skill: SkillId | None = None
    compilation_level: CompilationLevel = 1
    falls_back_to: SkillName | None = None
    steps: tuple[ProcedureStep, ...] = ()


class ProcedureCatalog(Document, frozen=True, kw_only=True):
    """Procedures."""
    kind: Literal['orgkernel:procedure_catalog'] = msgspec.field(default='orgkernel:procedure_catalog', name='_schema')
    description: str = ''
    procedures: dict[Id, Procedure] = msgspec.field(default_factory=dict)
