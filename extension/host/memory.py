"""The state of one agent between hooks: one record in its data, under a key that is never saved with a chat.

A reloaded chat and a new subordinate start with an empty record.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

KEY = "_orgkernel"
NOTHING_YET: Any = object()
"""Marks an agent for whose message no role was chosen yet."""


@dataclass(slots=True)
class RoleMemory:
    """The counters of one role of one agent. They are dropped when no role is active."""

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
    """The PACE tiers whose trigger was last known to be true."""
    duty: str = ""
    """The instructions for the role in its tier, for the prompt. Empty in primary."""
    emission: Any = None
    """The last report: the runtime's `EmissionState`."""
    files_read: list[str] = field(default_factory=list)
    files_modified: list[str] = field(default_factory=list)
    failing: list[str] = field(default_factory=list)
    """Tools that failed since the last success."""
    decision: Any = None
    """The runtime's last `PaceDecision`."""
    last_success: int = 0
    """Fingerprint of the last successful call and its answer. The same again is not progress."""


@dataclass(slots=True)
class PromptMemory:
    """The last prompt of an agent."""

    question: tuple[object, ...] | None = None
    """The organization, the role and the folders that it was made for."""
    before: list[str] | None = None
    """The entries as the host built them."""
    after: list[str] | None = None
    """The trimmed entries, without the brief."""
    shaped: list[str] | None = None
    """The trimmed entries with the brief."""
    sections: list[str] = field(default_factory=list)
    """The entries that describe tools."""
    left: list[str] | None = None
    """The complete prompt after orgkernel's hooks, until the model is called."""


@dataclass(slots=True)
class AgentMemory:
    """The state of one agent between hooks."""

    role_id: str | None = None
    """The active role. The prompt shows it, neighbors read it, calls are checked against it, and reports name it."""
    role_before: str | None = None
    """The active role at the previous model call."""
    visible: bool = False
    """Whether neighbors can read the role. Under `observe` they cannot."""
    shown_to_neighbors: tuple[str, str | None] | None = None
    """The bundle and the role that neighbors were shown."""
    domain: str | None = None
    paused: bool = False
    """Whether the message is small talk within a task. Its model calls do not count for the task."""
    reason: str = ""
    """Why this role was chosen, or none."""
    task: str = ""
    life: Any = None
    """The runtime's `Task`: the work that the user's messages are about. None before the first."""
    message: Any = NOTHING_YET
    """The message that the role was settled for."""
    unsettled: bool = False
    """Whether the words of the message chose no role, and a tracker may choose one before the model is called."""
    heard: Any = None
    """The `Choice` by a tracker's belief. It is put in force when the next prompt is built."""
    belief: Any = None
    """The `Belief` that was there when the message came, or after the last hook since."""
    prepared: bool = False
    """Whether the role and its tier were found for the next model call."""
    calls: int = 0
    """Model calls of this agent. The signals count them as turns."""
    new_task: bool = False
    """Whether the next model call is the first of a task."""
    tool: str = ""
    state: str = ""
    """The state for a SALUTE report. Empty means that it follows from task and tier."""
    roles: dict[str, RoleMemory] = field(default_factory=dict)
    model: str = ""
    window: int | None = None
    """Tokens that fit in the model's window."""
    trouble: str | None = None
    """The last error since a role was chosen without one."""
    said: set[str] = field(default_factory=set)
    """Messages that were already logged."""
    handed: dict[str, str] = field(default_factory=dict)
    """Messages that were handed to subordinates, and the role in which each is done."""
    refused: str | None = None
    """The refusal that is passing through the host."""
    steering: str | None = None
    """The supervisor's message for the next model call."""
    steering_tier: str = ""
    """The tier that the message is about."""
    waited: bool = False
    """Whether the supervisor had something to say, and another layer had warned."""
    read: int = 0
    """How many messages of the history the model has read."""
    supervisor: Any = None
    """The runtime's `SupervisorMemory`."""
    prompt: PromptMemory = field(default_factory=PromptMemory)
    tool_texts: Any = None
    """The host's files about tools, as last read. None for a new message."""
    texts_read: bool = False
    """Whether they were read for this message."""


def get_memory(agent: Any) -> AgentMemory:
    """The record of an agent, or a new one."""
    memory = agent.data.get(KEY)
    if not isinstance(memory, AgentMemory):
        memory = AgentMemory()
        agent.data[KEY] = memory
    return memory
