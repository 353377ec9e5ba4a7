"""`decision_entry`: an entry of the decision log. Entries are never changed; a later one may supersede an earlier one."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from orgkernel.documents.model.contract import Contract, WrittenTime
from orgkernel.documents.model.record import Id


def _lower(value: Any) -> Any:
    """Convert to lower case, because the log writes classes in capitals."""
    return value.lower() if isinstance(value, str) else value


class DecisionEntry(Contract):
    """An entry of the decision log: a decision with its rationale and falsifier."""

    model_config = ConfigDict(
        json_schema_extra={
            "required": [
                "timestamp", "title", "task", "classification", "decision", "rationale", "falsifier",
            ]
        }
    )  # fmt: skip

    kind: Literal["orgkernel:decision_entry"] = Field(default="orgkernel:decision_entry", alias="_schema")
    id: str | None = None
    """UUID of version 4."""
    timestamp: WrittenTime | None = None
    title: str | None = None
    task: str | None = None
    """The request."""
    classification: (
        Annotated[Literal["simple", "medium", "complex", "epic"], BeforeValidator(_lower)] | None
    ) = None
    """Class of the mission."""
    decision: str | None = None
    """The choice."""
    rationale: str | None = None
    """The reason, in one line."""
    falsifier: str | None = None
    """The check that would prove the decision wrong."""
    supersedes: str | None = None
    """Id of the entry that this one replaces."""
    answers: str | None = None
    """Id of the blocker that the decision answers. The blocker is open until then."""
    written_by: Id | None = None
    """Position of the writer: `intake`, `planner`, `worker`, or a role or layer of the organization."""
    agent: str | None = None
    """The agent that decided."""
    session: str | None = None
    """Session of the agent. A worker must name it."""
    corrects_premise: str | None = None
    """The premise of its brief that a worker found wrong. Only then may a worker write to the log."""
