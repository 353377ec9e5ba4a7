"""`mission_close`: the planner's last report, after it has compared the results of all workers with the brief. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Annotated, Literal
import msgspec
from orgkernel.shapes.record import Record
from orgkernel.shapes.result import GateVerdict, ReportStatus, SessionReport


class ClosedWorker(Record, frozen=True, kw_only=True):
    """A worker of the mission and its result."""
    agent: Annotated[str, msgspec.Meta(min_length=1)]
    session: str | None = None
    result: str | None = None
    status: ReportStatus


class MissionClose(SessionReport, frozen=True, kw_only=True):
    """One close of a mission."""
    kind: Literal['orgkernel:mission_close'] = msgspec.field(default='orgkernel:mission_close', name='_schema')
    consensus_score: Annotated[float, msgspec.Meta(ge=0.0, le=100.0)] | None = None
    verdict: GateVerdict | None = None
    workers: tuple[ClosedWorker, ...] | None = None
