"""Choose the role of a message, once: by a pin, the agent's profile, the task that it continues, the belief of a
tracker, or the words of the message.

A message that belongs to the task before it keeps the task's role (`runtime/task_life.py`).

A tracker reads whatever the loop hands on: tool results, refusals, warnings. So its belief is used only if it is
about the message: if it changed after the message came, and nothing was added after the message. Most trackers look
at a message after its first prompt was built. Where there is no task and the words choose no role, such a belief
still settles it (`hear`).
"""

from __future__ import annotations

import time
from functools import cache
from typing import Any, NamedTuple

from . import delegation, pinning, reading
from .memory import NOTHING_YET, AgentMemory
from .organization import Active
from .runtime import bundle as bundles
from .runtime import task_life, text_index


class Choice(NamedTuple):
    """The role for a message, or None, and why."""

    role: bundles.BundleRole | None
    domain: str | None
    reason: str
    settled: bool = True
    """Whether it stays until the next message. If not, a tracker that has looked at the message may still choose."""
    remark: tuple[str, str] | None = None
    """A remark that tells the user how such a message can find a role: a heading and its content."""
    effect: str = "begin"
    """The effect of the message on the task before it, as in the runtime's `Verdict`."""


def settle(active: Active, memory: AgentMemory, agent: Any) -> Choice:
    """Choose the role for the message that has just come. Its content is in `memory.task`."""
    belief = _find_belief_about_message(memory, agent)
    domain = belief.domain if belief is not None else None
    pinned = pinning.find_pinned_role(active, agent)
    if pinned is not None:
        return Choice(pinned, domain, pinning.PINNED)
    role = active.bundle.roles.get(reading.read_profile(agent))
    if role is not None:
        return Choice(role, domain, "the agent's profile is this role")
    below = delegation.find_role_below(active, memory, agent)
    if below is not None:
        return Choice(below[0], domain, below[1])
    choice = _choose_by_task(active, memory, belief)
    if choice is not None:
        return choice
    choice = _choose_by_belief(active, belief) if belief is not None else _choose_by_message(active, memory)
    _begin_task(memory, choice)
    return choice


def hear(active: Active, memory: AgentMemory, agent: Any) -> Choice | None:
    """The role for a message whose words chose none, if a tracker has classified the message by now."""
    belief = _find_belief_about_message(memory, agent)
    if belief is None:
        return None
    choice = _choose_by_belief(active, belief)
    _begin_task(memory, choice)
    return choice


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


def _choose_by_task(active: Active, memory: AgentMemory, belief: reading.Belief | None) -> Choice | None:
    """The role of a message after a task. None without a task, and if the message chooses a role by itself."""
    task = memory.life
    if task is None or task.role_id not in active.bundle.roles:
        return None
    words = active.words or _build_empty_index()
    match = bundles.find_role(active.bundle, belief.domain) if belief is not None else None
    believed = match.role.role_id if match is not None and match.role is not None else None
    verdict = task_life.judge_message(
        words,
        memory.task,
        text_index.rank_roles(words, memory.task),
        task,
        time.time(),
        lambda old, new: delegation.explain_no_right(active.bundle, old, new),
        believed,
    )
    if verdict.effect == "leave":
        memory.life = verdict.task
        # The words of the message choose no role, and the task before it is over.
        return (
            None
            if task_life.is_over(task, time.time())
            else Choice(None, None, verdict.reason, effect="leave")
        )
    role = active.bundle.roles.get(verdict.role_id or "")
    domain = task.domain
    if verdict.effect in ("begin", "move") and role is not None:
        domain = (
            match.domain
            if match is not None and verdict.role_id == believed
            else _find_domain(active, memory, role)
        )
    memory.life = verdict.task._replace(domain=domain)
    return Choice(role, domain if role is not None else None, verdict.reason, effect=verdict.effect)


def _begin_task(memory: AgentMemory, choice: Choice) -> None:
    if choice.role is not None:
        memory.life = task_life.begin_task(choice.role.role_id, memory.task, time.time(), choice.domain)


@cache
def _build_empty_index() -> text_index.TextIndex:
    return text_index.build_index([])


def _choose_by_message(active: Active, memory: AgentMemory) -> Choice:
    if active.words is None:
        return _leave_open("the organization has no words to choose a role by")
    ranking = text_index.rank_roles(active.words, memory.task)
    if ranking.outcome == "role":
        best = ranking.ranked[0]
        role = active.bundle.roles[active.words.roles[best.role]]
        domain = _find_domain_of(active, role, best)
        return Choice(role, domain, _explain_choice(role, best))
    if ranking.outcome == "small_talk":
        return Choice(None, None, task_life.IS_SMALL_TALK)
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


def _find_domain(active: Active, memory: AgentMemory, role: bundles.BundleRole) -> str | None:
    """The domain of the role that a message is about."""
    if active.words is None:
        return None
    ranking = text_index.rank_roles(active.words, memory.task)
    return _find_domain_of(active, role, ranking.ranked[0]) if ranking.outcome == "role" else None


def _find_domain_of(active: Active, role: bundles.BundleRole, best: text_index.Ranked) -> str | None:
    domains = active.bundle.domains
    return text_index.find_nearest_domain(
        best.evidence,
        (
            (name, (name, *domains[name].triggers, *domains[name].examples))
            for name in role.domains
            if name in domains
        ),
    )
