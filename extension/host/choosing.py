"""Choose the role of an agent: by its profile, by the belief of the host's classifier, or by the message.

A role is chosen twice. First before the prompt is built, so that the first model call of a turn has the right role. At
that point the host's tracker still holds the belief about the previous message, so the message is read here. Then again
before the model is called: if the tracker has a belief by then, it decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from . import delegation, reading
from .memory import AgentMemory
from .organization import Active
from .runtime import bundle as bundles
from .runtime import text_index

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
    fixed = _by_profile(active, memory, agent)
    if fixed is not None:
        return fixed
    tracked, domain, _ = reading.belief_of(agent)
    if not first:
        return _by_belief(active, domain) if tracked else _as_before(active, memory, "the task is the same")
    choice = _by_message(active, memory)
    return Choice(choice.role, choice.domain, choice.reason, final=not tracked)


def choose(active: Active, memory: AgentMemory, agent: Any) -> Choice:
    """The role for the next model call."""
    fixed = _by_profile(active, memory, agent)
    if fixed is not None:
        return fixed
    tracked, domain, _ = reading.belief_of(agent)
    if tracked:
        return _by_belief(active, domain)
    shown = memory.shown_role_id
    return Choice(active.bundle.roles.get(shown) if shown else None, memory.domain, "by the message")


def _by_profile(active: Active, memory: AgentMemory, agent: Any) -> Choice | None:
    """A subordinate that was called with the profile of a role has that role for every task."""
    role = active.bundle.roles.get(reading.profile_of(agent))
    if role is None:
        below = delegation.role_below(active, memory, agent)
        return Choice(below[0], reading.belief_of(agent)[1], below[1]) if below is not None else None
    return Choice(role, reading.belief_of(agent)[1], "the agent's profile is this role")


def _by_belief(active: Active, domain: str | None) -> Choice:
    if domain is None:
        return Choice(None, None, "the belief state tracker classifies this as conversation")
    found = bundles.find_role(active.bundle, domain)
    return Choice(found.role, found.domain, found.reason)


def _by_message(active: Active, memory: AgentMemory) -> Choice:
    if active.index is None:
        if _continues(memory.task):
            return _as_before(active, memory, "the message continues the previous task")
        return Choice(None, None, "there are no words to choose a role by the message")
    found = text_index.rank_roles(active.index, memory.task)
    if found.outcome == "role":
        best = found.ranked[0]
        role = active.bundle.roles[active.index.roles[best.role]]
        domain = text_index.nearest_domain(
            best.evidence,
            (
                (name, (name, *active.bundle.domains[name].triggers, *active.bundle.domains[name].examples))
                for name in role.domains
                if name in active.bundle.domains
            ),
        )
        return Choice(role, domain, _why(role, best))
    if found.outcome == "small_talk":
        return Choice(None, None, "the message is small talk")
    if found.outcome != "close" and _continues(memory.task):
        return _as_before(active, memory, "the message continues the previous task")
    if found.outcome == "close":
        names = " and ".join(active.index.roles[each.role] for each in found.ranked[:2])
        return Choice(None, None, f"the message fits {names} equally well")
    if found.outcome == "language":
        return Choice(
            None, None, f"the message seems to be {found.language}, and no role has examples in this language"
        )
    return Choice(None, None, "the message is about the work of no role")


def _why(role: bundles.BundleRole, best: text_index.Ranked) -> str:
    kinds = {each.kind for each in best.evidence}
    if "name" in kinds:
        return f"the message asks {role.role_id} by name"
    if "example" in kinds:
        return f"the message is an example of {role.role_id}"
    words = ", ".join(f"`{each.word}`" for each in best.evidence[:3])
    return f"the message says {words}"


def _as_before(active: Active, memory: AgentMemory, reason: str) -> Choice:
    return Choice(active.bundle.roles.get(memory.role_id) if memory.role_id else None, memory.domain, reason)


def _continues(message: str) -> bool:
    return len(message.split()) <= _MOST_WORDS_OF_CONTINUATION and _POINTS_BACK.search(message) is not None
