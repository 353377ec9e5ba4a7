"""What is stored about the work and the person of an agent: its birth, its roles, its episodes, its personality.

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
"""So many outcomes of an agent are kept in their order."""


class OpenBlocker(msgspec.Struct, frozen=True, gc=False):
    """A question of an agent that no decision has answered."""

    blocker_id: str
    org_id: str
    agent_id: str
    """Empty where nobody says who asks."""
    session: str
    question: str
    fallback_action: str
    human_required_for: str | None
    at: float


class OutcomeCount(msgspec.Struct, frozen=True, gc=False):
    """How often work of one kind succeeded and failed in the hands of an agent."""

    agent_id: str
    org_id: str
    kind: OutcomeKind
    name: str
    successes: int
    failures: int
    last_at: float


class ServiceCounts(msgspec.Struct, frozen=True, gc=False):
    """What the episodes of an agent add up to."""

    agent_id: str
    org_id: str
    successes: int
    failures: int
    recent: str
    """Its last outcomes, oldest first: `+` for a success, `-` for a failure."""
    last_at: float

    @property
    def episodes(self) -> int:
        """How many episodes are recorded."""
        return self.successes + self.failures

    def add_episode(self, episode: Episode) -> ServiceCounts:
        """The counts with one more episode."""
        is_success = episode.outcome == "success"
        return ServiceCounts(
            self.agent_id, self.org_id, self.successes + is_success, self.failures + (not is_success),
            (self.recent + ("+" if is_success else "-"))[-RECENT:], max(self.last_at, episode.at),
        )  # fmt: skip


def build_empty_service(episode: Episode) -> ServiceCounts:
    """The counts of the agent of an episode before its first one."""
    return ServiceCounts(episode.agent_id, episode.org_id, 0, 0, "", episode.at)


class AgentIdentity(msgspec.Struct, frozen=True, gc=False):
    """Who an agent is, whatever roles it fills: its key, and when it was born into the organization."""

    agent_id: str
    org_id: str
    did: str
    """`did:key:…`: the public key itself."""
    born_at: float


class Commission(msgspec.Struct, frozen=True, gc=False):
    """An agent was put to work in a role."""

    agent_id: str
    org_id: str
    role_id: str
    at: float
    actor: str
    snapshot: str
    """The digest of the documents by which it was commissioned."""


class Personality(msgspec.Struct, frozen=True, gc=False):
    """Five traits, each from 0 to 1.

    >>> calm = Personality(neuroticism=0.1)
    >>> round(calm.distance_to(Personality()), 3)
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
    """The personality of an agent, as somebody measured it."""

    agent_id: str
    org_id: str
    observed: Personality
    at: float
    actor: str


class Episode(msgspec.Struct, frozen=True):
    """A piece of work, by reference: what it was about is kept elsewhere."""

    episode_id: str
    org_id: str
    agent_id: str
    outcome: EpisodeOutcome
    at: float
    role_id: str | None = None
    intent: str | None = None
    tier: str | None = None
    """The capability tier that did it, such as `T2`."""
    cognitive_skill: str | None = None
    procedure: str | None = None
    skills: tuple[str, ...] = ()
    """Skills that were exercised."""
    tools: tuple[str, ...] = ()
    """Tools that were called."""
    reference: str = ""
    """Where the content is kept."""
    digest: str = ""
    """SHA-256 of the content."""
    number: int = 0
    """In the order in which episodes were stored."""


class RankMove(msgspec.Struct, frozen=True):
    """A recorded change of rank."""

    at: str
    before: str | None
    """None where the rank followed from trust or the role."""
    after: str | None
    actor: str
    reason: str


OrgStatusKind = Literal["alert", "watch"]


class OrgStatus(msgspec.Struct, frozen=True, gc=False):
    """The alert or the watch of an organization, as somebody recorded it."""

    org_id: str
    kind: OrgStatusKind
    value: str
    since: float = 0.0
    set_by: str = ""
    reason: str = ""
