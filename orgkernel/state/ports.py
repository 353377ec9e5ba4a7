"""What a store offers, as its callers may rely on; `store.Store` is one, a fake of a test may be another.

Every method that changes something raises `StoreError` when the change could not be written (and then nothing of it
is), and a `Refused` with a stable code when the state does not allow it. Times are seconds since 1970-01-01 UTC.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from orgkernel.decisions.state_records import (
    AccessRequest,
    ApiKey,
    Approval,
    AuditEntry,
    GrantUse,
    ReportReceipt,
    RequestKind,
    RequestStatus,
    Scope,
    ToolUse,
)
from orgkernel.decisions.state_view import (
    AgentState,
    Grant,
    Lifecycle,
    QualificationResult,
    Restriction,
    StateView,
    StoredReport,
    ToolLock,
    Waiver,
)
from orgkernel.records.levels import ToolLevel
from orgkernel.state.ticket import Ticket


class AgentStore(Protocol):
    """Rank, trust and lifecycle of agents."""

    def add(
        self, agent_id: str, *, actor: str, rank: str | None = None, trust: float | None = None,
        lifecycle: Lifecycle = "active", reason: str = "",
    ) -> AgentState: ...  # fmt: skip
    def set_rank(self, agent_id: str, rank: str | None, *, actor: str, reason: str = "") -> AgentState: ...
    def set_trust(
        self, agent_id: str, trust: float | None, *, actor: str, reason: str = ""
    ) -> AgentState: ...
    def move(self, agent_id: str, lifecycle: Lifecycle, *, actor: str, reason: str = "") -> AgentState: ...
    def get(self, agent_id: str) -> AgentState | None: ...
    def list(self) -> tuple[AgentState, ...]: ...


class GrantStore(Protocol):
    """Permissions in addition to roles and policies."""

    def issue(
        self, subject: str, resources: Sequence[str], *, issued_by: str, level: ToolLevel = "full",
        waives: Sequence[Waiver] = (), org_id: str | None = None, channel: str | None = None,
        session: str | None = None, reason: str = "", expires_at: float | None = None, uses: int | None = None,
    ) -> Grant: ...  # fmt: skip
    def revoke(self, grant_id: str, *, actor: str, reason: str = "") -> Grant: ...
    def expire(self) -> tuple[Grant, ...]: ...
    def get(self, grant_id: str) -> Grant | None: ...
    def list(self, subject: str | None = None, *, active_only: bool = False) -> tuple[Grant, ...]: ...
    def uses(self, grant_id: str) -> tuple[GrantUse, ...]: ...
    def count_uses(self) -> Mapping[str, int]: ...


class RestrictionStore(Protocol):
    """Upper bounds."""

    def issue(
        self, subject: str, resources: Sequence[str], *, issued_by: str, level: ToolLevel = "none",
        org_id: str | None = None, reason: str = "", expires_at: float | None = None,
    ) -> Restriction: ...  # fmt: skip
    def revoke(self, restriction_id: str, *, actor: str, reason: str = "") -> Restriction: ...
    def expire(self) -> int: ...
    def get(self, restriction_id: str) -> Restriction | None: ...
    def list(self, subject: str | None = None, *, active_only: bool = False) -> tuple[Restriction, ...]: ...


class RequestStore(Protocol):
    """Requests for a permission and their answers."""

    def create(
        self, requester: str, resources: Sequence[str], *, kind: RequestKind = "access",
        level: ToolLevel = "full", waives: Sequence[Waiver] = (), org_id: str | None = None,
        channel: str | None = None, session: str | None = None, reason: str = "", summary: str = "",
        original_message: str = "", tool_call_id: str | None = None, context: Mapping[str, Any] | None = None,
    ) -> AccessRequest: ...  # fmt: skip
    def approve(
        self, request_id: str, approval: Approval, *, responder: str, reason: str = ""
    ) -> tuple[AccessRequest, Grant]: ...
    def deny(self, request_id: str, *, responder: str, reason: str = "") -> AccessRequest: ...
    def expire(self) -> int: ...
    def get(self, request_id: str) -> AccessRequest | None: ...
    def list(
        self, status: RequestStatus | None = None, requester: str | None = None
    ) -> tuple[AccessRequest, ...]: ...


class ResultStore(Protocol):
    """Outcomes of qualification tests."""

    def record(
        self, agent_id: str, qualification: str, *, score: float, passed: bool, actor: str,
        expires_at: float | None = None, reason: str = "",
    ) -> QualificationResult: ...  # fmt: skip
    def list(self, agent_id: str | None = None) -> tuple[QualificationResult, ...]: ...


class LockStore(Protocol):
    """Exclusive tools in somebody's hands."""

    def acquire(
        self, org_id: str, tool_id: str, holder: str, *, timeout: float | None = None, reason: str = ""
    ) -> ToolLock: ...
    def release(self, org_id: str, tool_id: str, holder: str, token: int) -> ToolLock: ...
    def break_(self, org_id: str, tool_id: str, *, actor: str, reason: str = "") -> ToolLock: ...
    def check(self, org_id: str, tool_id: str, holder: str, token: int) -> ToolLock: ...
    def list(self, org_id: str | None = None) -> tuple[ToolLock, ...]: ...


class UsageStore(Protocol):
    """Calls of tools."""

    def record(
        self, agent_id: str, tool_id: str, *, action: str = "use", ok: bool = True, code: str = "",
        seconds: float = 0.0, org_id: str = "", decision: str = "",
    ) -> Ticket: ...  # fmt: skip
    def list(self, agent_id: str | None = None) -> tuple[ToolUse, ...]: ...


class ReportStore(Protocol):
    """SALUTE reports: what roles say of themselves."""

    def record(self, body: Mapping[str, Any], *, actor: str, agent_id: str = "") -> ReportReceipt: ...
    def submit(self, body: Mapping[str, Any], *, actor: str, agent_id: str = "") -> Ticket: ...
    def latest(self, org_id: str | None = None, role_id: str | None = None) -> tuple[StoredReport, ...]: ...
    def history(
        self, org_id: str | None = None, role_id: str | None = None, *, before: int | None = None, limit: int = 100
    ) -> tuple[StoredReport, ...]: ...  # fmt: skip
    def after(
        self, number: int, org_id: str | None = None, role_id: str | None = None, *, limit: int = 500
    ) -> tuple[StoredReport, ...]: ...  # fmt: skip
    def last_number(self) -> int: ...
    def drop_old(self, kept_seconds: float | None = None) -> int: ...


class KeyStore(Protocol):
    """Who may ask and change what over HTTP."""

    def create(
        self, name: str, scopes: Sequence[Scope], *, created_by: str, agent_id: str | None = None,
        expires_at: float | None = None,
    ) -> tuple[ApiKey, str]: ...  # fmt: skip
    def create_first(self, *, created_by: str) -> tuple[ApiKey, str] | None: ...
    def revoke(self, key_id: str, *, actor: str, reason: str = "") -> ApiKey: ...
    def find(self, secret: str) -> ApiKey | None: ...
    def list(self) -> tuple[ApiKey, ...]: ...


class Audit(Protocol):
    """What was decided and done, written so that a change shows."""

    def write(self, entry: AuditEntry, uses: Sequence[str] = ()) -> str: ...
    def submit(self, entry: AuditEntry, uses: Sequence[str] = ()) -> Ticket: ...


class State(Protocol):
    """An open store."""

    @property
    def agents(self) -> AgentStore: ...
    @property
    def grants(self) -> GrantStore: ...
    @property
    def restrictions(self) -> RestrictionStore: ...
    @property
    def requests(self) -> RequestStore: ...
    @property
    def results(self) -> ResultStore: ...
    @property
    def locks(self) -> LockStore: ...
    @property
    def usage(self) -> UsageStore: ...
    @property
    def reports(self) -> ReportStore: ...
    @property
    def keys(self) -> KeyStore: ...
    @property
    def audit(self) -> Audit: ...
    def read_view(self, org_id: str | None = None) -> StateView: ...
    def last_view(self, org_id: str | None = None) -> StateView: ...
    def expire(self) -> None: ...
    def close(self) -> None: ...
