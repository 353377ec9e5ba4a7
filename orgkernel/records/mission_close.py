"""`mission_close`: the planner's last report, after it has compared the results of all workers with the brief. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Literal
import msgspec
from orgkernel.records.record import Record
from orgkernel.records.result import GateVerdict, ReportStatus, SessionReport


class ClosedWorker(Record, frozen=True, kw_only=True):
    """A worker of the mission and its result."""
    agent: str
    session: str | None = None
    result: str | None = None
    status: ReportStatus


class MissionClose(SessionReport, frozen=True, kw_only=True):
    """One close of a mission."""
    kind: Literal['orgkernel:mission_close'] = msgspec.field(default='orgkernel:mission_close', name='_schema')
    consensus_score: float | None = None
    verdict: GateVerdict | None = None
    workers: tuple[ClosedWorker, ...] | None = None
