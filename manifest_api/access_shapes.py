"""What is asked and answered about access in our own words, and about what is remembered."""

from __future__ import annotations

from typing import Literal

import msgspec

from manifest_api.authzen_shapes import Context
from orgkernel.decisions.access.decision import AccessDecision, AccessRow, Remedy, TraceLine, Who
from orgkernel.decisions.access.envelope import AccessEnvelope
from orgkernel.decisions.reasons import Reason
from orgkernel.decisions.state_records import AccessRequest as StoredRequest
from orgkernel.decisions.state_records import Approval, AuditEntry
from orgkernel.decisions.state_view import Grant, Lifecycle
from orgkernel.kernel.registry import ACTIVE
from orgkernel.operations.permissions import Name, Text

SubjectKind = Literal["role", "agent", "person", "system", "webhook"]
ResourceKind = Literal["tool", "credential", "data", "role"]


class ExplainQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """May this subject do this to that, and why?"""

    org: Name = ACTIVE
    subject: Name
    action: Name
    resource: Name
    context: Context = {}
    """Circumstances as for an evaluation, `on_behalf_of`, `via` and `envelope` included."""


class EnvelopeQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What does a sender get, and where do its messages go?"""

    org: Name = ACTIVE
    subject: Name
    """`sender:PLATFORM/SPACE/ID`, `person:ID`, `system:ID`, `webhook:ID`, `agent:ID` or `role:ID`."""
    context: Context = {}


class EnvelopeFound(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a sender gets here and now. Nothing is remembered by asking."""

    envelope: AccessEnvelope
    ignored: tuple[str, ...]
    """Keys of the context that mean nothing here."""


class WhoCanQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who may do this to that?"""

    org: Name = ACTIVE
    action: Name
    resource: Name
    kinds: tuple[SubjectKind, ...] = ("role", "agent", "person", "system", "webhook")
    context: Context = {}


class WhatCanQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may this subject do?"""

    org: Name = ACTIVE
    subject: Name
    kinds: tuple[ResourceKind, ...] = ("tool", "credential", "data", "role")
    context: Context = {}


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """A decision, and everything it rests on."""

    decision: AccessDecision
    reasons: tuple[Reason, ...]
    trace: tuple[TraceLine, ...]
    """One line or more for each layer, in their order."""
    remedies: tuple[Remedy, ...]
    who_can: Who
    ignored: tuple[str, ...]
    """What the context of the question says and nothing here reads."""


class AccessRows(msgspec.Struct, frozen=True, kw_only=True):
    """What may be done, must be asked for, or could be done in other circumstances."""

    rows: tuple[AccessRow, ...]
    ignored: tuple[str, ...]
    snapshot: str
    state_version: int


class AgentLine(msgspec.Struct, frozen=True, kw_only=True):
    """An agent of a roster, and how it stands."""

    agent_id: str
    callsign: str
    roles: tuple[str, ...]
    rank: str | None
    """The one that counts now: what is stored, else what the roster or its role declares."""
    trust: float | None
    lifecycle: str
    org_id: str


class AgentList(msgspec.Struct, frozen=True, kw_only=True):
    """Agents of an organization."""

    agents: tuple[AgentLine, ...]
    snapshot: str
    state_version: int


class RankChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Promote or demote."""

    rank: Name
    reason: Text = ""


class LifecycleChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Move along the lifecycle."""

    lifecycle: Lifecycle
    reason: Text = ""


class GrantPage(msgspec.Struct, frozen=True, kw_only=True):
    """Grants in the order in which they were issued."""

    grants: tuple[Grant, ...]
    next: str | None


class Note(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why, for the audit."""

    reason: Text = ""


class RequestPage(msgspec.Struct, frozen=True, kw_only=True):
    """Requests, oldest first."""

    requests: tuple[StoredRequest, ...]
    next: str | None


class ApprovalAnswer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Yes: once, for a day, or always."""

    approval: Approval = "once"
    reason: Text = ""


class Approved(msgspec.Struct, frozen=True, kw_only=True):
    """The request, and the grant it led to."""

    request: StoredRequest
    grant: Grant


class AuditLine(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the audit."""

    row: str
    digest: str
    entry: AuditEntry


class AuditPage(msgspec.Struct, frozen=True, kw_only=True):
    """Rows, newest first."""

    rows: tuple[AuditLine, ...]
    next: str | None
