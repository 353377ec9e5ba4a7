"""`result`: what a session reports at its end. Written exactly once; a correction is a record of its own. Generated from `orgkernel/model` by `make regenerate`: do not edit."""

from __future__ import annotations
from typing import Literal
import msgspec
from orgkernel.records.contract import Contract, Seconds, Time
from orgkernel.records.record import Id, Record
Status = Literal['done_clean', 'pending', 'failed']
Verdict = Literal['satisfied', 'partial', 'unsatisfied']


class Evidence(Record, frozen=True, kw_only=True):
    """What was run, and what it said."""
    verify_command: str | None = None
    verify_exit_code: int | None = None
    verify_stdout: str | None = None
    verify_stderr: str | None = None
    artefacts: tuple[str, ...] = ()
    backups: tuple[str, ...] = ()


class Audit(Record, frozen=True, kw_only=True):
    """The audits of the work."""
    gates_required: tuple[Id, ...] = ()
    gates_passed: tuple[Id, ...] = ()
    scores: dict[Id, float] = msgspec.field(default_factory=dict)
    verdict: Verdict | None = None


class Shipping(Record, frozen=True, kw_only=True):
    """Whether the work was shipped."""
    requested: bool = False
    result: Literal['ok', 'failed', 'skipped', 'frozen'] | None = None
    commit: str | None = None
    deploy_url: str | None = None
    deploy_status: Literal['READY', 'ERROR', 'TIMEOUT'] | None = None


class Report(Contract, frozen=True, kw_only=True):
    """What a result, a correction and the close of a mission say."""
    id: str | None = None
    brief: str | None = None
    session: str | None = None
    agent: str
    project: str | None = None
    status: Status
    started_at: Time
    finished_at: Time
    duration_sec: Seconds | None = None
    mission: str | None = None
    evidence: Evidence = Evidence()
    audit: Audit = Audit()
    regressions: tuple[str, ...] | None = None
    pending_actions: tuple[str, ...] = ()
    ship: Shipping | None = None
    refusal_reason: str | None = None
    approved_by: str | None = None
    report_path: str | None = None


class Result(Report, frozen=True, kw_only=True):
    """One result."""
    kind: Literal['orgkernel:result'] = msgspec.field(default='orgkernel:result', name='_schema')
