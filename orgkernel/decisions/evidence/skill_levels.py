"""The current level of a skill, computed from its record and from the evidence that is valid now. No background job is needed.

A test that was passed can raise a skill. The level rests on the result only while the result is valid: under the current
declaration of the test, for the current digests, before its end. A result can be replaced by a later one: as long as the agent
has as many valid passed results of a test as the test raised the skill, no level lapses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec

from orgkernel.decisions.evidence.qualifications import compute_end, is_valid_pass
from orgkernel.decisions.evidence.state_view import QualificationResult, SkillRecord, StateView
from orgkernel.documents.records import Skill
from orgkernel.graph.records import OrgRecords

LOWEST, HIGHEST = 1, 7
DAY = 86_400.0


def count_nothing_as_valid(result: QualificationResult, now: float) -> bool:
    """The validity of results where no document is known: none is valid."""
    return False


class SkillTerms(msgspec.Struct, frozen=True):
    """The declared terms of a skill."""

    skill: str
    decay_days: float
    """The number of days without practice after which one level is lost."""
    prerequisites: tuple[tuple[SkillTerms, int], ...] = ()
    """Skills that must be held first, each with its lowest level. Their own prerequisites are left out."""
    is_valid: Callable[[QualificationResult, float], bool] = count_nothing_as_valid
    """Whether a result is a valid pass at a time."""


def compute_level(record: SkillRecord, decay_days: float, lapsed: int, now: float) -> int:
    """The level at a time: one less for each full period without practice and for each lapsed raise, and never below 1.

    >>> record = SkillRecord("worf", "ship", "helm", 5, acquired_at=0, decays_from=0)
    >>> [compute_level(record, 14, lapsed, days * DAY) for lapsed, days in ((0, 0), (0, 14), (1, 14), (1, 9_999))]
    [5, 4, 3, 1]
    """
    return max(LOWEST, compute_practiced_level(record, decay_days, now) - lapsed)


def compute_practiced_level(record: SkillRecord, decay_days: float, now: float) -> int:
    """The level that practice leaves, whether or not the results that gave it are valid.

    A suspended skill does not decay. If the clock was set back, no time has passed.

    >>> record = SkillRecord("worf", "ship", "helm", 5, acquired_at=0, decays_from=0)
    >>> [compute_practiced_level(record, 14, days * DAY) for days in (0, 13.9, 14, 30, 9_999, -1)]
    [5, 5, 4, 3, 1, 5]
    """
    if record.suspended:
        return record.proficiency
    periods = int(max(0.0, now - record.decays_from) / (decay_days * DAY))
    return max(LOWEST, record.proficiency - periods)


def count_lapsed(
    record: SkillRecord,
    results: Sequence[QualificationResult],
    is_valid: Callable[[QualificationResult, float], bool],
    now: float,
) -> int:
    """The number of raises of a skill that no valid result supports. `results` are all results of the agent."""
    return count_lapsed_by_test(record, results, is_valid, now).total()


def count_lapsed_by_test(
    record: SkillRecord,
    results: Sequence[QualificationResult],
    is_valid: Callable[[QualificationResult, float], bool],
    now: float,
) -> Counter[str]:
    """The same for each test that raised the skill, in the order in which they raised it first.

    >>> record = SkillRecord("worf", "ship", "helm", 3, acquired_at=0, raised_by=("drill", "drill"))
    >>> results = [QualificationResult("worf", "drill", 0.9, True, 0, 10.0 * n, "ship", run=str(n)) for n in (1, 2)]
    >>> [count_lapsed_by_test(record, results, lambda each, now: now < each.expires_at, now)["drill"] for now in (0, 10, 20)]
    [0, 1, 2]
    """
    lapsed = Counter[str]()
    for qualification, raises in Counter(record.raised_by).items():
        evidence = _list_distinct(record, results, qualification)
        lapsed[qualification] = max(0, raises - sum(is_valid(each, now) for each in evidence))
    return lapsed


def compute_current_level(
    records: OrgRecords, record: SkillRecord, results: Sequence[QualificationResult], now: float
) -> int:
    """The current level of a declared skill. `results` are all results of the agent. Raises KeyError for an undeclared skill."""
    lapsed = count_lapsed(record, results, partial(is_valid_pass, records), now) if record.raised_by else 0
    return compute_level(record, records.skills[record.skill].record.decay_rate_days, lapsed, now)


def list_coming_lapses(
    records: OrgRecords, record: SkillRecord, results: Sequence[QualificationResult], now: float
) -> list[float]:
    """The times at which valid results expire whose levels then lapse, in order."""
    ends: list[float] = []
    for qualification, raises in Counter(record.raised_by).items():
        definition = records.qualifications.get(qualification)
        valid = [
            each
            for each in _list_distinct(record, results, qualification)
            if is_valid_pass(records, each, now)
        ]
        of_valid = [None if definition is None else compute_end(definition.record, each) for each in valid]
        # The raises rest on the results that are valid longest.
        finite = sorted((each for each in of_valid if each is not None), reverse=True)
        ends += finite[: max(0, raises - of_valid.count(None))]
    return sorted(ends)


def _list_distinct(
    record: SkillRecord, results: Sequence[QualificationResult], qualification: str
) -> Iterator[QualificationResult]:
    """The passed results of a test. Without a run, a result that equals an earlier one cannot be told from it, so it supports
    nothing.
    """
    known = set()
    for each in results:
        if not each.passed or each.qualification != qualification or each.org_id != record.org_id:
            continue
        size, digests = (None, ()) if each.run else (each.sample_size, tuple(sorted(each.digests.items())))
        key = each.run, None if each.run else each.score, size, digests
        if key not in known:
            known.add(key)
            yield each


def get_skill_terms(records: OrgRecords, skill: str) -> SkillTerms:
    """The declared terms of a skill; for an undeclared one, the defaults."""
    is_valid = partial(is_valid_pass, records)
    prerequisites = tuple(
        (SkillTerms(each, _get_declared(records, each).decay_rate_days, is_valid=is_valid), lowest)
        for each, lowest in _get_declared(records, skill).prerequisite_levels.items()
    )
    return SkillTerms(skill, _get_declared(records, skill).decay_rate_days, prerequisites, is_valid)


def _get_declared(records: OrgRecords, skill: str) -> Skill:
    definition = records.skills.get(skill)
    return Skill() if definition is None else definition.record


def compute_current_levels(
    records: OrgRecords, state: StateView, agent_id: str, now: float
) -> dict[str, int]:
    """The current level of each declared skill of an agent that is not suspended."""
    results = state.results.get(agent_id, ())
    return {
        each.skill: compute_current_level(records, each, results, now)
        for each in state.skills.get(agent_id, ())
        if each.skill in records.skills and not each.suspended
    }
