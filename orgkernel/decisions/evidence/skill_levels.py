"""The current level of a skill, computed from its record. No background job is needed."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from orgkernel.decisions.evidence.state_view import SkillRecord
from orgkernel.documents.records import Skill
from orgkernel.graph.records import OrgRecords

LOWEST, HIGHEST = 1, 7
DAY = 86_400.0


class SkillTerms(msgspec.Struct, frozen=True):
    """The declared terms of a skill."""

    skill: str
    decay_days: float
    """The number of days without practice after which one level is lost."""
    prerequisites: tuple[tuple[SkillTerms, int], ...] = ()
    """Skills that must be held first, each with its lowest level. Their own prerequisites are left out."""


def compute_current_level(record: SkillRecord, decay_days: float, now: float) -> int:
    """The current level: one less for each full period without practice and for each result that gave a level and has
    expired, and never below 1.

    >>> record = SkillRecord("worf", "ship", "helm", 5, acquired_at=0, decays_from=0, lapses_at=(20 * DAY,))
    >>> [compute_current_level(record, 14, days * DAY) for days in (0, 14, 20, 30, 9_999)]
    [5, 4, 3, 2, 1]
    """
    lapsed = sum(each <= now for each in record.lapses_at)
    return max(LOWEST, compute_practiced_level(record, decay_days, now) - lapsed)


def compute_practiced_level(record: SkillRecord, decay_days: float, now: float) -> int:
    """The level that practice leaves, whether or not the results that gave it have expired.

    A suspended skill does not decay. If the clock was set back, no time has passed.

    >>> record = SkillRecord("worf", "ship", "helm", 5, acquired_at=0, decays_from=0)
    >>> [compute_practiced_level(record, 14, days * DAY) for days in (0, 13.9, 14, 30, 9_999, -1)]
    [5, 5, 4, 3, 1, 5]
    """
    if record.suspended:
        return record.proficiency
    periods = int(max(0.0, now - record.decays_from) / (decay_days * DAY))
    return max(LOWEST, record.proficiency - periods)


def get_skill_terms(records: OrgRecords, skill: str) -> SkillTerms:
    """The declared terms of a skill; for an undeclared one, the defaults."""
    prerequisites = tuple(
        (SkillTerms(each, _get_declared(records, each).decay_rate_days), lowest)
        for each, lowest in _get_declared(records, skill).prerequisite_levels.items()
    )
    return SkillTerms(skill, _get_declared(records, skill).decay_rate_days, prerequisites)


def _get_declared(records: OrgRecords, skill: str) -> Skill:
    definition = records.skills.get(skill)
    return Skill() if definition is None else definition.record


def compute_current_levels(
    records: OrgRecords, skill_records: Iterable[SkillRecord], now: float
) -> dict[str, int]:
    """The current level of each declared skill that is not suspended."""
    return {
        each.skill: compute_current_level(each, records.skills[each.skill].record.decay_rate_days, now)
        for each in skill_records
        if each.skill in records.skills and not each.suspended
    }
