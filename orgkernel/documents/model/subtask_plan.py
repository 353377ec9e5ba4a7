"""`subtask_plan`: the subtasks of a mission, their files, and their dependencies."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from orgkernel.documents.model.contract import Contract
from orgkernel.documents.model.record import DomainId, Id, Record, ToolId


class Subtask(Record):
    """A piece of work for one worker."""

    id: Id
    kind: Literal["narrow", "broad", "terminal"] | None = None
    """`narrow`: its files are known. `broad`: they are not known. `terminal`: it changes package manifests, lock
    files or migrations, or must come last for another reason. Default: `terminal` if one of its files is of such a
    kind, otherwise `narrow`."""
    files: tuple[str, ...] = ()
    """Paths of the files that it may write, relative to the root of the project."""
    depends_on: tuple[Id, ...] = ()
    """Subtasks that must be done before it starts."""
    domain: DomainId | None = None
    """Domain of the work. If it is stated, dispatch names the role and the agent, and without one the subtask waits."""
    needs: tuple[ToolId, ...] = ()
    """Tools that the role must be equipped with. They need a `domain`."""


class SubtaskPlan(Contract):
    """The subtasks of a mission, from which batches are built."""

    kind: Literal["orgkernel:subtask_plan"] = Field(default="orgkernel:subtask_plan", alias="_schema")
    batch_size: Annotated[int, Field(ge=1, le=4)] = 3
    """Maximum number of narrow subtasks that run at the same time."""
    subtasks: Annotated[tuple[Subtask, ...], Field(max_length=500)]
    """The subtasks, in the planner's preferred order."""
