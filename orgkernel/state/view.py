"""The state as decisions read it: one value per state version, patched with the rows that changed since (design §6, §9).

Asking costs one look at the version. While it is the same, so is the object; when it is not, only rows that are newer
than the last view are read. Every row of these tables carries the version of its last change and none is ever deleted,
so another process's changes are found like our own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from threading import Lock
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection, Table, select

from orgkernel.decisions.state_view import (
    AgentState,
    Grant,
    QualificationResult,
    Restriction,
    StateView,
    StoredReport,
    ToolLock,
)
from orgkernel.state.reported import NOTHING_REPORTED, Reported, patch_reported
from orgkernel.state.reports import report_of
from orgkernel.state.rows import Rows, record_of
from orgkernel.state.tables import (
    agents,
    grants,
    qualification_results,
    restrictions,
    salute_latest,
    salute_reports,
    state_version,
    tool_locks,
)

T = TypeVar("T")
Locks = Mapping[tuple[str, str], ToolLock]


class Views:
    """The last view, and how it becomes the next one."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._refreshing = Lock()
        self._last = StateView(version=-1)
        self._locks: Locks = {}
        self._reported: Reported = NOTHING_REPORTED
        self._of_org: dict[str, StateView] = {}
        self._version = _Version(rows)

    def read(self, org_id: str | None = None) -> StateView:
        """The state now. Tools are locked per organisation: with `org_id` the view has the locks of that one."""
        with self._refreshing:
            if self._last.version < 0 or self._version.read() != self._last.version:
                with (
                    self._rows.reading() as connection
                ):  # all tables at one moment, and the version of that moment
                    version = connection.execute(select(state_version.c.version)).scalar_one()
                    if version != self._last.version:
                        self._refresh(connection, version)
            return self._last if org_id is None else self._for(org_id)

    def last(self) -> StateView:
        """The view that was read last, without a look at what others did since."""
        return self._last if self._last.version >= 0 else self.read()

    def version(self) -> int:
        """The state version now."""
        with self._refreshing:
            return self._version.read()

    def close(self) -> None:
        """Give its connection back."""
        self._version.close()

    def _for(self, org_id: str) -> StateView:
        if org_id not in self._of_org:
            locks = {tool_id: lock for (org, tool_id), lock in self._locks.items() if org == org_id}
            reports, raised = self._reported.of(org_id)
            self._of_org[org_id] = msgspec.structs.replace(
                self._last, locks=MappingProxyType(locks), reports=reports, raised=raised
            )
        return self._of_org[org_id]

    def _refresh(self, connection: Connection, version: int) -> None:
        # A store that was restored from a backup may be older than what we know.
        last = self._last if version > self._last.version else StateView(version=-1)
        since = last.version
        locks: dict[tuple[str, str], ToolLock] = dict(self._locks) if since >= 0 else {}
        for row in _changed(connection, tool_locks, since):
            if row.holder is None:
                locks.pop((row.org_id, row.tool_id), None)
            else:
                locks[row.org_id, row.tool_id] = record_of(ToolLock, row)
        known_agents = dict(last.agents)
        for row in _changed(connection, agents, since):
            known_agents[row.agent_id] = record_of(AgentState, row)
        results = _grouped(
            last.results,
            (
                record_of(QualificationResult, row)
                for row in _changed(connection, qualification_results, since)
            ),
        )
        # What was revoked or has run out is of no use to a decision; a clock that is set back must not bring it back.
        given = _replaced(last.grants, "grant_id", Grant, _changed(connection, grants, since))
        capped = _replaced(
            last.restrictions, "restriction_id", Restriction, _changed(connection, restrictions, since)
        )
        reported = patch_reported(
            self._reported if since >= 0 else NOTHING_REPORTED, _reported_since(connection, since)
        )
        self._locks, self._reported = locks, reported
        self._of_org = {}
        self._last = StateView(
            version,
            MappingProxyType(known_agents),
            MappingProxyType(given),
            MappingProxyType(capped),
            MappingProxyType(results),
            MappingProxyType({tool_id: lock for (_, tool_id), lock in sorted(locks.items())}),
            *reported.of(None),
        )


class _Version:
    """The state version by a connection of its own, below SQLAlchemy: a decision may ask before every answer."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._query = str(select(state_version.c.version).compile(dialect=rows.engine.dialect))
        self._connection: Any = None

    def read(self) -> int:
        try:
            if self._connection is None:
                self._connection = self._connect()
            cursor = self._connection.cursor()
            try:
                cursor.execute(self._query)
                return int(cursor.fetchone()[0])
            finally:
                cursor.close()
        except Exception:
            self.close()
            # Whatever is wrong is said in our words by the way that knows them, or it works again.
            with self._rows.reading() as connection:
                return int(connection.execute(select(state_version.c.version)).scalar_one())

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.close()

    def _connect(self) -> Any:
        pooled = self._rows.engine.raw_connection()
        connection: Any = pooled.driver_connection
        pooled.detach()  # it is ours from here on
        if self._rows.engine.dialect.name == "postgresql":
            connection.autocommit = True
        return connection


def _changed(connection: Connection, table: Table, since: int) -> Iterable[Any]:
    """In an order that does not depend on the engine: views of the same state are equal."""
    return connection.execute(
        select(table).where(table.c.version > since).order_by(table.c.version, *table.primary_key)
    ).all()


def _reported_since(connection: Connection, since: int) -> Iterable[StoredReport]:
    query = (
        select(salute_reports)
        .join(salute_latest, salute_latest.c.number == salute_reports.c.number)
        .where(salute_latest.c.version > since)
        .order_by(salute_reports.c.number)
    )
    return [report_of(row) for row in connection.execute(query)]


def _grouped(
    old: Mapping[str, tuple[QualificationResult, ...]], new: Iterable[QualificationResult]
) -> dict[str, tuple[QualificationResult, ...]]:
    grouped = dict(old)
    for result in new:
        grouped[result.agent_id] = (*grouped.get(result.agent_id, ()), result)
    return grouped


def _replaced(
    old: Mapping[str, tuple[T, ...]], key: str, kind: type[T], rows: Iterable[Any]
) -> dict[str, tuple[T, ...]]:
    """By subject, in the order of their ids: patched and read anew are the same."""
    changed: dict[str, dict[str, T | None]] = {}
    for row in rows:
        is_over = row.revoked_at is not None or row.expiry_noted
        record = None if is_over else record_of(kind, row)
        changed.setdefault(row.subject, {})[row._mapping[key]] = record
    patched = dict(old)
    for subject, records in changed.items():
        kept: dict[str, T] = {getattr(each, key): each for each in patched.pop(subject, ())}
        for name, record in records.items():
            kept.pop(name, None)
            if record is not None:
                kept[name] = record
        if kept:
            patched[subject] = tuple(kept[name] for name in sorted(kept))
    return patched
