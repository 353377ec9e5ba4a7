"""Which agent takes each subtask that may start: the answer of dispatch, with another agent for each subtask of a batch.

Error policy: fails closed. A subtask that states its domain may not start if no role takes it, or no agent can take it now.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.dispatch.by_agent import choose_agents
from orgkernel.decisions.dispatch.by_domain import DispatchDecision, decide_dispatch
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.decisions.reasons import Reason
from orgkernel.decisions.work.batches.plan import BatchPlan, Wait, plan_batches
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Subtask, SubtaskPlan
from orgkernel.graph.questions import OrgView


class SubtaskAssignment(msgspec.Struct, frozen=True, kw_only=True):
    """Who takes a subtask that may start now."""

    subtask: str
    role_id: str
    agent_id: str | None
    """The first agent in the order of dispatch that has no other subtask of the batch. None without a store or agents."""
    acting_role: str | None
    """The role that the agent fills: `role_id`, its deputy, or a superior."""
    reasons: tuple[Reason, ...]
    """Why the role takes it, and why another role acts for it."""


class AssignedPlan(msgspec.Struct, frozen=True):
    """Batches, and who takes each subtask that may start."""

    plan: BatchPlan
    assignments: tuple[SubtaskAssignment, ...] = ()
    """In the order of `plan.start`. Subtasks that state no domain have none."""


class BatchAssigner:
    """The organization and the state in which subtasks are assigned. Without a state, only roles are known."""

    def __init__(self, view: OrgView, state: StateView | None, context: AccessContext) -> None:
        self._view = view
        self._state = state
        self._context = context
        self._decisions: dict[str, DispatchDecision] = {}

    def plan(self, plan: SubtaskPlan, done: Collection[str], running: Collection[str]) -> AssignedPlan:
        """The batches of a valid plan. Subtasks that no agent can take now wait, and leave their place to others."""
        subtasks = {each.id: each for each in plan.subtasks}
        held_back: dict[str, Wait] = {}
        while True:
            batches = plan_batches(plan, done, running, held_back)
            assignments, waits = self._assign([subtasks[each] for each in batches.start])
            if not waits:
                return AssignedPlan(batches, tuple(assignments))
            held_back |= waits

    def _assign(self, start: Sequence[Subtask]) -> tuple[list[SubtaskAssignment], dict[str, Wait]]:
        assignments: list[SubtaskAssignment] = []
        waits: dict[str, Wait] = {}
        subtasks_by_agent: dict[str, str] = {}
        for subtask in start:
            if subtask.domain is None:
                continue
            decision = self._dispatch(subtask, subtask.domain)
            crew = decision.crew
            if decision.role_id is None:
                waits[subtask.id] = Wait("NO_ROLE", _join(decision.reasons), ())
                continue
            agents = () if crew is None else crew.agents
            free = next((each.agent_id for each in agents if each.agent_id not in subtasks_by_agent), None)
            if free is None and crew is not None:
                if not agents:
                    waits[subtask.id] = Wait("NO_AGENT", _join(crew.reasons), ())
                else:
                    busy = tuple(dict.fromkeys(subtasks_by_agent[each.agent_id] for each in agents))
                    text = f"every agent who can take it now has another subtask, {quote(busy[0])} first"
                    waits[subtask.id] = Wait("AGENT_HAS_OTHER_SUBTASK", text, busy)
                continue
            if free is not None:
                subtasks_by_agent[free] = subtask.id
            assignments.append(
                SubtaskAssignment(
                    subtask=subtask.id,
                    role_id=decision.role_id,
                    agent_id=free,
                    acting_role=None if crew is None else crew.acting_role,
                    reasons=decision.reasons if crew is None else (*decision.reasons, *crew.reasons),
                )
            )
        return assignments, waits

    def _dispatch(self, subtask: Subtask, domain: str) -> DispatchDecision:
        known = self._decisions.get(subtask.id)
        if known is None:
            known = decide_dispatch(self._view, domain, needs=subtask.needs)
            if self._state is not None:
                known = choose_agents(
                    self._view, self._state, known, subtask.needs, self._context, all_considered=True
                )
            self._decisions[subtask.id] = known
        return known


def _join(reasons: Sequence[Reason]) -> str:
    return "; ".join(reason.text for reason in reasons)
