"""What a store remembers beside what decisions read (`decisions/evidence/state_view.py`): requests, keys, uses, audit rows.

Times are seconds since 1970-01-01 UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from orgkernel.decisions.evidence.state_view import Grant, SkillSource, Waiver
from orgkernel.documents.records import ToolLevel

RequestKind = Literal["access", "command", "action"]
"""A standing permission, one interactive command, or one single action; each has its own timer."""
RequestStatus = Literal["pending", "approved", "denied", "expired"]
Approval = Literal["once", "day", "always"]
KeyScope = Literal["read", "request", "grant", "approve", "rank", "lock", "report", "admin"]
"""What a key is good for; `admin` for everything, keys included."""
SCOPES: tuple[KeyScope, ...] = ("read", "request", "grant", "approve", "rank", "lock", "report", "admin")
KEY_PREFIX = "orgk_"
"""What every key begins with, so that one that got somewhere it should not be is recognized."""

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
    "handoff",
    "audit",
    "dispatch",
]
"""`dispatch` is the former name of `handoff`, and is only read. Entries are chained, so older ones keep it."""
AuditProblem = Literal["changed", "missing", "reordered", "cut_off", "restored", "unproven"]
AuditVerdict = Literal["whole", "unproven", "changed"]
Stream = Literal["decision", "history"]
"""Decisions and usage are kept for a shorter time than the history of what was granted, so each has its own chain."""
_SHORT: frozenset[AuditKind] = frozenset({"decision", "usage"})


def stream_of(kind: AuditKind) -> Stream:
    """The chain a row of this kind belongs to."""
    return "decision" if kind in _SHORT else "history"


class PermissionRequest(msgspec.Struct, frozen=True):
    """Somebody asks for a permission.

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
    """The organization it is for; `*` for all of them."""
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
    """`once`, `day`, `always` or `deny`."""
    response_at: float | None = None
    grant_id: str | None = None
    action: str | None = None
    """The only action that is asked for; None for every action of the level."""
    input_digest: str | None = None
    """SHA-256 of the only input that is asked for; None for every input."""
    snapshot: str | None = None
    """The only version of the documents it is asked for: the digest of the organization's snapshot; None for every version."""


def grant_asked_for(request: PermissionRequest) -> Grant:
    """The grant that a request asks for; it has no id yet."""
    return Grant(
        "", request.requester, request.resources, request.level, request.waives, request.org_id or "", request.channel,
        request.session, action=request.action, input_digest=request.input_digest,
        snapshot=request.snapshot,
    )  # fmt: skip


class ApiKey(msgspec.Struct, frozen=True):
    """A key without its secret, of which only the SHA-256 is kept."""

    key_id: str
    name: str
    scopes: tuple[KeyScope, ...]
    created_at: float
    agent_id: str | None = None
    """The agent that uses it: such a key can never issue or approve for that agent."""
    created_by: str = ""
    expires_at: float | None = None
    revoked_at: float | None = None
    person_id: str | None = None
    """The person who uses it, or who runs the agent that does."""

    def is_active(self, now: float) -> bool:
        """Whether it still opens anything."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class GrantUse(msgspec.Struct, frozen=True):
    """One use of a grant, and the audit row of the decision that used it."""

    grant_id: str
    at: float
    audit_id: str


class ToolUsage(msgspec.Struct, frozen=True):
    """How often an agent has really called a tool."""

    agent_id: str
    tool_id: str
    uses: int
    failures: int
    first_at: float
    last_at: float
    seconds: float = 0.0


SkillActivity = Literal["acquired", "exercised", "assessed", "raised", "suspended", "resumed"]


class SkillAssessment(msgspec.Struct, frozen=True):
    """One change of a skill of an agent, as it was written into the history."""

    assessment_id: int
    org_id: str
    agent_id: str
    skill: str
    at: float
    activity: SkillActivity
    proficiency: int
    """The level afterwards."""
    source: SkillSource
    actor: str
    note: str = ""


class ReportReceipt(msgspec.Struct, frozen=True):
    """What became of a report that was handed in.

    >>> from orgkernel import ReportReceipt
    >>> ReportReceipt("stored", 7).number
    7
    """

    outcome: Literal["stored", "known", "expired"]
    """It is new; it was there already; it is older than reports are kept, and there is a later one."""
    number: int | None
    """Of the report; None for one that is not kept."""


INPUT_DIGEST = "input_sha256"
"""In the detail of a decision about a call: the SHA-256 of its arguments."""


class AuditEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is written down about one decision or one change.

    `kind` and `activity` say what happened: a decision and its outcome, a grant and `created`, `used`, `expired` or
    `revoked`. Texts are masked when they are written; names of credentials may appear, their values never do.
    """

    kind: AuditKind
    at: float
    activity: str = ""
    """Of a decision: allow, deny or ask; else what was done."""
    subject: str = ""
    """Whom it is about, `kind:ID`."""
    actor: str = ""
    """Who did it, where that is somebody else."""
    action: str = ""
    resource: str = ""
    code: str = ""
    """The decision's reason code."""
    org_id: str = ""
    relationship: str = ""
    """Of the subject, where it has one; `unknown` for a sender nobody knows."""
    channel: str = ""
    sender: str = ""
    session: str = ""
    record_id: str = ""
    """The grant, request, key or lock it is about."""
    level: str = ""
    grants: tuple[str, ...] = ()
    policies_matched: tuple[str, ...] = ()
    policies_denied: tuple[str, ...] = ()
    snapshot: str = ""
    state_version: int = 0
    seconds: float | None = None
    """How long it took."""
    reason: str = ""
    detail: Mapping[str, Any] | None = None


class AuditRow(msgspec.Struct, frozen=True):
    """An entry as it stands in the chain of its writer."""

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
    """The name of a row: which chain, and where in it."""
    return f"{writer}:{stream}:{sequence}"


class AuditFilter(msgspec.Struct, frozen=True):
    """Which rows: every field that is set has to hold."""

    since: float | None = None
    until: float | None = None
    kind: str | None = None
    activity: str | None = None
    subject: str | None = None
    """`kind:ID`, or `kind:` for all of a kind."""
    channel: str | None = None
    relationship: str | None = None
    record_id: str | None = None


class AuditFinding(msgspec.Struct, frozen=True):
    """Something about the audit that is not as it was written."""

    problem: AuditProblem
    row: str
    """The name of the row; of a checkpoint, the writer."""
    message: str


class AcceptedFinding(msgspec.Struct, frozen=True):
    """A finding about the audit that somebody has accepted."""

    at: float
    actor: str
    reason: str
    problem: str
    row: str
    message: str


class ContractRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A contract that was stored. Rows are only added, and each has the digest of the row before it."""

    org_id: str
    sequence: int
    """Its place among the contracts of the organization, from 1."""
    kind: str
    """Such as `result`."""
    record_id: str
    brief_id: str | None
    session: str | None
    at: float
    """When it was stored."""
    actor: str
    """Who stored it."""
    previous: str
    digest: str
    body: dict[str, Any]
    """The contract."""


class HandoffRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A hand-off that was permitted and written down. Rows are only added, and each has the digest of the row before it."""

    org_id: str
    number: int
    """Its place among the hand-offs of the organization, from 1."""
    handoff_id: str
    at: float
    sender: str
    """Who handed the work down, such as `agent:ID` or `role:ID`."""
    receiver: str
    """The role that got the work, as `role:ID`."""
    holder: str
    """Who does the work: an agent in that role, or the role where nobody said which."""
    session: str
    """The session that does the work."""
    from_session: str | None
    """The session of the sender."""
    brief: str | None
    """Id of the brief that was handed down."""
    mission: str | None
    """Id of the brief that this one is derived from."""
    token: int | None
    """Token of the claim of the files that the brief owns; null if it owns none."""
    depth: int | None
    """How many hand-offs lie above the sender."""
    on_behalf_of: str | None
    """Who triggered the run."""
    queue_mode: str
    session_key: str
    code: str
    """What gives the right, such as `CHAIN_OF_COMMAND`."""
    obligations: tuple[str, ...]
    """What goes with the work, such as `preflight:force_push`."""
    expires_at: float
    """When the work counts as ended if neither a result is stored nor its claim extended."""
    snapshot: str
    """Digest of the organization that was decided by."""
    actor: str
    """Who wrote it down."""
    reason: str
    previous: str
    digest: str
