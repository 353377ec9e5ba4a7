"""Choose the role of an agent: by its profile, by the belief of the host's classifier, or by the message.

A role is chosen twice. First before the prompt is built, so that the first model call of a turn has the right role. At
that point the host's tracker still holds the belief about the previous message, so the message is read here. Then again
before the model is called: if the tracker has a belief by then, it decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from . import reading
from .memory import AgentMemory
from .organization import Active
from .runtime import bundle as bundles
from .runtime import classification

_MOST_WORDS_OF_CONTINUATION = 12
_POINTS_BACK = re.compile(
    r"\b(it|that|this|these|those|them|same|again|continue|go on|go ahead|proceed|next|yes|ok|okay|retry|instead|more)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Choice:
    """The role for a task, or None, and why."""

    role: bundles.BundleRole | None
    domain: str | None
    reason: str
    final: bool = True
    """Whether the host's tracker may still change it before the model is called."""


def choose_early(active: Active, memory: AgentMemory, agent: Any, first: bool) -> Choice:
    """The role for the prompt that is built next. `first` is true in the first model call of a turn."""
    fixed = _by_profile(active, agent)
    if fixed is not None:
        return fixed
    tracked, domain, _ = reading.belief_of(agent)
    if not first:
        return _by_belief(active, domain) if tracked else _as_before(active, memory, "the task is the same")
    choice = _by_message(active, memory)
    return Choice(choice.role, choice.domain, choice.reason, final=not tracked)


def choose(active: Active, memory: AgentMemory, agent: Any) -> Choice:
    """The role for the next model call."""
    fixed = _by_profile(active, agent)
    if fixed is not None:
        return fixed
    tracked, domain, _ = reading.belief_of(agent)
    if tracked:
        return _by_belief(active, domain)
    shown = memory.shown_role_id
    return Choice(active.bundle.roles.get(shown) if shown else None, memory.domain, "by the message")


def _by_profile(active: Active, agent: Any) -> Choice | None:
    """A subordinate that was called with the profile of a role has that role for every task."""
    role = active.bundle.roles.get(reading.profile_of(agent))
    if role is None:
        return None
    return Choice(role, reading.belief_of(agent)[1], "the agent's profile is this role")


def _by_belief(active: Active, domain: str | None) -> Choice:
    if domain is None:
        return Choice(None, None, "the belief state tracker classifies this as conversation")
    found = bundles.find_role(active.bundle, domain)
    return Choice(found.role, found.domain, found.reason)


def _by_message(active: Active, memory: AgentMemory) -> Choice:
    found = classification.classify(active.classifier, memory.task)
    choices = [bundles.find_role(active.bundle, domain) for domain in found.domains]
    roles = {choice.role.role_id for choice in choices if choice.role is not None}
    if len(roles) == 1 and all(choice.role is not None for choice in choices):
        words = found.evidence[0]
        like = words == classification.LIKE_AN_EXAMPLE
        why = (
            f"the message is like an example of {found.domains[0]}"
            if like
            else f"the message contains `{words}`"
        )
        return Choice(choices[0].role, choices[0].domain, why)
    if not found.domains and _continues(memory.task):
        return _as_before(active, memory, "the message continues the previous task")
    return Choice(
        None, found.domains[0] if len(found.domains) == 1 else None, "the message matches no domain of a role"
    )


def _as_before(active: Active, memory: AgentMemory, reason: str) -> Choice:
    return Choice(active.bundle.roles.get(memory.role_id) if memory.role_id else None, memory.domain, reason)


def _continues(message: str) -> bool:
    return len(message.split()) <= _MOST_WORDS_OF_CONTINUATION and _POINTS_BACK.search(message) is not None
