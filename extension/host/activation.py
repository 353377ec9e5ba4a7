"""Activate a role: write what neighbors read, limit the plans they may match, and log each change."""

from __future__ import annotations

import copy
import time
from typing import Any

from . import effect, pinning, reading
from .choosing import Choice
from .memory import AgentMemory, RoleMemory
from .organization import Active
from .runtime import bundle as bundles
from .saying import say

PLANS = "_org_htn_allowed_plans"


def begin_task(active: Active, memory: AgentMemory, agent: Any) -> bool:
    """Record the task of a message that has just come. False if the message only asks which role is pinned."""
    task = pinning.obey(active, agent, reading.read_task(agent))
    if task is None:
        return False
    memory.task = task
    memory.new_task = True
    memory.state = ""
    memory.steering = None
    memory.tool_texts = None
    memory.model, memory.window = reading.read_model(agent)
    return True


def put_in_force(active: Active, memory: AgentMemory, agent: Any, choice: Choice) -> None:
    """Activate the chosen role, and log it if it is another role than before."""
    role, before = choice.role, memory.role_id
    own = memory.roles.get(before) if before is not None else None
    reason = choice.reason
    if own is not None and own.tier != "primary" and choice.effect in ("end", "leave", "begin"):
        failures = (
            f", and its {own.total_failures} failures no longer count" if own.total_failures > 1 else ""
        )
        reason = f"{reason}. Its PACE tier {own.tier} ends with the task{failures}"
    _start_or_go_on(memory, role, choice)
    memory.domain = choice.domain
    memory.role_id = role.role_id if role is not None else None
    if role is None:
        memory.roles.clear()
    if active.settings.enforcement == "observe":
        _hide(memory, agent)
    else:
        _show(active, memory, agent, role)
    if before != memory.role_id:
        if role is not None:
            effect.note_role(agent, memory, role.role_id)
        _say_transition(active, agent, before, role, reason)


def switch_off(memory: AgentMemory, agent: Any) -> None:
    """The layer was switched off: remove what neighbors read."""
    memory.role_id = memory.domain = None
    memory.roles.clear()
    _hide(memory, agent)


def _start_or_go_on(memory: AgentMemory, role: bundles.BundleRole | None, choice: Choice) -> None:
    """Reset the counters for a new task. A message about the same domain continues the task while failures are open."""
    if role is None:
        return
    domain = choice.domain
    own = memory.roles.get(role.role_id)
    if own is None:
        memory.roles[role.role_id] = RoleMemory(task_started=time.time())
    elif memory.new_task:
        if choice.effect == "pause":
            memory.new_task = False
        elif choice.effect == "keep" or (
            memory.role_id == role.role_id and memory.domain == domain and own.consecutive_failures
        ):
            own.turns_without_progress = 0  # a message from the user is progress
            memory.new_task = False
        else:
            memory.roles[role.role_id] = RoleMemory(
                task_started=time.time(), tier=own.tier, held=own.held, emission=own.emission
            )


def _show(active: Active, memory: AgentMemory, agent: Any, role: bundles.BundleRole | None) -> None:
    """Write what neighbors read."""
    shown = (active.bundle.checksum, memory.role_id)
    changed = not memory.visible or shown != memory.shown_to_neighbors
    memory.visible, memory.shown_to_neighbors = True, shown
    if changed or getattr(agent, "_org_active", None) is None:
        # Copies, so that a neighbor cannot change the bundle.
        agent._org_active = copy.deepcopy(active.bundle.document)
        agent._org_active_role = copy.deepcopy(role.profile) if role is not None else None
    if changed or role is None:
        agent._org_pace_level = memory.roles[role.role_id].tier if role is not None else "primary"
    agent.set_data(PLANS, list(role.plans) if role is not None else None)
    if role is not None:
        _release_plan(role, agent)


def _hide(memory: AgentMemory, agent: Any) -> None:
    """Remove what neighbors read, if it was written."""
    if memory.visible:
        memory.visible = False
        agent._org_active = agent._org_active_role = None
        agent._org_pace_level = "primary"
        agent.set_data(PLANS, None)


def _release_plan(role: bundles.BundleRole, agent: Any) -> None:
    """Release a plan that another role began. This role could not run it, only declare it complete."""
    plan = reading.plan_of(agent).get("plan_id")
    if plan is not None and plan not in role.plans:
        del agent._htn_state
        say(agent, f"Plan released: {plan}", content=f"It is not a plan of {role.role_name}.")


def _say_transition(
    active: Active, agent: Any, before: str | None, role: bundles.BundleRole | None, reason: str
) -> None:
    last = active.bundle.roles.get(before) if before is not None else None
    was = last.role_name if last is not None else before
    if role is not None:
        instead = f" (instead of {was})" if was else ""
        say(agent, f"Role activated: {role.role_name}{instead}", content=reason)
    elif was:
        say(agent, f"Role released: {was}", content=reason)
