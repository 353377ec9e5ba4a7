"""`decision_cases`: a user's own tests for their organisation, run by `orgkernel test`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from orgkernel.model.record import Document, Id, OrgId, Record, ToolId


class DispatchQuestion(Record):
    """Who takes this?"""

    domain: Id
    needs: tuple[ToolId, ...] = ()
    """Tools the taker must be equipped with."""


class DispatchCase(Record):
    """A question with the answer that is expected; lists are complete where they are written."""

    ask: DispatchQuestion
    outcome: Literal["role", "not_applicable"]
    role_id: Id | None = None
    plans: tuple[Id, ...] | None = None
    """Plans the role follows for that domain, in order."""
    tools: tuple[ToolId, ...] | None = None
    """Tools in order of preference."""
    because: tuple[str, ...] | None = None
    """Codes of the reasons, in order."""


class Case(Record):
    """Expectations about one organisation, under a sentence that says what is true."""

    name: str
    org: OrgId
    dispatch: Annotated[tuple[DispatchCase, ...], Field(min_length=1)]


class DecisionCases(Document):
    """Cases."""

    kind: Literal["orgkernel:decision_cases"] = Field(default="orgkernel:decision_cases", alias="_schema")
    description: str = ""
    cases: tuple[Case, ...]
