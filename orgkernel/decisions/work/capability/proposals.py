"""Propose procedures for cognitive skills that succeeded often. A proposal does not create a procedure.

The organization sets the required number of successes and their share of all outcomes. The evidence is the recorded
outcomes, by agent.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.decisions.reasons import Why, cite_place
from orgkernel.decisions.work.capability.skills import VisibleSkill, get_skills
from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView


class OutcomesOfAgent(msgspec.Struct, frozen=True):
    """The successes and failures of one agent with a skill."""

    agent: str
    successes: int
    failures: int
    last_at: float


class Proposal(msgspec.Struct, frozen=True):
    """A cognitive skill that could become a procedure, with its evidence."""

    skill: str
    intents: tuple[str, ...]
    skill_id: str
    """The declared skill that the procedure would be for."""
    successes: int
    failures: int
    success_rate: float
    agents: tuple[OutcomesOfAgent, ...]
    text: str
    why: tuple[Why, ...]


class Proposals(msgspec.Struct, frozen=True):
    """The proposals, and the threshold."""

    org_id: str
    min_successes: int
    min_success_rate: float
    proposals: tuple[Proposal, ...]
    snapshot: str
    state_version: int


def decide_proposals(view: OrgView, state: StateView) -> Proposals:
    """The skills that are proposed as procedures, those with the most successes first."""
    terms = view.records.organization.procedure_proposals
    counted: dict[str, list[OutcomesOfAgent]] = {}
    for agent_id, outcomes in state.outcomes.items():
        for each in outcomes:
            if each.kind == "cognitive_skill" and each.org_id == view.org_id:
                tally = OutcomesOfAgent(f"agent:{agent_id}", each.successes, each.failures, each.last_at)
                counted.setdefault(each.name, []).append(tally)
    proposals = sorted(_find_proposals(view, counted), key=lambda each: (-each.successes, each.skill))
    return Proposals(
        view.org_id, terms.min_successes, terms.min_success_rate, tuple(proposals), view.digest, state.version
    )


def _find_proposals(view: OrgView, outcomes_by_skill: dict[str, list[OutcomesOfAgent]]) -> Iterator[Proposal]:
    terms = view.records.organization.procedure_proposals
    for name, skill in get_skills(view).items():
        if skill.problems or name in _find_skills_with_procedure(view):
            continue
        agents = tuple(sorted(outcomes_by_skill.get(name, ()), key=lambda each: each.agent))
        successes, failures = (
            sum(each.successes for each in agents),
            sum(each.failures for each in agents),
        )
        # Compared without a division, because 9 / 10 is not exact as a float.
        total = successes + failures
        if successes >= terms.min_successes and successes >= terms.min_success_rate * total - 1e-9:
            yield _build_proposal(skill, agents, successes, failures)


def _build_proposal(
    skill: VisibleSkill, agents: tuple[OutcomesOfAgent, ...], successes: int, failures: int
) -> Proposal:
    gates, total = skill.gates, successes + failures
    text = f"skill `{skill.name}` succeeded {successes} of {total} times, used by {len(agents)} agent{'s' * (len(agents) > 1)}"
    why = (cite_place(f"skill {skill.name} is declared", skill.definition.place("name")),)
    return Proposal(
        skill.name, gates.intents, gates.skill_id, successes, failures, round(successes / total, 4), agents,
        text, why,
    )  # fmt: skip


@PerView
def _find_skills_with_procedure(view: OrgView) -> frozenset[str]:
    """Skills that a procedure falls back to, so they have a procedure already."""
    procedures = view.records.procedures.values()
    return frozenset(
        each.record.falls_back_to for each in procedures if each.record.falls_back_to is not None
    )
