"""Stored records that decisions do not read: requests, keys, uses, audit rows (compare
`decisions/evidence/state_view.py`).

Times are seconds since 1970-01-01 UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from orgkernel.decisions.evidence.state_view import Grant, SkillSource, Waiver
from orgkernel.documents.records import ToolLevel

RequestKind = Literal["access", "command", "action"]
"""The kind of a request: a standing permission, one interactive command, or one single action. Each has its own timeout."""
RequestStatus = Literal["pending", "approved", "denied", "expired"]
Approval = Literal["once", "day", "always"]
KeyScope = Literal["read", "request", "grant", "approve", "rank", "lock", "report", "admin"]
"""The scope of an API key; `admin` includes all, even keys."""
SCOPES: tuple[KeyScope, ...] = ("read", "request", "grant", "approve", "rank", "lock", "report", "admin")
KEY_PREFIX = "orgk_"
"""The prefix of every key, so a leaked key can be recognized."""

AuditKind = Literal[
    "decision",
    "usage",
    "agent",
    "grant",
    "restriction",
    "request",
    "result",
    "skill",
    "episode",
    "status",
    "lock",
    "key",
    "report",
    "contract",
    "claim",
    "limit",
    "handoff",
    "audit",
    "dispatch",
]
"""`dispatch` is the former name of `handoff`, and is only read. Entries are chained, so older ones keep it."""
AuditProblem = Literal["changed", "missing", "reordered", "cut_off", "restored", "unproven"]
AuditVerdict = Literal["whole", "unproven", "changed"]
Stream = Literal["decision", "history"]
"""The audit chains. Decisions and usage are kept for a shorter time than the history of grants, so each has its own chain."""
_SHORT: frozenset[AuditKind] = frozenset({"decision", "usage", "limit"})


def get_stream(kind: AuditKind) -> Stream:
    """The chain of rows of this kind."""
    return "decision" if kind in _SHORT else "history"


class RequestApproval(msgspec.Struct, frozen=True):
    """One approval of a request that needs several. It counts while its approver may approve."""

    approver: str
    """The approver as `kind:ID`, or `operator` for every credential that belongs to no subject."""
    at: float
    approval: Approval = "once"
    credential: str = ""
    """The name of the credential in the audit."""
    principals: tuple[str, ...] = ()
    """The approver with the subjects that count as the same: the agents in its role, and the person who runs it."""
    reason: str = ""


class PermissionRequest(msgspec.Struct, frozen=True):
    """A stored request for a permission.

    >>> from orgkernel import PermissionRequest
    >>> PermissionRequest("r-1", "agent:clerk", ("tool:browser_agent",), 0.0, 3600.0).status
    'pending'
    """

    request_id: str
    requester: str
    resources: tuple[str, ...]
    created_at: float
    expires_at: float
    kind: RequestKind = "access"
    level: ToolLevel = "full"
    waives: tuple[Waiver, ...] = ()
    org_id: str | None = None
    """The organization of the request; `*` for all of them."""
    channel: str | None = None
    session: str | None = None
    reason: str = ""
    summary: str = ""
    original_message: str = ""
    tool_call_id: str | None = None
    context: Mapping[str, Any] | None = None
    status: RequestStatus = "pending"
    responder: str | None = None
    response: str | None = None
    """The answer: `once`, `day`, `always` or `deny`."""
    response_at: float | None = None
    response_reason: str = ""
    """The words of the answer, for the requester."""
    grant_id: str | None = None
    action: str | None = None
    """The only requested action; None for every action of the level."""
    input_digest: str | None = None
    """SHA-256 of the only input that the request is for; None for every input."""
    snapshot: str | None = None
    """The digest of the only version of the documents that the request is for; None for every version."""
    approvals: tuple[RequestApproval, ...] = ()
    """The approvals so far, oldest first, if policies require several."""


def grant_asked_for(request: PermissionRequest) -> Grant:
    """The grant that a request asks for. It has no id yet."""
    return Grant(
        "", request.requester, request.resources, request.level, request.waives, request.org_id or "", request.channel,
        request.session, action=request.action, input_digest=request.input_digest,
        snapshot=request.snapshot,
    )  # fmt: skip


class ApiKey(msgspec.Struct, frozen=True):
    """An API key without its secret. Only the SHA-256 of the secret is stored."""

    key_id: str
    name: str
    scopes: tuple[KeyScope, ...]
    created_at: float
    agent_id: str | None = None
    """The agent that uses it. Such a key can never issue or approve for that agent."""
    created_by: str = ""
    expires_at: float | None = None
    revoked_at: float | None = None
    person_id: str | None = None
    """The person who uses it, or who runs the agent that does."""
    org_ids: tuple[str, ...] = ()
    """The organizations it is valid in. Empty for an operator's key means all. An agent or a person is a
    different one in
    each organization, even under the same name, so the key of one without an organization is not valid in any.
    """

    @property
    def is_unbound(self) -> bool:
        """Whether it names an agent or a person without the organization that declares it, so it is not valid in
        any.
        """
        return not self.org_ids and (self.agent_id is not None or self.person_id is not None)

    @property
    def bound_to(self) -> frozenset[str] | None:
        """The organizations it is valid in; None for all."""
        return frozenset(self.org_ids) if self.org_ids or self.is_unbound else None

    def is_active(self, now: float) -> bool:
        """Whether it is still valid."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class GrantUse(msgspec.Struct, frozen=True):
    """One use of a grant, with the audit row of its decision."""

    grant_id: str
    at: float
    audit_id: str


class ToolUsage(msgspec.Struct, frozen=True):
    """The number of calls of a tool by an agent."""

    agent_id: str
    tool_id: str
    uses: int
    failures: int
    first_at: float
    last_at: float
    seconds: float = 0.0


SkillActivity = Literal["acquired", "exercised", "assessed", "raised", "lowered", "suspended", "resumed"]


class SkillAssessment(msgspec.Struct, frozen=True):
    """One change of an agent's skill, as recorded in the history."""

    assessment_id: int
    org_id: str
    agent_id: str
    skill: str
    at: float
    activity: SkillActivity
    proficiency: int
    """The level after the change."""
    source: SkillSource
    actor: str
    note: str = ""


class ReportReceipt(msgspec.Struct, frozen=True):
    """The result of submitting a report.

    >>> from orgkernel import ReportReceipt
    >>> ReportReceipt("stored", 7).number
    7
    """

    outcome: Literal["stored", "known", "expired"]
    """`stored` for a new report; `known` for one that was stored before; `expired` for one older than reports are kept,
    if a later one exists.
    """
    number: int | None
    """The number of the report; None if it was not stored."""


INPUT_DIGEST = "input_sha256"
"""A key in the detail of a decision about a call: the SHA-256 of its arguments."""


class AuditEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """The audit entry of one decision or one change.

    `kind` and `activity` say what happened: a decision and its outcome, a grant and `created`, `used`, `expired` or
    `revoked`. Texts are masked when they are written; names of credentials may appear, their values never do.
    """

    kind: AuditKind
    at: float
    activity: str = ""
    """For a decision: allow, deny or ask. For a change: the act."""
    subject: str = ""
    """The subject as `kind:ID`."""
    actor: str = ""
    """The actor, if it is not the subject."""
    action: str = ""
    resource: str = ""
    code: str = ""
    """The reason code of the decision."""
    org_id: str = ""
    relationship: str = ""
    """The relationship of the subject, if it has one; `unknown` for a sender who is not in the directory."""
    channel: str = ""
    sender: str = ""
    session: str = ""
    record_id: str = ""
    """The grant, request, key or lock of the entry."""
    level: str = ""
    grants: tuple[str, ...] = ()
    policies_matched: tuple[str, ...] = ()
    policies_denied: tuple[str, ...] = ()
    snapshot: str = ""
    state_version: int = 0
    seconds: float | None = None
    """The duration in seconds."""
    reason: str = ""
    detail: Mapping[str, Any] | None = None


class AuditRow(msgspec.Struct, frozen=True):
    """An entry in the chain of its writer."""

    writer: str
    stream: Stream
    sequence: int
    previous: str
    digest: str
    entry: AuditEntry

    @property
    def audit_id(self) -> str:
        """The name of the row."""
        return audit_id(self.writer, self.stream, self.sequence)


def audit_id(writer: str, stream: str, sequence: int) -> str:
    """The name of a row: its chain, and its position in it."""
    return f"{writer}:{stream}:{sequence}"


class AuditFilter(msgspec.Struct, frozen=True):
    """A filter for rows. Every field that is set must match."""

    since: float | None = None
    until: float | None = None
    kind: str | None = None
    activity: str | None = None
    subject: str | None = None
    """A subject as `kind:ID`, or `kind:` for all subjects of a kind."""
    channel: str | None = None
    relationship: str | None = None
    record_id: str | None = None


class AuditFinding(msgspec.Struct, frozen=True):
    """A difference between the audit and what was written."""

    problem: AuditProblem
    row: str
    """The name of the row; for a checkpoint, the writer."""
    message: str


class OpenRows(msgspec.Struct, frozen=True):
    """Rows of a chain that are signed one by one, and that no checkpoint covers yet, such as after a process was killed.

    If the last of them were removed, nothing would show it.
    """

    first: str
    last: str
    rows: int
    """The number of rows."""


class CheckpointFolder(msgspec.Struct, frozen=True):
    """A folder of checkpoints that the rows of the audit were compared with."""

    folder: str
    has_key: bool
    """Whether it has the key that signs checkpoints. Without it, the folder proves nothing."""
    writers: tuple[str, ...]
    """The processes whose checkpoints it has. Each one has written chains of its own."""


class AcceptedFinding(msgspec.Struct, frozen=True):
    """A finding about the audit that was accepted."""

    at: float
    actor: str
    reason: str
    problem: str
    row: str
    message: str


class ContractRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A stored contract. Rows are only added, and each contains the digest of the row before it."""

    org_id: str
    sequence: int
    """The position among the contracts of the organization, from 1."""
    kind: str
    """The kind, such as `result`."""
    record_id: str
    brief_id: str | None
    session: str | None
    at: float
    """The time when it was stored."""
    actor: str
    """The actor who stored it."""
    previous: str
    digest: str
    body: dict[str, Any]
    """The contract."""
    handoff_id: str | None = None
    """The hand-off that the contract belongs to; null if it belongs to none, or was stored by an earlier version."""


class HandoffRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A hand-off that was permitted and recorded. Rows are only added, and each contains the digest of the row before it."""

    org_id: str
    number: int
    """The position among the hand-offs of the organization, from 1."""
    handoff_id: str
    at: float
    sender: str
    """The sender, such as `agent:ID` or `role:ID`."""
    receiver: str
    """The receiving role, as `role:ID`."""
    holder: str
    """The worker: an agent in that role, or the role if no agent was named."""
    session: str
    """The session of the worker."""
    from_session: str | None
    """The session of the sender."""
    brief: str | None
    """The id of the brief that was handed down."""
    mission: str | None
    """The id of the brief that it is derived from."""
    token: int | None
    """The token of the claim of the brief's files; null if it owns none."""
    depth: int | None
    """The number of hand-offs above the sender."""
    on_behalf_of: str | None
    """The principal that triggered the run."""
    queue_mode: str
    session_key: str
    code: str
    """The source of the right, such as `CHAIN_OF_COMMAND`."""
    obligations: tuple[str, ...]
    """The obligations that go with the work, such as `preflight:force_push`."""
    expires_at: float
    """The time when the work counts as ended, unless a result is stored or its claim is extended."""
    snapshot: str
    """The digest of the organization at the time of the decision."""
    actor: str
    """The actor who recorded it."""
    reason: str
    previous: str
    digest: str
