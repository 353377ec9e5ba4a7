"""Summarize the work of an agent from stored records: success rate, trajectory, drift of personality."""

from __future__ import annotations

from typing import Literal

import msgspec

from orgkernel.decisions.evidence.crew_records import Personality, ServiceCounts
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.decisions.reasons import Why, cite_place
from orgkernel.graph.questions import OrgView

Trajectory = Literal["improving", "steady", "declining", "unknown"]
MIN_EPISODES = 6
"""The lowest number of episodes for a trajectory."""
MIN_CHANGE = 0.1
"""The lowest difference of success rates between the newer and the older half."""
FORMULA = (
    f"the success rate of the newer half of the last 20 episodes less that of the older half: improving from "
    f"+{MIN_CHANGE:g}, declining from -{MIN_CHANGE:g}; unknown below {MIN_EPISODES} episodes"
)


class ServiceSummary(msgspec.Struct, frozen=True):
    """The work of an agent in one organization."""

    total_episodes: int = 0
    successes: int = 0
    failures: int = 0
    success_rate: float | None = None
    """Successes divided by episodes; None if there are none."""
    trust_trajectory: Trajectory = "unknown"
    """The change of the success rate, and not, as the name suggests, of the trust in the agent."""
    trajectory_formula: str = FORMULA
    last_at: float | None = None


def summarize_service(counts: ServiceCounts | None) -> ServiceSummary:
    """The summary of an agent's counts.

    >>> counts = ServiceCounts("worf", "shop", 8, 2, "--++++++++", 5.0)
    >>> summary = summarize_service(counts)
    >>> summary.success_rate, summary.trust_trajectory
    (0.8, 'improving')
    """
    if counts is None or not counts.episodes:
        return ServiceSummary()
    return ServiceSummary(
        counts.episodes, counts.successes, counts.failures, counts.successes / counts.episodes,
        find_trajectory(counts.recent), last_at=counts.last_at,
    )  # fmt: skip


def find_trajectory(recent: str) -> Trajectory:
    """Whether episodes succeed more often than before, from the outcomes of the last ones, oldest first.

    >>> [find_trajectory(each) for each in ("+++++", "++++++", "+++---", "---+++", "-+-+-+-+")]
    ['unknown', 'steady', 'declining', 'improving', 'steady']
    """
    if len(recent) < MIN_EPISODES:
        return "unknown"
    half = len(recent) // 2
    older, newer = recent[:half], recent[-half:]
    change = (newer.count("+") - older.count("+")) / half
    return "improving" if change >= MIN_CHANGE else "declining" if change <= -MIN_CHANGE else "steady"


class PersonalityDrift(msgspec.Struct, frozen=True):
    """The distance of an agent's observed personality from the one in the roster."""

    agent_id: str
    seed: Personality
    observed: Personality | None
    """The latest observation; None if there is none."""
    distance: float | None
    """The Euclidean distance."""
    limit: float
    alarm: bool
    observed_at: float | None
    why: tuple[Why, ...]


def decide_drift(view: OrgView, agent_id: str, state: StateView) -> PersonalityDrift:
    """The drift of a declared agent. Raises KeyError if no roster declares it."""
    definition = view.records.agents[agent_id]
    seed, limit = get_seed_personality(view, agent_id), view.records.organization.limits.personality_drift
    latest = state.personalities.get(agent_id)
    place = definition.place("personality") if definition.record.personality else definition.place()
    why = (
        cite_place(f"the personality of {agent_id} in the roster", place),
        cite_place("the limit of drift", view.records.document.place("limits", "personality_drift")),
    )
    if latest is None:
        return PersonalityDrift(agent_id, seed, None, None, limit, False, None, why)
    distance = seed.measure_distance(latest.observed)
    return PersonalityDrift(
        agent_id, seed, latest.observed, distance, limit, distance > limit, latest.at, why
    )


def get_seed_personality(view: OrgView, agent_id: str) -> Personality:
    """The personality of a declared agent in the roster."""
    declared = view.records.agents[agent_id].record.personality
    return Personality() if declared is None else Personality(**msgspec.structs.asdict(declared))
