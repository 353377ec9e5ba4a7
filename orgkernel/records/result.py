"""`result`: what a session reports at its end. Written exactly once; a correction is a record of its own. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Literal
import msgspec
from orgkernel.records.contract import Contract, Duration, WrittenTime
from orgkernel.records.record import Id, Record
ReportStatus = Literal['done_clean', 'pending', 'failed']
GateVerdict = Literal['satisfied', 'partial', 'unsatisfied']


class VerifyEvidence(Record, frozen=True, kw_only=True):
    """What was run, and what it said."""
    verify_command: str | None = None
    verify_exit_code: int | None = None
    verify_stdout: str | None = None
    verify_stderr: str | None = None
    artefacts: tuple[str, ...] = ()
    backups: tuple[str, ...] = ()


class AuditSummary(Record, frozen=True, kw_only=True):
    """The audits of the work."""
    gates_required: tuple[Id, ...] = ()
    gates_passed: tuple[Id, ...] = ()
    scores: dict[Id, float] = msgspec.field(default_factory=dict)
    verdict: GateVerdict | None = None


class Shipping(Record, frozen=True, kw_only=True):
    """Whether the work was shipped."""
    requested: bool = False
    result: Literal['ok', 'failed', 'skipped', 'frozen'] | None = None
    commit: str | None = None
    deploy_url: str | None = None
    deploy_status: Literal['READY', 'ERROR', 'TIMEOUT'] | None = None


class SessionReport(Contract, frozen=True, kw_only=True):
    """What a result, a correction and the close of a mission say."""
    id: str | None = None
    brief: str | None = None
    session: str | None = None
    agent: str
    project: str | None = None
    status: ReportStatus
    started_at: WrittenTime
    finished_at: WrittenTime
    duration_sec: Duration | None = None
    mission: str | None = None
    evidence: VerifyEvidence = VerifyEvidence()
    audit: AuditSummary = AuditSummary()
    regressions: tuple[str, ...] | None = None
    pending_actions: tuple[str, ...] = ()
    ship: Shipping | None = None
    refusal_reason: str | None = None
    approved_by: str | None = None
    report_path: str | None = None


class Result(SessionReport, frozen=True, kw_only=True):
    """One result."""
    kind: Literal['orgkernel:result'] = msgspec.field(default='orgkernel:result', name='_schema')
