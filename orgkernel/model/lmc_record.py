"""`lmc_record`: the attempts of a lead, a manager and a checker."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from orgkernel.model.contract import Contract, Fraction
from orgkernel.model.record import Record

Name = Annotated[str, Field(min_length=1)]


class ManagerOutput(Record):
    """What the manager delivers."""

    agent: Name
    brief: str = ""
    """The task in one line."""
    status: Literal["DONE", "PARTIAL", "BLOCKED"]
    confidence: Fraction
    artifacts: tuple[str, ...] = ()
    """Paths of files."""


class CheckerVerdict(Record):
    """What an independent checker says about it."""

    agent: Name
    decision: Literal["PASS", "FAIL"]
    confidence: Fraction
    issues: tuple[str, ...] = ()
    feedback: str | None = None
    """Guidance for the next attempt."""


class LmcAttempt(Record):
    """One attempt."""

    manager: ManagerOutput | None = None
    checker: CheckerVerdict | None = None


class LmcRecord(Contract):
    """One record of lead, manager and checker."""

    kind: Literal["orgkernel:lmc_record"] = Field(default="orgkernel:lmc_record", alias="_schema")
    brief: str | None = None
    """Id of the brief."""
    mode: Literal["full", "lite", "direct"]
    lead: Name
    """Who leads."""
    attempts: tuple[LmcAttempt, ...] = ()
    """The attempts in order."""
    escalated_to: str | None = None
    """The dispatcher who was told that three attempts in a row failed."""
