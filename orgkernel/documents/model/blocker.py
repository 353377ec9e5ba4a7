"""`blocker`: a question to a human, asked while the work continues."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from orgkernel.documents.model.contract import Contract, WrittenTime


class Blocker(Contract):
    """A blocker: a question that a worker cannot answer itself."""

    model_config = ConfigDict(
        json_schema_extra={
            "required": [
                "session", "blocked_at", "question", "best_guess", "fallback_action", "can_resume_without_answer",
            ]
        }
    )  # fmt: skip

    kind: Literal["orgkernel:blocker"] = Field(default="orgkernel:blocker", alias="_schema")
    session: Annotated[str, Field(min_length=1)]
    """Name of the session that asks."""
    id: str | None = None
    """UUID of version 4, by which an answer names the blocker."""
    agent: str | None = None
    """The agent that asks. Default: the agent whose credential stores the blocker."""
    brief: str | None = None
    """Id of the brief."""
    blocked_at: WrittenTime
    question: str | None = None
    """The missing or ambiguous requirement."""
    best_guess: str | None = None
    """The answer that the agent would choose."""
    fallback_action: str | None = None
    """The action of the agent in the meantime."""
    can_resume_without_answer: bool | None = None
    """Whether the work can be finished without an answer. It must be true."""
    human_required_for: Literal["credential", "destructive op", "scope expansion"] | None = None
    """The reason why only a human can answer. Absent for an ambiguous requirement."""
