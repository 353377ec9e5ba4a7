"""Change the skills of agents. Each change needs a right over the agent, so an agent cannot certify itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgkernel.decisions.evidence.skill_levels import (
    LOWEST,
    SkillTerms,
    compute_current_level,
    get_skill_terms,
)
from orgkernel.decisions.evidence.state_records import SkillAssessment
from orgkernel.decisions.evidence.state_view import SkillRecord, SkillSource
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.errors import Refused
from orgkernel.operations.agents import require_agent
from orgkernel.operations.context import Context
from orgkernel.operations.organizations import choose_organization, require_one
from orgkernel.operations.rights import UNKNOWN_NAME, open_noted_store
from orgkernel.snapshots.snapshot import require_declared_agent

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store


def acquire_skill(
    context: Context,
    agent_id: str,
    skill: str,
    *,
    level: int = LOWEST,
    source: SkillSource = "experience",
    org: str | None = None,
    reason: str = "",
) -> SkillRecord:
    """Record that an agent has learned a skill. Raises `Conflict` if it has it already, or lacks a prerequisite."""
    org_id, store = _require_skill_right(
        context, agent_id, org, "a skill", f"add a skill of {quote(f'agent:{agent_id}')}"
    )
    terms = _require_terms(context, org_id, skill)
    return store.skills.acquire(
        agent_id,
        terms,
        org_id=org_id,
        actor=context.actor.name,
        level=level,
        source=source,
        note=reason,
    )


def exercise_skill(
    context: Context,
    agent_id: str,
    skill: str,
    *,
    org: str | None = None,
    reason: str = "",
) -> SkillRecord:
    """Record that an agent has practiced a skill. The level after decay is stored, and the decay period starts again."""
    org_id, store = _require_skill_right(
        context, agent_id, org, "an exercise", f"record an exercise of {quote(f'agent:{agent_id}')}"
    )
    terms = _require_terms(context, org_id, skill)
    return store.skills.exercise(agent_id, terms, org_id=org_id, actor=context.actor.name, note=reason)


def assess_skill(
    context: Context,
    agent_id: str,
    skill: str,
    level: int,
    *,
    source: SkillSource = "assessment",
    org: str | None = None,
    reason: str = "",
) -> SkillRecord:
    """Record an assessed level, higher or lower than before. Raises as `acquire_skill`, for a higher level."""
    org_id, store = _require_skill_right(
        context, agent_id, org, "the level of a skill", f"assess {quote(f'agent:{agent_id}')}"
    )
    terms = _require_terms(context, org_id, skill)
    return store.skills.assess(
        agent_id, terms, level, org_id=org_id, actor=context.actor.name, source=source, note=reason
    )


def suspend_skill(
    context: Context, agent_id: str, skill: str, *, org: str | None = None, reason: str = ""
) -> SkillRecord:
    """Suspend a skill of an agent."""
    org_id, store = _require_skill_right(
        context, agent_id, org, "a skill", f"suspend a skill of {quote(f'agent:{agent_id}')}"
    )
    terms = _require_terms(context, org_id, skill)
    return store.skills.suspend(agent_id, terms, org_id=org_id, actor=context.actor.name, note=reason)


def resume_skill(
    context: Context, agent_id: str, skill: str, *, org: str | None = None, reason: str = ""
) -> SkillRecord:
    """Resume a suspended skill of an agent."""
    org_id, store = _require_skill_right(
        context, agent_id, org, "a skill", f"resume a skill of {quote(f'agent:{agent_id}')}"
    )
    return store.skills.resume(agent_id, skill, org_id=org_id, actor=context.actor.name, note=reason)


def list_skill_history(
    context: Context,
    agent_id: str,
    *,
    org: str | None = None,
    after: int = 0,
    limit: int | None = None,
    until: float | None = None,
) -> tuple[SkillAssessment, ...]:
    """Changes of an agent's skills, oldest first: at most `limit` after the one with number `after`, up to a time.

    Raises `UnknownAgent` if it has no history and no roster declares it.
    """
    org_id = choose_organization(context, org)
    require_one(org_id, "the history of skills")
    changes = context.store.skills.history(org_id, agent_id, after=after, limit=limit)
    if not changes:
        require_declared_agent(context.documents.organization(org_id).snapshot.records, agent_id)
    return tuple(each for each in changes if until is None or each.at <= until)


def compute_level_now(context: Context, record: SkillRecord) -> int:
    """The level of a skill now, which is below the recorded one while a result that gave it is not valid."""
    records = context.documents.organization(record.org_id).snapshot.records
    if record.skill not in records.skills:
        return record.proficiency
    results = context.store.read_view(record.org_id).results.get(record.agent_id, ())
    return compute_current_level(records, record, results, context.store.context.clock())


def _require_skill_right(
    context: Context, agent_id: str, org: str | None, what: str, act: str
) -> tuple[str, Store]:
    """The organization, and the store that records the right to the change."""
    org_id = choose_organization(context, org)
    require_one(org_id, what)
    right = require_agent(context, org_id, agent_id, act, f"{act.partition(' ')[0]} its own skills")
    return org_id, open_noted_store(context, right)


def _require_terms(context: Context, org_id: str, skill: str) -> SkillTerms:
    """The terms of a skill. Raises `Refused` if no catalog declares it."""
    records = context.documents.organization(org_id).snapshot.records
    if skill not in records.skills:
        help = did_you_mean(skill, records.skills) or "declare it in a `skill_catalog`"
        raise Refused(f"there is no skill {quote(skill)}", help, UNKNOWN_NAME)
    return get_skill_terms(records, skill)
