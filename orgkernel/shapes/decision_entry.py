"""`decision_entry`: an entry of the decision log. Entries are never changed; a later one may supersede an earlier one. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Literal
import msgspec
from orgkernel.shapes.contract import Contract, WrittenTime


class DecisionEntry(Contract, frozen=True, kw_only=True):
    """One entry of the decision log."""
    kind: Literal['orgkernel:decision_entry'] = msgspec.field(default='orgkernel:decision_entry', name='_schema')
    id: str | None = None
    timestamp: WrittenTime | None = None
    title: str | None = None
    task: str | None = None
    classification: Literal['simple', 'medium', 'complex', 'epic'] | None = None
    decision: str | None = None
    rationale: str | None = None
    falsifier: str | None = None
    supersedes: str | None = None
    answers: str | None = None
    written_by: Literal['intake', 'planner', 'worker'] | None = None
    agent: str | None = None
    corrects_premise: str | None = None
