"""What was stored about the work of agents at a past time: rows are only added, and the alert is in the audit."""

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
    no_service,
)
from orgkernel.state.audit import read_entries
from orgkernel.state.crew import outcomes_of
from orgkernel.state.crew_view import CrewRecords, observation_of
from orgkernel.state.rows import group_rows, record_of
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
        record_of(AgentIdentity, row) for row in _until(connection, agent_identities, "born_at", org_id, at)
    )
    roles = (record_of(Commission, row) for row in _until(connection, commissions, "at", org_id, at))
    observed: dict[str, PersonalityObservation] = {
        row.agent_id: observation_of(row)
        for row in _until(connection, personality_observations, "at", org_id, at)
    }
    done = [record_of(Episode, row) for row in _until(connection, episodes, "at", org_id, at)]
    return CrewRecords(
        status=MappingProxyType(dict(_status(connection, org_id, at))),
        identities=_sorted({each.agent_id: each for each in identities}),
        commissions=_sorted(group_rows(sorted(roles, key=lambda each: each.role_id), "agent_id")),
        service=_service(done),
        outcomes=_outcomes(org_id, done),
        personalities=_sorted(observed),
    )


def _until(connection: Connection, table: Table, time: str, org_id: str, at: float) -> Iterator[Any]:
    """The rows of a time, in the order in which they were stored."""
    query = select(table).where(table.c.org_id == org_id, table.c[time] <= at)
    yield from connection.execute(query.order_by(*table.primary_key))


def _status(connection: Connection, org_id: str, at: float) -> Iterator[tuple[str, OrgStatus]]:
    last: dict[str, OrgStatus] = {}
    for entry in read_entries(connection, "status", at, f"organization:{org_id}"):
        for kind in get_args(OrgStatusKind):
            if entry.activity == kind:
                last[kind] = OrgStatus(org_id, kind, entry.record_id, entry.at, entry.actor, entry.reason)
    # What holds since then is known even where its row of the audit was dropped.
    current = select(org_status).where(org_status.c.org_id == org_id, org_status.c.since <= at)
    last.update((row.kind, record_of(OrgStatus, row)) for row in connection.execute(current))
    yield from sorted(last.items())


def _service(done: list[Episode]) -> Mapping[str, ServiceCounts]:
    found: dict[str, ServiceCounts] = {}
    for each in done:
        found[each.agent_id] = (found.get(each.agent_id) or no_service(each)).counting(each)
    return _sorted(found)


def _outcomes(org_id: str, done: list[Episode]) -> Mapping[str, tuple[OutcomeCount, ...]]:
    found: dict[str, dict[tuple[str, str], OutcomeCount]] = {}
    for each in done:
        good, of_agent = each.outcome == "success", found.setdefault(each.agent_id, {})
        for kind, name in outcomes_of(each):
            old = of_agent.get((kind, name))
            before = (0, 0) if old is None else (old.successes, old.failures)
            of_agent[kind, name] = OutcomeCount(
                each.agent_id, org_id, kind, name, before[0] + good, before[1] + (not good), each.at
            )
    return _sorted({agent: tuple(counts[key] for key in sorted(counts)) for agent, counts in found.items()})


def _sorted(found: dict[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(sorted(found.items())))
