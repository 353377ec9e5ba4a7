"""The agents who can take a dispatched task now, as part of the answer of dispatch."""

from __future__ import annotations

import msgspec

from orgkernel.decisions.reasons import Reason


class AvailableAgent(msgspec.Struct, frozen=True):
    """An agent who can take the task now."""

    agent_id: str
    approvals: tuple[str, ...]
    """Tools of the task whose use needs an approval each time."""
    proficiency: int
    """The sum of its current levels in the skills that the role requires."""
    load: int
    """The number of its live file claims, other open hand-offs, and open questions."""
    rank: str | None
    reasons: tuple[Reason, ...]
    """Why it comes before the next agent; empty for the last one."""


class UnavailableAgent(msgspec.Struct, frozen=True):
    """An agent that fills the role and cannot take the task now."""

    agent_id: str
    reasons: tuple[Reason, ...]
    """Every condition that it does not meet."""


class AgentChoice(msgspec.Struct, frozen=True):
    """The agents who can take a task now, best first, judged by the documents and the stored state."""

    agent_id: str | None
    """The first of them; None if there are none."""
    acting_role: str | None
    """The role that they fill: the role of the answer, its deputy, or its nearest superior with an agent who can act. None
    if there are none.
    """
    agents: tuple[AvailableAgent, ...]
    agent_count: int
    """The number of agents who can take the task. `agents` lists the first of them."""
    unavailable: tuple[UnavailableAgent, ...]
    """Agents of the role that cannot take the task, followed by those of its deputy if they were considered."""
    unavailable_count: int
    reasons: tuple[Reason, ...]
    """Why the acting role is not the role of the answer, or why no agent can take the task."""
    state_version: int
