"""The skills that roles require, in one table, for profiles and commissions of agents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec

from orgkernel.documents.records import UNIVERSAL
from orgkernel.graph.memo import PerView, per_view_and_key
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge

_MAX_CACHED = 4_096
"""The number of cached sets of roles for each view."""


class RoleSkill(msgspec.Struct, frozen=True):
    """A skill that at least one of some roles names."""

    skill: str
    required: int
    """The highest of the lowest levels that the roles require."""
    optional: bool
    """Whether it is optional in every role that names it."""
    edge: Edge
    """The edge of the role with the highest requirement."""


class CommissionPlan(msgspec.Struct, frozen=True):
    """The skills that an agent is given with its roles."""

    skills: tuple[str, ...]
    """The skills to give, prerequisites first."""
    skipped: tuple[tuple[str, str], ...] = ()
    """Skills that cannot be given, each with its missing prerequisite."""


def find_skills_of_roles(view: OrgView, roles: Iterable[str]) -> Mapping[str, RoleSkill]:
    """Every skill that the roles name, in the order in which they are first named.

    If several roles name one skill, the highest level of those that require it applies, or of all if it is optional in each.
    """
    return _find_skills(view, tuple(roles))


@per_view_and_key(most=_MAX_CACHED)
def _find_skills(view: OrgView, roles: tuple[str, ...]) -> Mapping[str, RoleSkill]:
    role_skills: dict[str, RoleSkill] = {}
    for role_id in roles:
        for edge in view.list_skills(role_id):
            need, _, level = edge.attribute.partition(":")
            skill = RoleSkill(edge.target, int(level), need == "optional", edge)
            known = role_skills.get(edge.target)
            if known is None or (known.optional, -known.required) > (skill.optional, -skill.required):
                role_skills[edge.target] = skill
    return role_skills


@PerView
def list_universal_skills(view: OrgView) -> tuple[str, ...]:
    """The skills that every agent of the crew needs."""
    skills = view.records.skills.values()
    return tuple(skill.id for skill in skills if skill.record.category == UNIVERSAL)


def plan_commission(view: OrgView, roles: Iterable[str], levels: Mapping[str, int]) -> CommissionPlan:
    """The skills for some roles: universal ones and those that a role requires, each after its prerequisites.

    A prerequisite that is given in the same act is enough, whatever its level: chained skills begin together. Any other
    must be held at its level according to `levels`; if it is not, its skill and everything that builds on it are skipped.
    """
    roles = tuple(roles)
    role_skills = find_skills_of_roles(view, roles)
    wanted = dict.fromkeys(
        (*list_universal_skills(view), *(each.skill for each in role_skills.values() if not each.optional))
    )
    known = [skill for skill in wanted if skill in view.records.skills]
    order: list[str] = []
    lacking: dict[str, str] = {}
    for skill in known:
        _place_skill(view, skill, known, levels, order, lacking, ())
    return CommissionPlan(tuple(order), tuple(lacking.items()))


def _place_skill(
    view: OrgView,
    skill: str,
    wanted: Collection[str],
    levels: Mapping[str, int],
    order: list[str],
    lacking: dict[str, str],
    above: tuple[str, ...],
) -> None:
    """Put a skill after its prerequisites, or among those that lack one."""
    if skill in order or skill in lacking:
        return
    for needed, lowest in view.records.skills[skill].record.prerequisite_levels.items():
        if levels.get(needed, 0) >= lowest:
            continue
        if needed in above or needed == skill:  # a cycle (ORG314): no agent can begin with it
            lacking[skill] = needed
            return
        if needed in wanted:
            _place_skill(view, needed, wanted, levels, order, lacking, (*above, skill))
        if needed not in order:
            lacking.setdefault(skill, needed)
            return
    if skill not in lacking:
        order.append(skill)
