"""Stored records about the work of agents at a past time: rows are only added, and the alert is in the audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, get_args

from sqlalchemy import Connection, Table, select

from orgkernel.decisions.evidence.crew_records import (
    AgentIdentity,
    Commission,
    Episode,
    OrgStatus,
    OrgStatusKind,
    OutcomeCount,
    PersonalityObservation,
    ServiceCounts,
    build_empty_service,
)
from orgkernel.state.audit import read_entries
from orgkernel.state.crew import list_outcomes
from orgkernel.state.crew_view import CrewRecords, build_observation
from orgkernel.state.rows import decode_record, group_rows
from orgkernel.state.tables import (
    agent_identities,
    commissions,
    episodes,
    org_status,
    personality_observations,
)


def read_crew_at(connection: Connection, org_id: str, at: float) -> CrewRecords:
    """The records of an organization at a time."""
    identities = (
        decode_record(AgentIdentity, row)
        for row in _read_until(connection, agent_identities, "born_at", org_id, at)
    )
    roles = (decode_record(Commission, row) for row in _read_until(connection, commissions, "at", org_id, at))
    observed: dict[str, PersonalityObservation] = {
        row.agent_id: build_observation(row)
        for row in _read_until(connection, personality_observations, "at", org_id, at)
    }
    done = [decode_record(Episode, row) for row in _read_until(connection, episodes, "at", org_id, at)]
    return CrewRecords(
        status=MappingProxyType(dict(_read_status(connection, org_id, at))),
        identities=_sort_items({each.agent_id: each for each in identities}),
        commissions=_sort_items(group_rows(sorted(roles, key=lambda each: each.role_id), "agent_id")),
        service=_count_service(done),
        outcomes=_count_outcomes(org_id, done),
        personalities=_sort_items(observed),
    )


def _read_until(connection: Connection, table: Table, time: str, org_id: str, at: float) -> Iterator[Any]:
    """The rows up to a time, in the order in which they were stored."""
    query = select(table).where(table.c.org_id == org_id, table.c[time] <= at)
    yield from connection.execute(query.order_by(*table.primary_key))


def _read_status(connection: Connection, org_id: str, at: float) -> Iterator[tuple[str, OrgStatus]]:
    last: dict[str, OrgStatus] = {}
    for entry in read_entries(connection, "status", at, f"organization:{org_id}"):
        for kind in get_args(OrgStatusKind):
            if entry.activity == kind:
                last[kind] = OrgStatus(org_id, kind, entry.record_id, entry.at, entry.actor, entry.reason)
    # A status that has not changed since then is known even if its row of the audit was dropped.
    current = select(org_status).where(org_status.c.org_id == org_id, org_status.c.since <= at)
    last.update((row.kind, decode_record(OrgStatus, row)) for row in connection.execute(current))
    yield from sorted(last.items())


def _count_service(done: list[Episode]) -> Mapping[str, ServiceCounts]:
    counts_by_agent: dict[str, ServiceCounts] = {}
    for each in done:
        counts_by_agent[each.agent_id] = (
            counts_by_agent.get(each.agent_id) or build_empty_service(each)
        ).add_episode(each)
    return _sort_items(counts_by_agent)


def _count_outcomes(org_id: str, done: list[Episode]) -> Mapping[str, tuple[OutcomeCount, ...]]:
    counts_by_agent: dict[str, dict[tuple[str, str], OutcomeCount]] = {}
    for each in done:
        good, of_agent = each.outcome == "success", counts_by_agent.setdefault(each.agent_id, {})
        for kind, name in list_outcomes(each):
            old = of_agent.get((kind, name))
            before = (0, 0) if old is None else (old.successes, old.failures)
            of_agent[kind, name] = OutcomeCount(
                each.agent_id, org_id, kind, name, before[0] + good, before[1] + (not good), each.at
            )
    return _sort_items(
        {agent: tuple(counts[key] for key in sorted(counts)) for agent, counts in counts_by_agent.items()}
    )


def _sort_items(entries: dict[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(sorted(entries.items())))
