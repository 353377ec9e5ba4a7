"""The skills that roles ask for, in one table: what an agent is measured against, and what it is commissioned with."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec

from orgkernel.documents.records import UNIVERSAL
from orgkernel.graph.memo import PerView, per_view_and_key
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge

_MOST_KEPT = 4_096
"""Sets of roles whose skills are kept for a view."""


class RoleSkill(msgspec.Struct, frozen=True):
    """A skill that at least one of some roles asks for."""

    skill: str
    required: int
    """The lowest level, of the role that asks for the most."""
    optional: bool
    """Whether every role that names it leaves it open."""
    edge: Edge
    """The statement of the role that asks for the most."""


class CommissionPlan(msgspec.Struct, frozen=True):
    """The skills that an agent is given with its roles."""

    skills: tuple[str, ...]
    """Prerequisites first."""
    skipped: tuple[tuple[str, str], ...] = ()
    """Skills that it cannot be given, each with the prerequisite that it lacks."""


def find_skills_of_roles(view: OrgView, roles: Iterable[str]) -> Mapping[str, RoleSkill]:
    """Every skill that the roles ask for, in the order in which they name it first.

    Where several name one skill, the highest level of those that require it counts, or of all if none does.
    """
    return _find_skills(view, tuple(roles))


@per_view_and_key(most=_MOST_KEPT)
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

    A prerequisite that is given in the same act counts, whatever its level: chained skills begin together. Any other has
    to be held at its level, as `levels` says; without it, its skill and whatever builds on that are skipped.
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
    """Put a skill behind its prerequisites, or among those that lack one."""
    if skill in order or skill in lacking:
        return
    for needed, lowest in view.records.skills[skill].record.prerequisite_levels.items():
        if levels.get(needed, 0) >= lowest:
            continue
        if needed in above or needed == skill:  # a cycle (ORG314): nobody can begin
            lacking[skill] = needed
            return
        if needed in wanted:
            _place_skill(view, needed, wanted, levels, order, lacking, (*above, skill))
        if needed not in order:
            lacking.setdefault(skill, needed)
            return
    if skill not in lacking:
        order.append(skill)
