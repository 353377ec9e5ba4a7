"""What decisions read of the state: a value, made by `state/` and passed in with the time.

Everything is keyed by whom or what it is about, so that a question looks at its own rows and never at those of others.
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
from orgkernel.decisions.ownership.claims import NO_CLAIMS, ClaimIndex
from orgkernel.documents.records import ToolLevel
from orgkernel.runtime.tiers import NO_NEW_HANDOFF, NO_NEW_WORK

Lifecycle = Literal["registered", "probationary", "active", "suspended", "decommissioned"]
STOPPED: tuple[Lifecycle, ...] = ("suspended", "decommissioned")
"""The lifecycles of agents that were at work and were stopped."""
Waiver = Literal["rank", "qualification", "visibility", "restricted_to"]
"""What a grant may lift; nothing else can ever be waived."""
ALL_ORGANIZATIONS = "*"
"""Written in place of an organization, by whoever means all of them."""


class AgentState(msgspec.Struct, frozen=True, gc=False):
    """What changes about an agent: the roster declares it, the store owns these values."""

    agent_id: str
    rank: str | None = None
    trust: float | None = None
    """Mean of the trust before any outcome, 0 to 1 (`decisions/evidence/trust.py`)."""
    lifecycle: Lifecycle = "active"
    org_id: str = ""
    """The organization it is stored for. What is stored for all of them (`*`) can lower a rank and never raise it."""
    successes: int = 0
    """Pieces of work that are recorded as successful."""
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
    """The organization it holds in; `*` for all of them."""
    channel: str | None = None
    session: str | None = None
    reason: str = ""
    issued_by: str = ""
    issued_at: float = 0.0
    expires_at: float | None = None
    revoked_at: float | None = None
    uses_left: int | None = None
    """How often it can still be used; None for without limit."""
    request_id: str | None = None
    """The request it answers."""
    action: str | None = None
    """The only action it gives; None for every action of its level."""
    input_digest: str | None = None
    """SHA-256 of the only input it is good for; None for every input."""
    snapshot: str | None = None
    """The only version of the documents it is good for: the digest of the organization's snapshot; None for every version."""
    asleep_since: float | None = None
    """Since when it gives nothing because no document declared its subject; None while it is awake."""


class Restriction(msgspec.Struct, frozen=True, gc=False):
    """A stored upper bound; it lowers whatever the order in which it was issued."""

    restriction_id: str
    subject: str
    resources: tuple[str, ...]
    level: ToolLevel = "none"
    """The most that is left."""
    org_id: str = ALL_ORGANIZATIONS
    """The organization it holds in; `*` for all of them."""
    reason: str = ""
    issued_by: str = ""
    issued_at: float = 0.0
    expires_at: float | None = None
    revoked_at: float | None = None


class QualificationResult(msgspec.Struct, frozen=True, gc=False):
    """The outcome of one test of an agent."""

    agent_id: str
    qualification: str
    score: float
    passed: bool
    at: float
    expires_at: float | None = None
    org_id: str = ""
    """The organization whose qualification it is."""
    result_id: int = 0
    sample_size: int | None = None
    """How many cases the score rests on; None where nobody said."""
    digests: Mapping[str, str] = {}
    """What was tested, by name: the digests of the model, the prompt, the test set …"""
    invalidated_at: float | None = None
    """Since when it does not count any more, because somebody recorded a reason."""
    invalid_reason: str = ""


SkillSource = Literal["commissioning", "qualification", "experience", "mentoring", "assessment"]
"""Where a level comes from."""
SKILL_SOURCES: tuple[SkillSource, ...] = (
    "commissioning", "qualification", "experience", "mentoring", "assessment",
)  # fmt: skip


class SkillRecord(msgspec.Struct, frozen=True, gc=False):
    """A skill that an agent holds, as it was last recorded. Which level is left of it now is computed
    (`decisions/evidence/skill_levels.py`).
    """

    agent_id: str
    org_id: str
    skill: str
    proficiency: int
    """1 to 7, at `decays_from`."""
    acquired_at: float
    last_exercised_at: float | None = None
    exercises: int = 0
    source: SkillSource = "assessment"
    suspended: bool = False
    decays_from: float = 0.0
    """When the level was recorded last: acquired, exercised, assessed, raised, suspended or resumed."""


class ToolLock(msgspec.Struct, frozen=True, gc=False):
    """An exclusive tool in somebody's hands."""

    org_id: str
    tool_id: str
    holder: str
    """The agent that holds it, as `agent:ID`."""
    token: int
    """Fencing token: each lock of a tool has a higher one than the lock before it."""
    acquired_at: float
    expires_at: float | None = None
    reason: str = ""


PaceTierName = Literal["primary", "alternate", "contingent", "emergency"]
RAISED = NO_NEW_HANDOFF | NO_NEW_WORK
"""The tiers that take something away from a role."""
REPORT_COUNTS_FOR = 3_600.0
"""Seconds for which a report says in which tier its role is: whoever falls silent is not held to its last word for ever."""


class StoredReport(msgspec.Struct, frozen=True):
    """A SALUTE report as it was stored."""

    number: int
    """In the order in which reports were stored; never given twice."""
    org_id: str
    role_id: str
    agent_id: str
    """The agent whose credential or folder it came by; empty where nobody says."""
    agent_number: int
    """The number its host gives the agent."""
    at: float
    """When it was made: by its own clock, but not later than it arrived."""
    received_at: float
    tier: PaceTierName
    body: Mapping[str, Any]
    """The report itself, as the specification writes it."""


class StateView(msgspec.Struct, frozen=True):
    """The state at one version. The empty one is that of an organization nothing was stored about."""

    version: int = 0
    agents: Mapping[str, AgentState] = MappingProxyType({})
    """By agent id."""
    grants: Mapping[str, tuple[Grant, ...]] = MappingProxyType({})
    """By subject as the grant writes it; ones that expired since and revoked ones may be among them."""
    restrictions: Mapping[str, tuple[Restriction, ...]] = MappingProxyType({})
    """By subject as the restriction writes it."""
    results: Mapping[str, tuple[QualificationResult, ...]] = MappingProxyType({})
    """By agent id, oldest first."""
    locks: Mapping[str, ToolLock] = MappingProxyType({})
    """By tool id."""
    expired: Mapping[str, tuple[Grant, ...]] = MappingProxyType({})
    """Grants that were noted as run out, by subject; they decide nothing and are told where they are missed."""
    reports: Mapping[str, tuple[StoredReport, ...]] = MappingProxyType({})
    """The latest reports by `role:ID`, and by `agent:ID` where an agent is known; newest first."""
    raised: frozenset[str] = frozenset()
    """Those of their subjects whose newest report is of a raised tier: nearly always nobody."""
    asleep: Mapping[str, tuple[Grant, ...]] = MappingProxyType({})
    """Grants that sleep, by subject; they decide nothing and are told as drift."""
    skills: Mapping[str, tuple[SkillRecord, ...]] = MappingProxyType({})
    """By agent id, in the order of skill ids."""
    status: Mapping[str, OrgStatus] = MappingProxyType({})
    """The recorded alert and watch of the organization, by `alert` and `watch`. What is not here, nobody has recorded."""
    identities: Mapping[str, AgentIdentity] = MappingProxyType({})
    """By agent id. Only the view of an organization has them, and all that follows."""
    commissions: Mapping[str, tuple[Commission, ...]] = MappingProxyType({})
    """By agent id, in the order of roles."""
    service: Mapping[str, ServiceCounts] = MappingProxyType({})
    """By agent id: what their episodes add up to."""
    outcomes: Mapping[str, tuple[OutcomeCount, ...]] = MappingProxyType({})
    """By agent id, in the order of kinds and names."""
    personalities: Mapping[str, PersonalityObservation] = MappingProxyType({})
    """The latest observation by agent id."""
    claims: ClaimIndex = NO_CLAIMS
    """The claims of files that nobody has ended; leases that have run out may be among them."""
    all_claims: tuple[ClaimIndex, ...] = ()
    """Those of every organization. Only the view of no organization has them: it says when something runs out."""
    blockers: Mapping[str, tuple[OpenBlocker, ...]] = MappingProxyType({})
    """The open ones by agent id, in the order in which they were stored."""

    def get_lifecycle(self, agent_id: str) -> Lifecycle:
        """The lifecycle of a declared agent: it is active until something else is stored."""
        stored = self.agents.get(agent_id)
        return "active" if stored is None else stored.lifecycle


EMPTY_STATE = StateView()
