"""The state as it was at a past time, from rows that are never deleted and from the history in the audit.

Later revocations, uses, changes, invalidations and releases are left out. Locks have no history, so a past state has
none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection, func, select

from orgkernel.decisions.evidence.crew_records import RankMove
from orgkernel.decisions.evidence.state_view import (
    AgentState,
    Grant,
    QualificationResult,
    Restriction,
    SkillRecord,
    StateView,
    StoredReport,
)
from orgkernel.decisions.ownership.claims import ClaimIndex, FileClaim
from orgkernel.errors import Refused
from orgkernel.runtime.utc import as_utc
from orgkernel.state.audit import read_entries
from orgkernel.state.blockers import open_blockers_at
from orgkernel.state.crew_past import read_crew_at
from orgkernel.state.crew_view import CrewRecords
from orgkernel.state.open_handoffs import list_open_handoffs_at
from orgkernel.state.report_order import group_reports_by_subject, map_by_unit
from orgkernel.state.rows import StoreContext, decode_record, group_rows
from orgkernel.state.skill_raises import add_raising_tests
from orgkernel.state.tables import (
    audit,
    file_claims,
    grant_uses,
    grants,
    qualification_results,
    restrictions,
    salute_reports,
    skill_assessments,
    state_version,
)
from orgkernel.state.view import list_agent_states

PAST_UNKNOWN = "PAST_UNKNOWN"
T = TypeVar("T")


def read_past(context: StoreContext, org_id: str, at: float) -> StateView:
    """The state of an organization at a time. Raises `Refused` (`PAST_UNKNOWN`) if the history was dropped since."""
    with context.reading() as connection:
        _require_history(connection, at)
        reports, raised = group_reports_by_subject(map_by_unit(_read_reports(connection, org_id, at)), org_id)
        crew = read_crew_at(connection, org_id, at)
        return StateView(
            version=connection.execute(select(state_version.c.version)).scalar_one(),
            agents=list_agent_states(
                {
                    (each.org_id, each.agent_id): _add_outcomes(each, crew, org_id)
                    for each in _list_agents(connection, at)
                },
                org_id,
            ),
            grants=_group_rows(_read_grants(connection, at), "subject"),
            restrictions=_group_rows(_read_restrictions(connection, at), "subject"),
            results=_group_rows(_read_results(connection, org_id, at), "agent_id"),
            reports=reports,
            raised=raised,
            skills=_group_rows(_read_skills(connection, org_id, at), "agent_id"),
            claims=ClaimIndex(_find_claimed_ids(connection, org_id, at)),
            blockers=open_blockers_at(connection, org_id, at),
            handoffs=list_open_handoffs_at(connection, org_id, at),
            **crew._asdict(),
        )


def _require_history(connection: Connection, at: float) -> None:
    """Raise `Refused` if a chain of the history begins after the time, because earlier rows were dropped."""
    begins = (
        select(func.min(audit.c.sequence).label("first"), func.min(audit.c.at).label("at"))
        .where(audit.c.stream == "history")
        .group_by(audit.c.writer)
    )
    # A chain that begins with its first row has lost nothing, however late it begins.
    lost = [row.at for row in connection.execute(begins) if row.first > 1 and row.at > at]
    if lost:
        raise Refused(
            f"the state at {as_utc(at)} is no longer known",
            f"the audit goes back to {as_utc(max(lost))}; `serve --keep-history` keeps more",
            PAST_UNKNOWN,
        )


def _list_agents(connection: Connection, at: float) -> Iterator[AgentState]:
    """Agents as the last change before the time left them."""
    last: dict[tuple[str, str], AgentState] = {}
    for entry in read_entries(connection, "agent", at):
        detail = entry.detail or {}
        # Entries about keys and certificates of an agent have no lifecycle, and change no state.
        if "lifecycle" in detail:
            agent_id = entry.subject.removeprefix("agent:")
            last[entry.org_id, agent_id] = AgentState(
                agent_id, detail.get("rank"), detail.get("trust"), detail["lifecycle"], entry.org_id
            )
    yield from last.values()


def _add_outcomes(agent: AgentState, crew: CrewRecords, org_id: str) -> AgentState:
    """An agent of the organization with the outcomes that were recorded."""
    service = crew.service.get(agent.agent_id) if agent.org_id == org_id else None
    if service is None:
        return agent
    return msgspec.structs.replace(agent, successes=service.successes, failures=service.failures)


def _read_grants(connection: Connection, at: float) -> Iterator[Grant]:
    """Grants that were given, not revoked and not asleep, with the uses that were left."""
    uses = (
        select(grant_uses.c.grant_id, func.count().label("number"))
        .where(grant_uses.c.at > at)
        .group_by(grant_uses.c.grant_id)
    )
    used_since: dict[str, int] = {row.grant_id: row.number for row in connection.execute(uses)}
    for grant in _read_given(connection, grants, Grant, at):
        if grant.asleep_since is not None and grant.asleep_since <= at:
            continue
        # The row has the uses that are left now. Those that came after the time are added back.
        left = None if grant.uses_left is None else grant.uses_left + used_since.get(grant.grant_id, 0)
        yield msgspec.structs.replace(grant, revoked_at=None, asleep_since=None, uses_left=left)


def _read_restrictions(connection: Connection, at: float) -> Iterator[Restriction]:
    for restriction in _read_given(connection, restrictions, Restriction, at):
        yield msgspec.structs.replace(restriction, revoked_at=None)


def _read_given(connection: Connection, table: Any, kind: type[T], at: float) -> Iterator[T]:
    """Rows that were issued and not revoked; those that had run out are among them, as in every view."""
    (key,) = table.primary_key
    query = select(table).where(table.c.issued_at <= at).order_by(key)
    for row in connection.execute(query):
        if row.revoked_at is None or row.revoked_at > at:
            yield decode_record(kind, row)


def _read_results(connection: Connection, org_id: str, at: float) -> Iterator[QualificationResult]:
    table = qualification_results
    query = select(table).where(table.c.org_id == org_id, table.c.at <= at).order_by(table.c.result_id)
    for row in connection.execute(query):
        result = decode_record(QualificationResult, row)
        if result.invalidated_at is not None and result.invalidated_at > at:
            result = msgspec.structs.replace(result, invalidated_at=None, invalid_reason="")
        yield result


def _read_skills(connection: Connection, org_id: str, at: float) -> Iterator[SkillRecord]:
    """Skills as their histories tell up to the time."""
    table = skill_assessments
    query = select(table).where(table.c.org_id == org_id, table.c.at <= at)
    records_by_key: dict[tuple[str, str], SkillRecord] = {}
    for row in connection.execute(query.order_by(table.c.assessment_id)):
        key = row.agent_id, row.skill
        known = records_by_key.get(key) or SkillRecord(
            row.agent_id, org_id, row.skill, row.proficiency, row.at
        )
        practiced = row.activity == "exercised"
        records_by_key[key] = msgspec.structs.replace(
            known,
            proficiency=row.proficiency,
            source=row.source,
            exercises=known.exercises + practiced,
            last_exercised_at=row.at if practiced else known.last_exercised_at,
            suspended=row.activity == "suspended" or (known.suspended and row.activity != "resumed"),
            # An invalid or expired result takes a level back; it is neither practice nor a new level.
            decays_from=known.decays_from if row.activity == "lowered" else row.at,
        )
    yield from add_raising_tests(connection, (records_by_key[key] for key in sorted(records_by_key)), at)


def _find_claimed_ids(connection: Connection, org_id: str, at: float) -> Iterator[FileClaim]:
    """Claims that existed and had not ended. Only a transfer makes a claim later than its row says."""
    made = {
        entry.record_id
        for entry in read_entries(connection, "claim", at)
        if entry.org_id == org_id and entry.activity in ("claimed", "transferred")
    }
    query = select(file_claims).where(file_claims.c.org_id == org_id, file_claims.c.claimed_at <= at)
    for row in connection.execute(query.order_by(file_claims.c.token)):
        if f"claim#{row.token}" in made and (row.ended_at is None or row.ended_at > at):
            yield decode_record(FileClaim, row)


def _read_reports(connection: Connection, org_id: str, at: float) -> Iterator[StoredReport]:
    """Reports that had arrived, the newest of each agent in a role last."""
    table = salute_reports
    query = select(table).where(table.c.org_id == org_id, table.c.received_at <= at)
    for row in connection.execute(query.order_by(table.c.at, table.c.number)):
        yield decode_record(StoredReport, row)


def _group_rows(rows: Iterable[T], column: str) -> Mapping[str, tuple[T, ...]]:
    return MappingProxyType(group_rows(rows, column))


def read_rank_changes(
    context: StoreContext, org_id: str, agent_id: str, start: str | None, until: float | None = None
) -> tuple[RankMove, ...]:
    """Changes of an agent's rank up to a time and at that time, oldest first. `start` is the rank in the documents."""
    with context.reading() as connection:
        entries = [*read_entries(connection, "agent", until, f"agent:{agent_id}")]
    moves, before = [], start
    for entry in entries:
        after = (entry.detail or {}).get("rank")
        if entry.org_id == org_id and entry.activity == "ranked" and after != before:
            moves.append(RankMove(as_utc(entry.at) or "", before, after, entry.actor, entry.reason))
            before = after
    return tuple(moves)
