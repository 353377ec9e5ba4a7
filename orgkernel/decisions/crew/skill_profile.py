"""Build the skill profile of an agent: its skills at their current level, and the gaps for its roles and ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from orgkernel.decisions.access.layers.rank import get_current_rank
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.crew.promotion import RequirementCheck, check_rank
from orgkernel.decisions.evidence.role_skills import RoleSkill, find_skills_of_roles, list_universal_skills
from orgkernel.decisions.evidence.skill_levels import (
    DAY,
    LOWEST,
    compute_current_level,
    compute_current_levels,
    compute_practiced_level,
    list_coming_lapses,
)
from orgkernel.decisions.evidence.state_view import (
    QualificationResult,
    SkillRecord,
    SkillSource,
    StateView,
)
from orgkernel.decisions.reasons import Why, cite_edge, cite_place
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import UNIVERSAL
from orgkernel.graph.questions import OrgView
from orgkernel.runtime.utc import as_utc

SkillGroup = Literal["universal", "role", "acquired"]
BROAD_FROM = 2
"""The level from which a skill counts toward the breadth of an agent."""


class HeldSkill(msgspec.Struct, frozen=True, kw_only=True):
    """A skill that an agent holds."""

    skill: str
    name: str
    group: SkillGroup
    level: int
    """The current level, 1 to 7; 0 for a skill that no catalog declares."""
    level_name: str
    recorded_level: int
    """The level that was recorded last."""
    suspended: bool
    source: SkillSource
    exercises: int
    acquired_at: str | None
    last_exercised_at: str | None
    decays_at: str | None
    """The time of the next loss of a level; null if the skill does not decay."""
    external: dict[str, str]
    """The ids of the skill in public classifications."""
    why: tuple[Why, ...]


class SkillGap(msgspec.Struct, frozen=True, kw_only=True):
    """A skill that a role requires and that the agent does not hold at the required level."""

    skill: str
    name: str
    required: int
    level: int | None
    """The agent's current level; null if it does not hold the skill or the skill is suspended."""
    optional: bool
    text: str
    blocked_by: tuple[str, ...]
    """Missing prerequisites for acquiring it, each with the level it needs."""
    why: tuple[Why, ...]


class RankGap(msgspec.Struct, frozen=True, kw_only=True):
    """A rank above the agent's own, with the missing requirements."""

    rank: str
    unmet: tuple[RequirementCheck, ...]


class SkillProfile(msgspec.Struct, frozen=True, kw_only=True):
    """The skills of an agent.

    >>> from orgkernel import Kernel
    >>> Kernel.open().skill_profile("household", "clerk").depth
    0
    """

    agent_id: str
    org_id: str
    universal: tuple[HeldSkill, ...]
    """Skills that every agent needs (category `pcc`)."""
    role: tuple[HeldSkill, ...]
    """Skills that one of its roles names."""
    acquired: tuple[HeldSkill, ...]
    depth: int
    """The highest level of a skill that is not suspended; 0 if there is none."""
    breadth: int
    """The number of skills at level 2 or above that are not suspended."""
    gaps: tuple[SkillGap, ...]
    rank_gaps: tuple[RankGap, ...]
    snapshot: str
    state_version: int


def build_skill_profile(view: OrgView, state: StateView, agent_id: str, now: float) -> SkillProfile:
    """The skill profile of a declared agent. Raises KeyError if no roster declares it."""
    subject = get_access_tables(view).find_subject(f"agent:{agent_id}")
    if subject is None:
        raise KeyError(agent_id)
    role_skills = find_skills_of_roles(view, (edge.target for edge in view.list_roles_filled_by(agent_id)))
    held = tuple(
        _build_held_skill(view, record, state.results.get(agent_id, ()), role_skills, now)
        for record in state.skills.get(agent_id, ())
    )
    groups = {group: tuple(each for each in held if each.group == group) for group in SKILL_GROUPS}
    used = [each.level for each in held if not each.suspended]
    ranks = view.records.ranks[get_current_rank(view, state, subject) + 1 :]
    above = ((rank.id, check_rank(view, state, agent_id, rank, now)) for rank in ranks)
    return SkillProfile(
        agent_id=agent_id,
        org_id=view.org_id,
        **groups,
        depth=max(used, default=0),
        breadth=sum(level >= BROAD_FROM for level in used),
        gaps=tuple(_find_gaps(view, state, agent_id, role_skills, now)),
        rank_gaps=tuple(
            RankGap(rank=rank, unmet=tuple(each for each in checks if not each.met)) for rank, checks in above
        ),
        snapshot=view.digest,
        state_version=state.version,
    )


SKILL_GROUPS: tuple[SkillGroup, ...] = ("universal", "role", "acquired")


def _build_held_skill(
    view: OrgView,
    record: SkillRecord,
    results: Sequence[QualificationResult],
    role_skills: Mapping[str, RoleSkill],
    now: float,
) -> HeldSkill:
    definition = view.records.skills.get(record.skill)
    level, decays_at = 0, None
    if definition is not None:
        days = definition.record.decay_rate_days
        level = compute_current_level(view.records, record, results, now)
        losses = list_coming_lapses(view.records, record, results, now)
        if not record.suspended:
            # One period of decay takes one level. The next loss is one period after those that led to the level of practice.
            lost = record.proficiency - compute_practiced_level(record, days, now)
            losses.append(record.decays_from + (lost + 1) * days * DAY)
        # Nothing below the lowest level can be lost.
        if level > LOWEST and losses:
            decays_at = as_utc(min(losses))
    group: SkillGroup = "role" if record.skill in role_skills else "acquired"
    # A universal skill that a role also names stays in the group that every agent has.
    if definition is not None and definition.record.category == UNIVERSAL:
        group = "universal"
    declared = (
        () if definition is None else (cite_place(f"skill {record.skill} is declared", definition.place()),)
    )
    required = (cite_edge(role_skills[record.skill].edge),) if record.skill in role_skills else ()
    scale = view.records.proficiency_scale
    return HeldSkill(
        skill=record.skill,
        name=(definition.record.name if definition else "") or record.skill,
        group=group,
        level=level,
        level_name=scale[level - 1] if 0 < level <= len(scale) else "",
        recorded_level=record.proficiency,
        suspended=record.suspended,
        source=record.source,
        exercises=record.exercises,
        acquired_at=as_utc(record.acquired_at),
        last_exercised_at=as_utc(record.last_exercised_at),
        decays_at=decays_at,
        external=dict(definition.record.external) if definition else {},
        why=(*declared, *required),
    )


def _find_gaps(
    view: OrgView, state: StateView, agent_id: str, role_skills: Mapping[str, RoleSkill], now: float
) -> Iterator[SkillGap]:
    """The gaps of an agent: universal skills are required at level 1, and the skills of its roles at theirs."""
    records = state.skills.get(agent_id, ())
    levels = compute_current_levels(view.records, state, agent_id, now)
    suspended = {each.skill for each in records if each.suspended}
    for skill in dict.fromkeys((*list_universal_skills(view), *role_skills)):
        role_skill = role_skills.get(skill)
        required = LOWEST if role_skill is None else role_skill.required
        level = levels.get(skill)
        if level is not None and level >= required:
            continue
        definition = view.records.skills.get(skill)
        if level is not None:
            has = f"has level {level} of {quote(skill)}"
        else:
            has = f"has {quote(skill)} suspended" if skill in suspended else f"does not have {quote(skill)}"
        prerequisites = {} if definition is None else definition.record.prerequisite_levels
        # Prerequisites are for acquiring a skill. For one that the agent has, they explain nothing.
        is_held = level is not None or skill in suspended
        declared = (
            () if definition is None else (cite_place(f"skill {skill} is declared", definition.place()),)
        )
        yield SkillGap(
            skill=skill,
            name=(definition.record.name if definition else "") or skill,
            required=required,
            level=level,
            optional=role_skill is not None and role_skill.optional,
            text=f"it {has}, and level {required} is required",
            blocked_by=()
            if is_held
            else tuple(
                f"{each}: {lowest}" for each, lowest in prerequisites.items() if levels.get(each, 0) < lowest
            ),
            why=declared if role_skill is None else (cite_edge(role_skill.edge),),
        )
