"""`result`: the report of a session at its end. It is written exactly once. A correction is a separate record."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from orgkernel.documents.model.contract import Contract, Duration, WrittenTime
from orgkernel.documents.model.record import Id, Record

ReportStatus = Literal["done_clean", "pending", "failed"]
CommitId = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]
GateVerdict = Literal["satisfied", "partial", "unsatisfied"]


class VerifyEvidence(Record):
    """The command that was run, and its output."""

    verify_command: str | None = None
    """The verify command as it was run."""
    verify_exit_code: int | None = None
    verify_stdout: str | None = None
    verify_stderr: str | None = None
    artefacts: tuple[str, ...] = ()
    """Paths of screenshots, logs and other files."""
    backups: tuple[str, ...] = ()
    """Paths of backups that were made before destructive operations."""


class AuditSummary(Record):
    """The audits of the work."""

    gates_required: tuple[Id, ...] = ()
    gates_passed: tuple[Id, ...] = ()
    scores: dict[Id, float] = Field(default_factory=dict)
    """Score by audit."""
    verdict: GateVerdict | None = None


class Shipping(Record):
    """Whether the work was shipped."""

    requested: bool = False
    result: Literal["ok", "failed", "skipped", "frozen"] | None = None
    commit: str | None = None
    deploy_url: str | None = None
    deploy_status: Literal["READY", "ERROR", "TIMEOUT"] | None = None


class StatedChanges(Record):
    """The files that the work changed, between two commits."""

    base: CommitId
    """Full id of the commit at which the work began."""
    head: CommitId
    """Full id of the commit at which it ended."""
    files: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """The changed files, from the root of the repository."""
    no_audit: bool = False
    """Whether the ownership audit was left out. The governance document must say that audits are optional."""


class SessionReport(Contract):
    """The fields shared by a result, a correction and the close of a mission."""

    id: str | None = None
    """UUID of version 4."""
    brief: str | None = None
    """Id of the brief."""
    session: str | None = None
    """Name of the session that reports."""
    agent: Annotated[str, Field(min_length=1)]
    """The agent that did the work."""
    project: str | None = None
    status: ReportStatus
    started_at: WrittenTime
    finished_at: WrittenTime
    duration_sec: Duration | None = None
    mission: str | None = None
    """The mission, copied from the brief."""
    evidence: VerifyEvidence = VerifyEvidence.model_construct()
    audit: AuditSummary = AuditSummary.model_construct()
    changes: StatedChanges | None = None
    """The changed files. If they are stated, `done_clean` needs a clean ownership audit of the same commits."""
    regressions: tuple[str, ...] | None = None
    """Features that worked before and no longer do."""
    pending_actions: tuple[str, ...] = ()
    """Remaining actions."""
    ship: Shipping | None = None
    refusal_reason: str | None = None
    """The reason for refusing the work, if it was refused."""
    approved_by: str | None = None
    """The agent or person who approved the work, if anyone has."""
    report_path: str | None = None


class Result(SessionReport):
    """A result: the final report of a worker's session."""

    kind: Literal["orgkernel:result"] = Field(default="orgkernel:result", alias="_schema")
