"""`lmc_record`: the attempts of a lead, a manager and a checker."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from orgkernel.documents.model.contract import Confidence, Contract
from orgkernel.documents.model.record import Record

AgentName = Annotated[str, Field(min_length=1)]


class ManagerOutput(Record):
    """The output of the manager."""

    agent: AgentName
    brief: str = ""
    """The task in one line."""
    status: Literal["DONE", "PARTIAL", "BLOCKED"]
    confidence: Confidence
    artifacts: tuple[str, ...] = ()
    """Paths of files."""


class CheckerVerdict(Record):
    """The verdict of an independent checker on the output."""

    agent: AgentName
    decision: Literal["PASS", "FAIL"]
    confidence: Confidence
    issues: tuple[str, ...] = ()
    feedback: str | None = None
    """Guidance for the next attempt."""


class LmcAttempt(Record):
    """One attempt."""

    manager: ManagerOutput | None = None
    checker: CheckerVerdict | None = None


class LmcRecord(Contract):
    """A record of how a lead, a manager and a checker (LMC) arrived at a result."""

    kind: Literal["orgkernel:lmc_record"] = Field(default="orgkernel:lmc_record", alias="_schema")
    brief: str | None = None
    """Id of the brief."""
    mode: Literal["full", "lite", "direct"]
    lead: AgentName
    """The agent that leads."""
    attempts: tuple[LmcAttempt, ...] = ()
    """The attempts in order."""
    escalated_to: str | None = None
    """The sender that was informed after three failed attempts in a row."""
