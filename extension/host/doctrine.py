"""PACE of the active role before the prompt is built, and its SALUTE report before the model is called."""

from __future__ import annotations

import os
import time
from functools import cache
from typing import Any

from . import effect, places, reading, report_writer
from .memory import AgentMemory, RoleMemory
from .organization import Active
from .runtime import bundle as bundles
from .runtime import observation, pace, salute, tiers
from .saying import say, say_once

_GRAPHICS = "/dev/nvidiactl"


@cache
def _has_graphics() -> bool:
    return os.path.exists(_GRAPHICS)


@cache
def _get_working_directory() -> str:
    """The working directory of the host's process, which does not change."""
    return os.getcwd()


def observe(agent: Any, memory: AgentMemory, own: RoleMemory) -> observation.Observation:
    """The known measures of the role, after the calls that it has made. Unknown ones are left out."""
    tokens = reading.read_tokens(agent)
    fill = tokens / memory.window if tokens is not None and memory.window else None
    stale = reading.count(reading.plan_of(agent).get("turns_since_progress"))
    return observation.Observation(
        consecutive_tool_failures=own.consecutive_failures,
        total_tool_failures=own.total_failures,
        context_fill=None if fill is None else min(fill, 1.0),
        turns_without_progress=own.turns_without_progress if stale is None else stale,
        turns_elapsed=own.turns,
        elapsed_seconds=max(time.time() - own.task_started, 0.0),
        context_exhausted=None if fill is None else fill >= 1.0,
    )


def apply_pace(
    active: Active, memory: AgentMemory, agent: Any, role: bundles.BundleRole, own: RoleMemory
) -> None:
    """Decide the role's tier, write it where neighbors read it, and log every change."""
    # A neighbor writes the escalation of a plan to the same attribute. It is used as the previous tier.
    outside = getattr(agent, "_org_pace_level", None) if memory.visible else None
    held = (outside,) if outside in tiers.TIERS[1:] and outside != own.tier else own.held
    decision = pace.decide_pace(
        active.plans[role.role_id], observe(agent, memory, own), held, new_task=memory.new_task
    )
    before = own.tier
    own.tier, own.held = decision.tier, decision.held
    own.decision = decision
    if memory.visible:
        agent._org_pace_level = decision.tier
    duty = decision.obligations[0].text if decision.obligations and decision.tier != tiers.PRIMARY else ""
    own.duty = f"PACE {decision.tier}: {duty}" if duty else ""
    if decision.tier != before:
        effect.note_tier(agent, memory, role.role_id, decision.tier)
        kind = "warning" if tiers.TIERS.index(decision.tier) > tiers.TIERS.index(before) else "info"
        say(agent, f"PACE {role.role_name}: {decision.tier}", content=decision.text(), kind=kind)


def report(
    active: Active, memory: AgentMemory, agent: Any, role: bundles.BundleRole, own: RoleMemory
) -> None:
    """Write the role's SALUTE report if it is due."""
    situation = build_situation(active, memory, agent, role, own)
    due, _, own.emission = salute.find_emission(own.emission, situation, role.doctrine)
    if due:
        made = salute.compute_report(situation)
        problem = report_writer.write_later(os.path.join(places.ORGANIZATIONS, places.REPORTS), made)
        _say_problem(memory, agent, problem)


def finish_reports(memory: AgentMemory, agent: Any) -> None:
    """At the end of a turn, wait for reports that are being written."""
    _say_problem(memory, agent, report_writer.finish())


def _say_problem(memory: AgentMemory, agent: Any, problem: str) -> None:
    if problem:
        say_once(agent, memory, "SALUTE report not written", content=problem, kind="warning")


def build_situation(
    active: Active, memory: AgentMemory, agent: Any, role: bundles.BundleRole, own: RoleMemory
) -> salute.Situation:
    """The measured values that a report is computed from."""
    plan = reading.plan_of(agent)
    tokens = reading.read_tokens(agent) or 0
    step = reading.count(plan.get("current_step")) or 0
    return salute.Situation(
        role_id=role.role_id,
        now=time.time(),
        role_name=role.role_name,
        org_id=str(active.bundle.organization.get("org_id", "")),
        reports_to=role.reports_to,
        agent_number=reading.count(getattr(agent, "number", 0)) or 0,
        tier=own.tier,
        state=memory.state or None,
        task=memory.task,
        domain=memory.domain or "",
        plan=str(plan.get("plan_id") or ""),
        plan_step=step,
        plan_steps=reading.count(plan.get("total_steps")) or reading.count(plan.get("total_nodes")) or 0,
        plan_steps_done=_count_done_steps(plan.get("steps_completed"))
        or _count_done_steps(plan.get("completed_nodes")),
        plan_turns_since_progress=reading.count(plan.get("turns_since_progress")),
        iterations_on_step=reading.count(plan.get("turns_since_transition")) or own.turns_without_progress,
        tool=memory.tool,
        working_directory=_get_working_directory(),
        files_modified=tuple(own.files_modified),
        files_read=tuple(own.files_read),
        task_started=own.task_started,
        turns_elapsed=own.turns,
        turns_since_progress=own.turns_without_progress,
        model=memory.model,
        tokens_used=tokens,
        tokens_max=memory.window or 0,
        tokens_at_start=own.tokens_at_start,
        gpu_available=_has_graphics(),
        failures_consecutive=own.consecutive_failures,
        failures_total=own.total_failures,
        memory_fragments=reading.read_fragments(agent),
    )


def _count_done_steps(value: object) -> int:
    """The number of completed steps. Neighbors store either the number or the steps."""
    return len(value) if isinstance(value, list | tuple | set | dict) else reading.count(value) or 0
