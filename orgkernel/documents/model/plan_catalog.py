"""`plan_catalog`: hierarchical task network (HTN) plans, their domains, steps and the tools each step needs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from orgkernel.documents.model.record import Document, DomainId, PlanId, Record, ToolId


class PlanStep(Record):
    """One step of a plan."""

    step: str
    """Description of the step."""
    tools: tuple[ToolId, ...] = ()
    """Tools the step needs."""


def _step_form(value: Any) -> str:
    return "(step-text)" if isinstance(value, str) else "(step)"


StepEntry = Annotated[
    Annotated[str, Tag("(step-text)")] | Annotated[PlanStep, Tag("(step)")], Discriminator(_step_form)
]


class Plan(Record):
    """A plan that roles can follow."""

    name: str = ""
    description: str = ""
    domains: tuple[DomainId, ...] = ()
    """Domains that the plan serves."""
    steps: tuple[StepEntry, ...] = ()
    tools: tuple[ToolId, ...] = ()
    """Tools that the plan needs in addition to those of its steps."""
    stale_after_turns: Annotated[int, Field(ge=1)] | None = None
    """Number of model calls without progress after which the runtime abandons the plan. No decision depends on it."""


class PlanCatalog(Document):
    """Plans: steps for tasks of a domain."""

    kind: Literal["orgkernel:plan_catalog"] = Field(default="orgkernel:plan_catalog", alias="_schema")
    description: str = ""
    plans: dict[PlanId, Plan] = Field(default_factory=dict)
