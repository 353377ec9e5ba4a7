"""`subtask_plan`: the subtasks of a mission, the files of each, and what depends on what. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Annotated, Literal
import msgspec
from orgkernel.shapes.contract import Contract
from orgkernel.shapes.record import Id, Record


class Subtask(Record, frozen=True, kw_only=True):
    """A piece of work for one worker."""
    id: Id
    kind: Literal['narrow', 'broad', 'terminal'] | None = None
    files: tuple[str, ...] = ()
    depends_on: tuple[Id, ...] = ()


class SubtaskPlan(Contract, frozen=True, kw_only=True):
    """The subtasks of a mission, from which batches are made."""
    kind: Literal['orgkernel:subtask_plan'] = msgspec.field(default='orgkernel:subtask_plan', name='_schema')
    batch_size: Annotated[int, msgspec.Meta(ge=1, le=4)] = 3
    subtasks: Annotated[tuple[Subtask, ...], msgspec.Meta(max_length=500)]
