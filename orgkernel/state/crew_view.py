"""The records of each organization and its agents besides rank and skills: patched with the changed rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, select

from orgkernel.decisions.evidence.crew_records import (
    AgentIdentity,
    Commission,
    OrgStatus,
    OutcomeCount,
    Personality,
    PersonalityObservation,
    ServiceCounts,
)
from orgkernel.state.rows import decode_record
from orgkernel.state.tables import (
    agent_identities,
    agent_service,
    commissions,
    org_status,
    outcome_counts,
    personality_observations,
)

_EMPTY: Mapping[str, Any] = MappingProxyType({})


class CrewRecords(NamedTuple):
    """The records of one organization, as `StateView` names them."""

    status: Mapping[str, OrgStatus] = _EMPTY
    identities: Mapping[str, AgentIdentity] = _EMPTY
    commissions: Mapping[str, tuple[Commission, ...]] = _EMPTY
    service: Mapping[str, ServiceCounts] = _EMPTY
    outcomes: Mapping[str, tuple[OutcomeCount, ...]] = _EMPTY
    personalities: Mapping[str, PersonalityObservation] = _EMPTY


NO_CREW = CrewRecords()


def patch_crews(
    old: Mapping[str, CrewRecords], connection: Connection, since: int
) -> Mapping[str, CrewRecords]:
    """The records of every organization; those in which nothing changed stay as they are."""
    changed: dict[str, dict[str, dict[str, list[Any]]]] = {}

    def note(field: str, key: str, records: Iterable[Any]) -> None:
        for record in records:
            of_org = changed.setdefault(record.org_id, {}).setdefault(field, {})
            of_org.setdefault(getattr(record, key), []).append(record)

    note("status", "kind", _read_changed(connection, org_status, OrgStatus, since))
    note("identities", "agent_id", _read_changed(connection, agent_identities, AgentIdentity, since))
    note("commissions", "agent_id", _read_changed(connection, commissions, Commission, since))
    note("service", "agent_id", _read_changed(connection, agent_service, ServiceCounts, since))
    note("outcomes", "agent_id", _read_changed(connection, outcome_counts, OutcomeCount, since))
    note("personalities", "agent_id", _read_observed(connection, since))
    if not changed:
        return old
    patched = dict(old)
    for org_id, fields in changed.items():
        crew = patched.get(org_id, NO_CREW)
        patched[org_id] = crew._replace(
            **{field: _patch(field, getattr(crew, field), records) for field, records in fields.items()}
        )
    return patched


_KEYS = {"commissions": ("role_id",), "outcomes": ("kind", "name")}
"""Columns that distinguish and order several records of one agent. Other tables have only the latest record."""


def _patch(field: str, old: Mapping[str, Any], changed: Mapping[str, list[Any]]) -> Mapping[str, Any]:
    key = _KEYS.get(field)
    new = dict(old)
    for name, records in changed.items():
        if key is None:
            new[name] = records[-1]
        else:
            kept = {
                tuple(getattr(each, part) for part in key): each for each in (*new.get(name, ()), *records)
            }
            new[name] = tuple(kept[each] for each in sorted(kept))
    return MappingProxyType(dict(sorted(new.items())))


def _read_changed(connection: Connection, table: Table, kind: type[Any], since: int) -> Iterable[Any]:
    return [decode_record(kind, row) for row in _read_rows(connection, table, since)]


def _read_observed(connection: Connection, since: int) -> Iterable[PersonalityObservation]:
    return map(build_observation, _read_rows(connection, personality_observations, since))


def build_observation(row: Any) -> PersonalityObservation:
    """A row as the observation it was."""
    return PersonalityObservation(
        row.agent_id, row.org_id, decode_record(Personality, row), row.at, row.actor
    )


def _read_rows(connection: Connection, table: Table, since: int) -> Iterable[Any]:
    """Read rows in an order that is the same for all engines, so that views of the same state are equal."""
    query = select(table).where(table.c.version > since)
    return connection.execute(query.order_by(table.c.version, *table.primary_key)).all()
