"""The stored state that decisions read: a value that `state/` builds and callers pass in together with the time.

All rows are keyed by subject or resource, so a question reads only its own rows.
Times are seconds since 1970-01-01 UTC. Subjects are written `agent:ID`, `person:ID`, `role:ID`, `system:ID`,
`webhook:ID`, and in grants and restrictions also `relationship:NAME` and `tag:NAME`; resources `tool:ID`,
`tool:ID:GLOB`, `credential:ID` and `data:TIER`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from orgkernel.decisions.evidence.crew_records import (
    AgentIdentity,
    Commission,
    OpenBlocker,
    OrgStatus,
    OutcomeCount,
    PersonalityObservation,
    ServiceCounts,
)
from orgkernel.decisions.evidence.limit_usage import LimitUsage
from orgkernel.decisions.ownership.claims import NO_CLAIMS, ClaimIndex
from orgkernel.documents.records import ToolLevel
from orgkernel.runtime.tiers import NO_NEW_HANDOFF, NO_NEW_WORK

Lifecycle = Literal["registered", "probationary", "active", "suspended", "decommissioned"]
STOPPED: tuple[Lifecycle, ...] = ("suspended", "decommissioned")
"""The lifecycles of agents that were at work and were stopped."""
Waiver = Literal["rank", "qualification", "visibility", "restricted_to"]
"""A ceiling that a grant can waive. Nothing else can be waived."""
ALL_ORGANIZATIONS = "*"
"""The word for all organizations, in place of an id."""


class AgentState(msgspec.Struct, frozen=True, gc=False):
    """The stored state of an agent. The roster declares the agent; the store has these values."""

    agent_id: str
    rank: str | None = None
    trust: float | None = None
    """The trust before any recorded outcome, 0 to 1: the mean of the prior distribution
    (`decisions/evidence/trust.py`).
    """
    lifecycle: Lifecycle = "active"
    org_id: str = ""
    """The organization of the state. A state for all organizations (`*`) can lower a rank and never raise it."""
    successes: int = 0
    """The number of recorded successes."""
    failures: int = 0


class Grant(msgspec.Struct, frozen=True, gc=False):
    """A stored permission in addition to what roles and policies give.

    >>> from orgkernel import Grant
    >>> Grant("g-1", "role:co", ("tool:browser_agent",), "read").expires_at is None
    True
    """

    grant_id: str
    subject: str
    resources: tuple[str, ...]
    level: ToolLevel = "full"
    waives: tuple[Waiver, ...] = ()
    org_id: str = ALL_ORGANIZATIONS
    """The organization of the grant; `*` for all of them."""
    channel: str | None = None
    session: str | None = None
    reason: str = ""
    issued_by: str = ""
    issued_at: float = 0.0
    expires_at: float | None = None
    revoked_at: float | None = None
    uses_left: int | None = None
    """The number of uses left; None for unlimited."""
    request_id: str | None = None
    """The request that it answers."""
    action: str | None = None
    """The only action that it permits; None for every action of its level."""
    input_digest: str | None = None
    """The SHA-256 of the only input that it permits; None for every input."""
    snapshot: str | None = None
    """The digest of the only version of the documents that it applies to; None for every version."""
    approved_by: tuple[str, ...] = ()
    """The different approvers of the request that it answers, where policies require approvals; empty otherwise."""
    asleep_since: float | None = None
    """The time since when it is suspended ("asleep") because no document declares its subject. None if it has
    effect.
    """


class Restriction(msgspec.Struct, frozen=True, gc=False):
    """A stored ceiling. The order in which restrictions were issued has no effect."""

    restriction_id: str
    subject: str
    resources: tuple[str, ...]
    level: ToolLevel = "none"
    """The highest level that it allows."""
    org_id: str = ALL_ORGANIZATIONS
    """The organization of the restriction; `*` for all of them."""
    reason: str = ""
    issued_by: str = ""
    issued_at: float = 0.0
    expires_at: float | None = None
    revoked_at: float | None = None


class QualificationResult(msgspec.Struct, frozen=True, gc=False):
    """A stored result of an agent in a test."""

    agent_id: str
    qualification: str
    score: float
    passed: bool
    at: float
    expires_at: float | None = None
    org_id: str = ""
    """The organization that declares the qualification."""
    result_id: int = 0
    sample_size: int | None = None
    """The number of cases behind the score; None if unknown."""
    digests: Mapping[str, str] = {}
    """The digests of the tested parts by name: the model, the prompt, the test set …"""
    invalidated_at: float | None = None
    """The time when the result was invalidated, with a recorded reason."""
    invalid_reason: str = ""
    run: str = ""
    """The run of the test, as its recorder names it. A run has one result."""


SkillSource = Literal["commissioning", "qualification", "experience", "mentoring", "assessment"]
"""The event that gave an agent its level in a skill."""
SKILL_SOURCES: tuple[SkillSource, ...] = (
    "commissioning", "qualification", "experience", "mentoring", "assessment",
)  # fmt: skip


class SkillRecord(msgspec.Struct, frozen=True, gc=False):
    """The last record of an agent's skill. The current level is computed from it."""

    agent_id: str
    org_id: str
    skill: str
    proficiency: int
    """The level at `decays_from`, 1 to 7."""
    acquired_at: float
    last_exercised_at: float | None = None
    exercises: int = 0
    source: SkillSource = "assessment"
    suspended: bool = False
    decays_from: float = 0.0
    """The time of the last record: acquired, exercised, assessed, raised, suspended or resumed."""
    raised_by: tuple[str, ...] = ()
    """The qualifications that raised it, one for each level that was not taken back, oldest first. They have no column."""


class ToolLock(msgspec.Struct, frozen=True, gc=False):
    """A lock on an exclusive tool."""

    org_id: str
    tool_id: str
    holder: str
    """The agent that holds it, as `agent:ID`."""
    token: int
    """The fencing token. Each lock of a tool has a higher one than the lock before it."""
    acquired_at: float
    expires_at: float | None = None
    reason: str = ""


PaceTierName = Literal["primary", "alternate", "contingent", "emergency"]
RAISED = NO_NEW_HANDOFF | NO_NEW_WORK
"""The tiers that reduce what a role may do."""
REPORT_COUNTS_FOR = 3_600.0
"""The number of seconds for which the tier in a report is used, so a role that stops reporting is not held in it forever."""


class StoredReport(msgspec.Struct, frozen=True):
    """A stored SALUTE report."""

    number: int
    """The number in the order of storage. It is never reused."""
    org_id: str
    role_id: str
    agent_id: str
    """The agent whose credential or folder delivered it; empty if unknown."""
    agent_number: int
    """The agent's number in its host."""
    at: float
    """The time of the report by its own clock, but not later than its arrival."""
    received_at: float
    tier: PaceTierName
    body: Mapping[str, Any]
    """The report in the form of the specification."""


class OpenHandoff(msgspec.Struct, frozen=True, gc=False):
    """Work that was handed to an agent, owns no files and has no result yet."""

    agent_id: str
    session: str
    number: int
    """The position among the hand-offs of the organization."""
    expires_at: float
    """The time when it counts as ended."""


class StateView(msgspec.Struct, frozen=True):
    """The state at one version. The empty one is for an organization without stored rows."""

    version: int = 0
    agents: Mapping[str, AgentState] = MappingProxyType({})
    """Agents, keyed by id."""
    grants: Mapping[str, tuple[Grant, ...]] = MappingProxyType({})
    """Grants, keyed by subject as the grant writes it. Expired and revoked ones can be included."""
    restrictions: Mapping[str, tuple[Restriction, ...]] = MappingProxyType({})
    """Restrictions, keyed by subject as the restriction writes it."""
    results: Mapping[str, tuple[QualificationResult, ...]] = MappingProxyType({})
    """Test results, keyed by agent id, oldest first."""
    locks: Mapping[str, ToolLock] = MappingProxyType({})
    """Locks, keyed by tool id."""
    expired: Mapping[str, tuple[Grant, ...]] = MappingProxyType({})
    """Grants that were recorded as expired, keyed by subject. They decide nothing and appear only in explanations."""
    reports: Mapping[str, tuple[StoredReport, ...]] = MappingProxyType({})
    """The latest reports, keyed by `role:ID`, and by `agent:ID` if the agent is known; newest first."""
    raised: frozenset[str] = frozenset()
    """The subjects whose newest report is of a raised tier. It is nearly always empty."""
    asleep: Mapping[str, tuple[Grant, ...]] = MappingProxyType({})
    """Sleeping grants, keyed by subject. They decide nothing and are reported as drift."""
    skills: Mapping[str, tuple[SkillRecord, ...]] = MappingProxyType({})
    """Skill records, keyed by agent id, in the order of skill ids."""
    status: Mapping[str, OrgStatus] = MappingProxyType({})
    """The recorded alert and watch of the organization, keyed by `alert` and `watch`."""
    identities: Mapping[str, AgentIdentity] = MappingProxyType({})
    """Agent identities, keyed by agent id. This field and all below are set only in the view of one organization."""
    commissions: Mapping[str, tuple[Commission, ...]] = MappingProxyType({})
    """Commissions, keyed by agent id, in the order of roles."""
    service: Mapping[str, ServiceCounts] = MappingProxyType({})
    """Totals of episodes, keyed by agent id."""
    outcomes: Mapping[str, tuple[OutcomeCount, ...]] = MappingProxyType({})
    """Outcome counts, keyed by agent id, in the order of kinds and names."""
    personalities: Mapping[str, PersonalityObservation] = MappingProxyType({})
    """The latest personality observations, keyed by agent id."""
    claims: ClaimIndex = NO_CLAIMS
    """File claims that were not released. Expired ones can be included."""
    all_claims: tuple[ClaimIndex, ...] = ()
    """The claims of every organization. Only the view of no organization has them, to find the next expiry."""
    blockers: Mapping[str, tuple[OpenBlocker, ...]] = MappingProxyType({})
    """Open blockers, keyed by agent id, in the order of storage."""
    handoffs: Mapping[str, tuple[OpenHandoff, ...]] = MappingProxyType({})
    """Open hand-offs that own no files, keyed by agent id. Expired ones can be included."""
    usage: Mapping[tuple[str, str], LimitUsage] | None = None
    """The usage of limits, keyed by limit and counter. None if it is not known; a missing counter is used up."""

    def get_lifecycle(self, agent_id: str) -> Lifecycle:
        """The lifecycle of a declared agent. It is active until another one is stored."""
        stored = self.agents.get(agent_id)
        return "active" if stored is None else stored.lifecycle


EMPTY_STATE = StateView()
