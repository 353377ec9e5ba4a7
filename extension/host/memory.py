"""What we remember of one agent between hooks: one record in its data, under a key that is never saved with a chat.

A chat that is loaded again, or a subordinate, begins with an empty record.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

KEY = "_orgkernel"


@dataclass(slots=True)
class RoleMemory:
    """How one role of one agent has been doing; forgotten when no role is active."""

    task_started: float
    """Seconds since 1970."""
    tokens_at_start: int | None = None
    """Tokens of the prompt when the task began."""
    turns: int = 0
    """Model calls since the task began."""
    turns_without_progress: int = 0
    consecutive_failures: int = 0
    total_failures: int = 0
    tier: str = "primary"
    held: tuple[str, ...] = ()
    """The PACE tiers whose trigger was last seen to be true."""
    duty: str = ""
    """What the role has to do in its tier, for the prompt; empty in primary."""
    emission: Any = None
    """What was last reported; the runtime's `EmissionState`."""
    files_read: list[str] = field(default_factory=list)
    files_modified: list[str] = field(default_factory=list)
    failing: list[str] = field(default_factory=list)
    """Tools that failed since the last success."""
    decision: Any = None
    """The runtime's last `PaceDecision`."""
    last_success: int = 0
    """Fingerprint of the last call that succeeded and what it answered; the same once more is no progress."""


@dataclass(slots=True)
class AgentMemory:
    """What we remember of one agent."""

    role_id: str | None = None
    """The role in force: what neighbors read and what calls are held to."""
    role_before: str | None = None
    """The role in force at the model call before."""
    visible: bool = False
    """Whether neighbors can read the role; under `observe` they cannot."""
    shown_to_neighbors: tuple[str, str | None] | None = None
    """The bundle and the role they were shown."""
    shown_role_id: str | None = None
    """The role whose tools the prompt of this call shows; they differ only until a classifier of the host has spoken."""
    domain: str | None = None
    task: str = ""
    task_mark: str = ""
    """Which message that is: the same words asked again are another task."""
    calls: int = 0
    """Model calls of this agent, the turns of signals."""
    new_task: bool = False
    """Whether the next model call is the first of a task."""
    tool: str = ""
    state: str = ""
    """The state a SALUTE report gives; empty where task and tier say."""
    roles: dict[str, RoleMemory] = field(default_factory=dict)
    model: str = ""
    window: int | None = None
    """Tokens the model takes."""
    trouble: str | None = None
    """The last error of ours since a role was last chosen without one."""
    said: set[str] = field(default_factory=set)
    """What is told once."""
    refused: str | None = None
    """The refusal on its way through the host."""
    steering: str | None = None
    """What the supervisor says in the next model call."""
    supervisor: Any = None
    """The runtime's `SupervisorMemory`."""
    sections: dict[str, str] = field(default_factory=dict)
    """Entries of the system prompt for the role shown, and what became of them."""
    sections_for: tuple[str, ...] | None = None
    tool_texts: Any = None
    """The host's files about tools as they were read last."""


def memory_of(agent: Any) -> AgentMemory:
    """The record of an agent; a new one where there is none, or none of ours."""
    found = agent.data.get(KEY)
    if not isinstance(found, AgentMemory):
        found = AgentMemory()
        agent.data[KEY] = found
    return found
