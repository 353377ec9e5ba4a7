"""Stored records about an agent: identity, commissions, episodes and personality.

Times are seconds since 1970-01-01 UTC.
"""

from __future__ import annotations

from math import dist
from typing import Literal

import msgspec

OutcomeKind = Literal["intent", "cognitive_skill", "procedure", "tool"]
EpisodeOutcome = Literal["success", "failure"]
OUTCOMES: tuple[EpisodeOutcome, ...] = ("success", "failure")
RECENT = 20
"""The number of an agent's latest outcomes that are kept in order."""


class OpenBlocker(msgspec.Struct, frozen=True, gc=False):
    """An agent's question that no decision has answered."""

    blocker_id: str
    org_id: str
    agent_id: str
    """The agent that asks; empty if unknown."""
    session: str
    question: str
    fallback_action: str
    human_required_for: str | None
    at: float


class OutcomeCount(msgspec.Struct, frozen=True, gc=False):
    """The number of successes and failures of an agent in one kind of work."""

    agent_id: str
    org_id: str
    kind: OutcomeKind
    name: str
    successes: int
    failures: int
    last_at: float


class ServiceCounts(msgspec.Struct, frozen=True, gc=False):
    """The totals of an agent's episodes."""

    agent_id: str
    org_id: str
    successes: int
    failures: int
    recent: str
    """Its last outcomes, oldest first: `+` for a success, `-` for a failure."""
    last_at: float

    @property
    def episodes(self) -> int:
        """The number of recorded episodes."""
        return self.successes + self.failures

    def add_episode(self, episode: Episode) -> ServiceCounts:
        """The counts with one more episode."""
        is_success = episode.outcome == "success"
        return ServiceCounts(
            self.agent_id, self.org_id, self.successes + is_success, self.failures + (not is_success),
            (self.recent + ("+" if is_success else "-"))[-RECENT:], max(self.last_at, episode.at),
        )  # fmt: skip


def build_empty_service(episode: Episode) -> ServiceCounts:
    """The empty counts of an agent before the given episode, its first."""
    return ServiceCounts(episode.agent_id, episode.org_id, 0, 0, "", episode.at)


class AgentIdentity(msgspec.Struct, frozen=True, gc=False):
    """An agent's identity, independent of its roles: its key, and when it was created in the organization."""

    agent_id: str
    org_id: str
    did: str
    """The public key as `did:key:…`."""
    born_at: float


class KeyRevocation(msgspec.Struct, frozen=True, gc=False):
    """The end of an agent's key and of all certificates for it."""

    org_id: str
    did: str
    agent_id: str
    at: float
    actor: str
    reason: str


class Commission(msgspec.Struct, frozen=True, gc=False):
    """A stored commission of an agent in a role."""

    agent_id: str
    org_id: str
    role_id: str
    at: float
    actor: str
    snapshot: str
    """The digest of the documents at the time of the commission."""


class Personality(msgspec.Struct, frozen=True, gc=False):
    """Five traits, each from 0 to 1.

    >>> calm = Personality(neuroticism=0.1)
    >>> round(calm.measure_distance(Personality()), 3)
    0.4
    """

    openness: float = 0.5
    conscientiousness: float = 0.5
    extraversion: float = 0.5
    agreeableness: float = 0.5
    neuroticism: float = 0.5

    def measure_distance(self, other: Personality) -> float:
        """The Euclidean distance to another personality, 0 to about 2.24."""
        return dist(msgspec.structs.astuple(self), msgspec.structs.astuple(other))


class PersonalityObservation(msgspec.Struct, frozen=True, gc=False):
    """A measured personality of an agent."""

    agent_id: str
    org_id: str
    observed: Personality
    at: float
    actor: str


class Episode(msgspec.Struct, frozen=True):
    """A piece of work, by reference. Its content is kept elsewhere."""

    episode_id: str
    org_id: str
    agent_id: str
    outcome: EpisodeOutcome
    at: float
    role_id: str | None = None
    intent: str | None = None
    tier: str | None = None
    """The capability tier that did the work, such as `T2`."""
    cognitive_skill: str | None = None
    procedure: str | None = None
    skills: tuple[str, ...] = ()
    """The skills that were exercised."""
    tools: tuple[str, ...] = ()
    """The tools that were called."""
    reference: str = ""
    """The location of the content."""
    digest: str = ""
    """The SHA-256 of the content."""
    number: int = 0
    """The position in the order of storage."""


class RankMove(msgspec.Struct, frozen=True):
    """A recorded change of rank."""

    at: str
    before: str | None
    """The rank before; None if it followed from trust or the role."""
    after: str | None
    actor: str
    reason: str


OrgStatusKind = Literal["alert", "watch"]


class OrgStatus(msgspec.Struct, frozen=True, gc=False):
    """The recorded alert or watch of the organization."""

    org_id: str
    kind: OrgStatusKind
    value: str
    since: float = 0.0
    set_by: str = ""
    reason: str = ""
