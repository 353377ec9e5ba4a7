"""The levels that test results gave: read from the history of each skill, and taken back if they no longer count.

An assessment rests on itself, so raises before it do not count. A raise that was taken back has a `lowered` row with its
result. Whether a raise still counts is decided when the level is asked for (`decisions/evidence/skill_levels.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace
from sqlalchemy import ColumnElement, Connection, and_, or_, select

from orgkernel.decisions.evidence.state_view import QualificationResult, SkillRecord
from orgkernel.state.rows import decode_record
from orgkernel.state.tables import qualification_results, skill_assessments

_NAMED_AGENTS = 100
"""The largest number of agents that a query names. For more, reading all raises is cheaper."""
AgentOfOrg = tuple[str, str]
"""An organization and an agent."""


class SkillRaise(NamedTuple):
    """A level that a result gave and that was not taken back."""

    org_id: str
    agent_id: str
    skill: str
    result_id: int
    qualification: str


def list_raises(
    connection: Connection, agents: Collection[AgentOfOrg] | None = None, until: float | None = None
) -> tuple[SkillRaise, ...]:
    """The raises that were not taken back, oldest first: of these agents or of all, as they were at a time or now."""
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
    query = select(row.c.org_id, row.c.agent_id, row.c.skill, row.c.result_id, result.c.qualification)
    query = query.join(result, result.c.result_id == row.c.result_id)
    # The first condition lets the engine use the index of the few rows with a result.
    query = query.where(row.c.result_id.is_not(None), row.c.activity == "raised")
    if until is not None:
        is_undone = is_undone.where(later.c.at <= until)
        query = query.where(row.c.at <= until)
    if agents is not None and len(agents) <= _NAMED_AGENTS:
        query = query.where(_is_of(row.c, agents))
    rows = connection.execute(query.where(~is_undone.exists()).order_by(row.c.assessment_id))
    return tuple(
        SkillRaise(*each) for each in rows if agents is None or (each.org_id, each.agent_id) in agents
    )


def map_raising_tests(
    connection: Connection, agents: Collection[AgentOfOrg] | None = None, until: float | None = None
) -> Mapping[tuple[str, str, str], tuple[str, ...]]:
    """The qualifications that raised each skill, one for each level, keyed by organization, agent and skill."""
    raised: dict[tuple[str, str, str], list[str]] = {}
    for each in list_raises(connection, agents, until):
        raised.setdefault((each.org_id, each.agent_id, each.skill), []).append(each.qualification)
    return {key: tuple(each) for key, each in raised.items()}


def add_raising_tests(
    connection: Connection, records: Iterable[SkillRecord], until: float | None = None
) -> tuple[SkillRecord, ...]:
    """Records of skills as stored, with the qualifications that raised them."""
    records = tuple(records)
    raised = map_raising_tests(connection, {(each.org_id, each.agent_id) for each in records}, until)
    return tuple(
        replace(each, raised_by=raised.get((each.org_id, each.agent_id, each.skill), ())) for each in records
    )


def read_results(connection: Connection, org_id: str, agent_id: str) -> tuple[QualificationResult, ...]:
    """The results of an agent in an organization, oldest first."""
    table = qualification_results
    query = select(table).where(table.c.org_id == org_id, table.c.agent_id == agent_id)
    return tuple(
        decode_record(QualificationResult, row)
        for row in connection.execute(query.order_by(table.c.result_id))
    )


def _is_of(columns: Any, agents: Collection[AgentOfOrg]) -> ColumnElement[bool]:
    """Whether a row is of one of these agents, or of the organization of one and with the id of another."""
    return and_(
        columns.org_id.in_(sorted({org_id for org_id, _ in agents})),
        columns.agent_id.in_(sorted({agent_id for _, agent_id in agents})),
    )
