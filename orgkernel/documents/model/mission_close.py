"""`mission_close`: the planner's last report, after it has compared the results of all workers with the brief."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from orgkernel.documents.model.record import Record
from orgkernel.documents.model.result import GateVerdict, ReportStatus, SessionReport


class ClosedWorker(Record):
    """A worker of the mission and its result."""

    agent: Annotated[str, Field(min_length=1)]
    session: str | None = None
    result: str | None = None
    """Id of the worker's result."""
    status: ReportStatus


class MissionClose(SessionReport):
    """The close of a mission: the final report of its planner."""

    model_config = ConfigDict(
        json_schema_extra={
            "required": [
                "agent", "status", "started_at", "finished_at", "consensus_score", "regressions", "verdict", "workers",
            ]
        }
    )  # fmt: skip

    kind: Literal["orgkernel:mission_close"] = Field(default="orgkernel:mission_close", alias="_schema")
    consensus_score: Annotated[float, Field(ge=0.0, le=100.0)] | None = None
    """How far the audits agree, from 0 to 100."""
    verdict: GateVerdict | None = None
    workers: tuple[ClosedWorker, ...] | None = None
    """Every worker of the mission."""
