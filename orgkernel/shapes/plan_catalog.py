"""`plan_catalog`: hierarchical task network (HTN) plans, their domains, steps and the tools each step needs. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Annotated, Literal
import msgspec
from orgkernel.shapes.record import Document, DomainId, PlanId, Record, ToolId


class PlanStep(Record, frozen=True, kw_only=True):
    """One step of a plan."""
    step: str
    tools: tuple[ToolId, ...] = ()
StepEntry = str | PlanStep


class Plan(Record, frozen=True, kw_only=True):
    """A plan that roles can follow."""
    name: str = ''
    description: str = ''
    domains: tuple[DomainId, ...] = ()
    steps: tuple[StepEntry, ...] = ()
    tools: tuple[ToolId, ...] = ()
    stale_after_turns: Annotated[int, msgspec.Meta(ge=1)] | None = None


class PlanCatalog(Document, frozen=True, kw_only=True):
    """Plans."""
    kind: Literal['orgkernel:plan_catalog'] = msgspec.field(default='orgkernel:plan_catalog', name='_schema')
    description: str = ''
    plans: dict[PlanId, Plan] = msgspec.field(default_factory=dict)
