"""When the levels that test results gave lapse: a level rests on a result only while the result is valid.

A result that raised a skill can be replaced by a later one: as long as the agent has as many valid passed results of a
qualification as the qualification raised the skill, nothing lapses. An assessment rests on itself, so raises before it
do not lapse. A raise that was taken back has a `lowered` row with its result.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import inf
from typing import Any, NamedTuple

from msgspec.structs import replace
from sqlalchemy import ColumnElement, Connection, and_, or_, select

from orgkernel.decisions.evidence.state_view import SkillRecord
from orgkernel.state.tables import qualification_results, skill_assessments


class SkillRaise(NamedTuple):
    """A level that a result gave and that was not taken back."""

    org_id: str
    agent_id: str
    skill: str
    result_id: int
    qualification: str
    expires_at: float | None


_NAMED_AGENTS = 100
"""The largest number of agents that a query names. For more, reading all raises is cheaper."""
AgentOfOrg = tuple[str, str]
"""An organization and an agent."""


def list_raises(
    connection: Connection, agents: Collection[AgentOfOrg] | None = None, until: float | None = None
) -> tuple[SkillRaise, ...]:
    """The raises that count, oldest first: of these agents or of all, as they were at a time or now."""
    row, later, result = skill_assessments.alias(), skill_assessments.alias(), qualification_results
    is_undone = select(later.c.assessment_id).where(
        later.c.org_id == row.c.org_id,
        later.c.agent_id == row.c.agent_id,
        later.c.skill == row.c.skill,
        later.c.assessment_id > row.c.assessment_id,
        or_(
            later.c.activity == "assessed",
            and_(later.c.activity == "lowered", later.c.result_id == row.c.result_id),
        ),
    )
    query = select(
        row.c.org_id,
        row.c.agent_id,
        row.c.skill,
        row.c.result_id,
        result.c.qualification,
        result.c.expires_at,
    )
    query = query.join(result, result.c.result_id == row.c.result_id)
    query = query.where(row.c.activity == "raised", _is_not_invalid(until))
    if until is not None:
        is_undone = is_undone.where(later.c.at <= until)
        query = query.where(row.c.at <= until)
    if agents is not None and len(agents) <= _NAMED_AGENTS:
        query = query.where(_is_of(row.c, agents))
    rows = connection.execute(query.where(~is_undone.exists()).order_by(row.c.assessment_id))
    return tuple(
        SkillRaise(*each) for each in rows if agents is None or (each.org_id, each.agent_id) in agents
    )


def find_lapses(
    connection: Connection, agents: Collection[AgentOfOrg] | None = None, until: float | None = None
) -> Mapping[tuple[str, str, str], tuple[float, ...]]:
    """The times at which each skill loses a level, in order, keyed by organization, agent and skill."""
    if not _has_ends(connection, agents):
        return {}
    raises = list_raises(connection, agents, until)
    if all(each.expires_at is None for each in raises):
        return {}
    ends = _list_ends(connection, raises, until)
    counts: dict[tuple[str, str, str, str], int] = {}
    for each in raises:
        key = each.org_id, each.agent_id, each.skill, each.qualification
        counts[key] = counts.get(key, 0) + 1
    lapses: dict[tuple[str, str, str], list[float]] = {}
    for (org_id, agent_id, skill, qualification), number in counts.items():
        # N raises rest on the N results that are valid longest.
        longest = sorted(ends.get((org_id, agent_id, qualification), ()), reverse=True)[:number]
        lapses.setdefault((org_id, agent_id, skill), []).extend(end for end in longest if end < inf)
    return {key: tuple(sorted(each)) for key, each in lapses.items() if each}


def add_lapses(
    connection: Connection, records: Iterable[SkillRecord], until: float | None = None
) -> tuple[SkillRecord, ...]:
    """Records of skills as stored, with the times at which their levels lapse."""
    records = tuple(records)
    lapses = find_lapses(connection, {(each.org_id, each.agent_id) for each in records}, until)
    return tuple(
        replace(each, lapses_at=lapses.get((each.org_id, each.agent_id, each.skill), ())) for each in records
    )


def _has_ends(connection: Connection, agents: Collection[AgentOfOrg] | None) -> bool:
    """Whether any result of these agents can expire. Without one, the long history of skills is not read."""
    table = qualification_results.c
    query = select(table.result_id).where(table.expires_at.is_not(None)).limit(1)
    if agents is not None and len(agents) <= _NAMED_AGENTS:
        query = query.where(_is_of(table, agents))
    return connection.execute(query).first() is not None


def _is_of(columns: Any, agents: Collection[AgentOfOrg]) -> ColumnElement[bool]:
    """Whether a row is of one of these agents, or of the organization of one and with the id of another."""
    return and_(
        columns.org_id.in_(sorted({org_id for org_id, _ in agents})),
        columns.agent_id.in_(sorted({agent_id for _, agent_id in agents})),
    )


def _list_ends(
    connection: Connection, raises: Collection[SkillRaise], until: float | None
) -> dict[tuple[str, str, str], list[float]]:
    """The ends of the valid passed results, keyed by organization, agent and qualification; infinite without one."""
    table = qualification_results.c
    qualifications = {each.qualification for each in raises}
    agents = {(each.org_id, each.agent_id) for each in raises}
    query = select(
        table.org_id, table.agent_id, table.qualification, table.run, table.score, table.sample_size,
        table.digests, table.expires_at, _is_not_invalid(until).label("is_valid"),
    ).where(table.passed.is_(True), table.qualification.in_(sorted(qualifications)))  # fmt: skip
    if len(agents) <= _NAMED_AGENTS:
        query = query.where(_is_of(table, agents))
    if until is not None:
        query = query.where(table.at <= until)
    ends: dict[tuple[str, str, str], list[float]] = {}
    counted = set()
    for row in connection.execute(query.order_by(table.result_id)):
        # Without a run, a result that equals an earlier one cannot be told from it, so it prolongs nothing.
        evidence = (*row[:4], *(() if row.run else row[4:7]))
        if evidence not in counted and row.is_valid:
            end = inf if row.expires_at is None else row.expires_at
            ends.setdefault((row.org_id, row.agent_id, row.qualification), []).append(end)
        counted.add(evidence)
    return ends


def _is_not_invalid(until: float | None) -> ColumnElement[bool]:
    invalidated_at = qualification_results.c.invalidated_at
    return (
        invalidated_at.is_(None) if until is None else or_(invalidated_at.is_(None), invalidated_at > until)
    )
