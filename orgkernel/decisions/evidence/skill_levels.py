"""The level that is left of a skill: it is computed from what was recorded, and nothing has to run for it to be right."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from orgkernel.decisions.evidence.state_view import SkillRecord
from orgkernel.documents.records import Skill
from orgkernel.graph.records import OrgRecords

LOWEST, HIGHEST = 1, 7
DAY = 86_400.0


class SkillTerms(msgspec.Struct, frozen=True):
    """What the documents say about holding a skill."""

    skill: str
    decay_days: float
    """Days without practice after which one level is lost."""
    prerequisites: tuple[tuple[str, int], ...] = ()
    """Skills that have to be held first, each with its lowest level."""


def compute_current_level(record: SkillRecord, decay_days: float, now: float) -> int:
    """The level that is left: one less for each whole period without practice, and never less than 1.

    A suspended skill does not decay, and no time has passed where the clock was set back.

    >>> record = SkillRecord("worf", "ship", "helm", 5, acquired_at=0, decays_from=0)
    >>> [level_now(record, 14, days * DAY) for days in (0, 13.9, 14, 30, 9_999, -1)]
    [5, 5, 4, 3, 1, 5]
    """
    if record.suspended:
        return record.proficiency
    periods = int(max(0.0, now - record.decays_from) / (decay_days * DAY))
    return max(LOWEST, record.proficiency - periods)


def get_skill_terms(records: OrgRecords, skill: str) -> SkillTerms:
    """What the documents say about a skill; of one that they do not declare, what holds for every skill."""
    definition = records.skills.get(skill)
    declared = Skill() if definition is None else definition.record
    return SkillTerms(skill, declared.decay_rate_days, tuple(declared.prerequisite_levels.items()))


def compute_current_levels(records: OrgRecords, held: Iterable[SkillRecord], now: float) -> dict[str, int]:
    """The level that is left of each declared skill that is not suspended."""
    return {
        each.skill: compute_current_level(each, records.skills[each.skill].record.decay_rate_days, now)
        for each in held
        if each.skill in records.skills and not each.suspended
    }
