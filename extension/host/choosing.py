"""Choose the role of a message, once: by a pin, the agent's profile, the belief of a tracker, or the words of the
message.

A tracker reads whatever the loop hands on: tool results, refusals, warnings. So its belief is used only if it is
about the message: if it changed after the message came, and nothing was added after the message. Most trackers look
at a message after its first prompt was built. Where the words choose no role, such a belief still settles it
(`hear`).
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from . import delegation, pinning, reading
from .memory import NOTHING_YET, AgentMemory
from .organization import Active
from .runtime import bundle as bundles
from .runtime import text_index

_MOST_WORDS_OF_CONTINUATION = 12
_POINTS_BACK = re.compile(
    r"\b(it|that|this|these|those|them|same|again|continue|go on|go ahead|proceed|next|yes|ok|okay|retry|instead|more)\b",
    re.I,
)

_THANKS = re.compile(
    r"\b(thanks|thank you|thx|cheers|bye|goodbye|good night|see you)\b"
    r"|^\W*((ok|okay|yes|ah|oh|wow)\W+)*(great|perfect|nice|cool|awesome|excellent|wonderful|brilliant|good job|well done|that'?s (it|all)|that is all)\b",
    re.I,
)
_ASKS_ON = re.compile(
    r"\b(same|again|continue|go on|go ahead|carry on|proceed|next|retry|instead|more|also|too|do|try|please|but|still|not|\w+n't)\b",
    re.I,
)


class Choice(NamedTuple):
    """The role for a message, or None, and why."""

    role: bundles.BundleRole | None
    domain: str | None
    reason: str
    settled: bool = True
    """Whether it stays until the next message. If not, a tracker that has looked at the message may still choose."""
    remark: tuple[str, str] | None = None
    """A remark that tells the user how such a message can find a role: a heading and its content."""


def settle(active: Active, memory: AgentMemory, agent: Any) -> Choice:
    """Choose the role for the message that has just come. Its content is in `memory.task`."""
    belief = _find_belief_about_message(memory, agent)
    domain = belief.domain if belief is not None else None
    pinned = pinning.find_pinned_role(active, agent)
    if pinned is not None:
        return Choice(pinned, domain, "it is pinned to this chat")
    role = active.bundle.roles.get(reading.read_profile(agent))
    if role is not None:
        return Choice(role, domain, "the agent's profile is this role")
    below = delegation.find_role_below(active, memory, agent)
    if below is not None:
        return Choice(below[0], domain, below[1])
    if belief is not None:
        return _choose_by_belief(active, belief)
    return _choose_by_message(active, memory)


def hear(active: Active, memory: AgentMemory, agent: Any) -> Choice | None:
    """The role for a message whose words chose none, if a tracker has classified the message by now."""
    belief = _find_belief_about_message(memory, agent)
    return _choose_by_belief(active, belief) if belief is not None else None


def keep(active: Active, memory: AgentMemory) -> Choice:
    """The role that was chosen for the last message. None if the organization no longer has it."""
    if memory.heard is not None:
        heard: Choice = memory.heard
        return heard
    role = active.bundle.roles.get(memory.role_id) if memory.role_id is not None else None
    return Choice(role, memory.domain, "the organization no longer has this role")


def _find_belief_about_message(memory: AgentMemory, agent: Any) -> reading.Belief | None:
    belief = reading.read_belief(agent)
    if belief is None or belief.is_same(memory.belief):
        return None
    messages = reading.list_messages(agent)
    if not messages or messages[-1] != reading.get_content(agent):
        return None  # the tracker could have read a later message
    # An agent that is first seen in the middle of its chat could have a belief about an earlier message.
    return belief if memory.message is not NOTHING_YET or len(messages) == 1 else None


def _choose_by_belief(active: Active, belief: reading.Belief) -> Choice:
    match = bundles.find_role(active.bundle, belief.domain)
    return Choice(match.role, match.domain, match.reason)


def _choose_by_message(active: Active, memory: AgentMemory) -> Choice:
    if active.words is None:
        if _is_continuation(memory.task):
            return _continue_task(active, memory)
        return _leave_open("the organization has no words to choose a role by")
    ranking = text_index.rank_roles(active.words, memory.task)
    if ranking.outcome == "role":
        best = ranking.ranked[0]
        role = active.bundle.roles[active.words.roles[best.role]]
        domain = text_index.find_nearest_domain(
            best.evidence,
            (
                (name, (name, *active.bundle.domains[name].triggers, *active.bundle.domains[name].examples))
                for name in role.domains
                if name in active.bundle.domains
            ),
        )
        return Choice(role, domain, _explain_choice(role, best))
    if ranking.outcome == "small_talk":
        return Choice(None, None, "the message is small talk")
    if ranking.outcome != "close" and _is_continuation(memory.task):
        return _continue_task(active, memory)
    if ranking.outcome == "close":
        names = " and ".join(active.words.roles[each.role] for each in ranking.ranked[:2])
        return _leave_open(delegation.say_tie(names))
    if ranking.outcome == "language":
        reason = f"the message seems to be {ranking.language}, and no role has examples in this language"
        advice = f"{reason[:1].upper()}{reason[1:]}. Give roles `examples` in it, and activate the organization again."
        return _leave_open(reason, (f"No role for a message in {ranking.language}", advice))
    return _leave_open("the message is not about the work of any role")


def _leave_open(reason: str, remark: tuple[str, str] | None = None) -> Choice:
    return Choice(None, None, reason, settled=False, remark=remark)


def _explain_choice(role: bundles.BundleRole, best: text_index.Ranked) -> str:
    kinds = {each.kind for each in best.evidence}
    if "name" in kinds:
        return f"the message asks {role.role_id} by name"
    if "example" in kinds:
        return f"the message is an example of {role.role_id}"
    return text_index.say_why(best)


def _continue_task(active: Active, memory: AgentMemory) -> Choice:
    kept = keep(active, memory)
    if kept.role is None:
        return _leave_open("the message continues a task that had no role")
    return Choice(kept.role, kept.domain, delegation.CONTINUES)


def _is_continuation(message: str) -> bool:
    """Whether a message continues the previous task. Thanks do not, unless they ask for something."""
    if len(message.split()) > _MOST_WORDS_OF_CONTINUATION:
        return False
    return (_ASKS_ON if _THANKS.search(message) else _POINTS_BACK).search(message) is not None
