"""The state as decisions read it: one value per state version, patched with the rows that changed since.

Asking costs one look at the version. While it is the same, so is the object; when it is not, only rows that are newer
than the last view are read. Every row of these tables carries the version of its last change and none is ever deleted,
so changes of another process are found like those of this one.
"""

from __future__ import annotations

import contextlib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from threading import Lock
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection, Table, select

from orgkernel.decisions.evidence.state_view import (
    ALL_ORGANIZATIONS,
    AgentState,
    Grant,
    Lifecycle,
    QualificationResult,
    Restriction,
    SkillRecord,
    StateView,
    StoredReport,
    ToolLock,
)
from orgkernel.decisions.ownership.claims import NO_CLAIMS, ClaimIndex
from orgkernel.state.blockers import BlockerRecords, open_by_agent, patch_questions
from orgkernel.state.crew_view import NO_CREW, CrewRecords, patch_crews
from orgkernel.state.database import require_same_file
from orgkernel.state.known_claims import patch_claims, read_changed_claims
from orgkernel.state.open_handoffs import (
    NO_HANDOFFS,
    KnownHandoffs,
    group_by_agent,
    patch_open_handoffs,
)
from orgkernel.state.report_order import ReportingUnit, group_reports_by_subject, map_by_unit
from orgkernel.state.rows import StoreContext, decode_record
from orgkernel.state.schema_version import NEWEST, require_newest
from orgkernel.state.skill_raises import map_raising_tests
from orgkernel.state.tables import (
    agents,
    grants,
    qualification_results,
    restrictions,
    salute_latest,
    salute_reports,
    skill_records,
    state_version,
    tool_locks,
)

_SELECT_VERSIONS = "SELECT version, version_num FROM state_version, alembic_version"
"""The version of the state and the one of the tables, which costs as much as one of them."""
T = TypeVar("T")
IdT = TypeVar("IdT", str, int)
LocksByTool = Mapping[tuple[str, str], ToolLock]
_STRICTER: tuple[Lifecycle, ...] = ("active", "probationary", "registered", "suspended", "decommissioned")
AgentsByOrganization = Mapping[tuple[str, str], AgentState]
"""Agents, keyed by organization and agent id."""
SkillsByOrganization = Mapping[str, Mapping[str, tuple[SkillRecord, ...]]]
"""Skills, keyed by organization and then agent id."""


class VersionReader:
    """Reads the state version by a connection of its own, and compares the version of the tables."""

    def __init__(self, context: StoreContext) -> None:
        self._context = context
        self._connection: Any = None
        self._has_ended = False

    def peek(self) -> int | None:
        """The version, if it can be read without waiting, from tables of this program's version.

        The file must not be fully locked.
        """
        if self._connection is None or self._context.engine.dialect.name != "sqlite":
            return None
        try:
            version, schema = self._ask()
        except Exception:
            self.close()
            return None
        return version if schema == NEWEST else None

    def read(self) -> int:
        """The version now. Raises `StoreError`."""
        try:
            version, schema = self._ask()
        except Exception:
            self.close()
            # The regular connection either works again or raises the error as an orgkernel error.
            with self._context.reading() as connection:
                return int(connection.execute(select(state_version.c.version)).scalar_one())
        require_newest(schema, self._context.shown)
        return version

    def _ask(self) -> tuple[int, str]:
        connection = self._connection
        if connection is None:
            connection = self._connection = self._connect()
            # INVARIANT: `end` sets its flag before it looks for a connection, so one of us closes this one.
            if self._has_ended:
                self.close()
        require_same_file(self._context.engine)
        cursor = connection.cursor()
        try:
            cursor.execute(_SELECT_VERSIONS)
            version, schema = cursor.fetchone()
            return version, schema
        finally:
            cursor.close()

    def close(self) -> None:
        """Give the connection back; the next question takes another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.close()

    def end(self) -> None:
        """Return the connection, and keep no later connection of a thread, because a hanging database could still
        block one.
        """
        self._has_ended = True
        self.close()

    def _connect(self) -> Any:
        pooled = self._context.engine.raw_connection()
        connection: Any = pooled.driver_connection
        pooled.detach()  # this view owns it now
        try:
            if self._context.engine.dialect.name == "postgresql":
                connection.autocommit = True
            else:
                connection.execute("PRAGMA busy_timeout = 0")
        except BaseException:
            connection.close()
            raise
        return connection


def list_agent_states(stored: AgentsByOrganization, org_id: str) -> Mapping[str, AgentState]:
    """The agents of an organization: as stored for it, and never better than stored for all organizations."""
    agents_by_id = {agent_id: agent for (org, agent_id), agent in stored.items() if org == ALL_ORGANIZATIONS}
    for (org, agent_id), agent in stored.items():
        if org == org_id and org != ALL_ORGANIZATIONS:
            shared = agents_by_id.get(agent_id)
            agents_by_id[agent_id] = agent if shared is None else _limit_state(agent, shared)
    return MappingProxyType(dict(sorted(agents_by_id.items())))


def _limit_state(own: AgentState, shared: AgentState) -> AgentState:
    lifecycle = max(own.lifecycle, shared.lifecycle, key=_STRICTER.index)
    if own.rank is not None or (shared.rank is None and shared.trust is None):
        # If it was stopped for all organizations, it must be put to work again for all of them.
        org_id = own.org_id if lifecycle == own.lifecycle else ALL_ORGANIZATIONS
        return msgspec.structs.replace(own, lifecycle=lifecycle, org_id=org_id)
    trust = shared.trust if own.trust is None else own.trust
    return msgspec.structs.replace(
        own, rank=shared.rank, trust=trust, lifecycle=lifecycle, org_id=ALL_ORGANIZATIONS
    )


def list_results(
    results: Mapping[str, tuple[QualificationResult, ...]], org_id: str
) -> Mapping[str, tuple[QualificationResult, ...]]:
    """The results of an organization by agent id."""
    own = {agent: tuple(one for one in each if one.org_id == org_id) for agent, each in results.items()}
    return MappingProxyType({agent: each for agent, each in own.items() if each})


class _CachedViews:
    """A view, and its part for each organization. It is replaced as a whole, so readers never wait."""

    def __init__(
        self,
        view: StateView,
        locks: LocksByTool,
        reports: Mapping[ReportingUnit, StoredReport],
        agents: AgentsByOrganization,
        skills: SkillsByOrganization,
        crews: Mapping[str, CrewRecords],
        claims: Mapping[str, ClaimIndex],
        questions: BlockerRecords,
        handoffs: KnownHandoffs,
    ) -> None:
        self.view = view
        self.locks = locks
        self.agents = agents
        self.skills = skills
        self.crews = crews
        self.claims = claims
        self.questions = questions
        self.handoffs = handoffs
        self.reports = reports
        """The latest of each agent in a role."""
        self._parts: dict[str, StateView] = {}

    def get_part(self, org_id: str | None) -> StateView:
        """The view of an organization; None means all organizations."""
        if org_id is None:
            return self.view
        view = self._parts.get(org_id)
        if view is None:
            locks = {tool_id: lock for (org, tool_id), lock in self.locks.items() if org == org_id}
            reports, raised = group_reports_by_subject(self.reports, org_id)
            view = msgspec.structs.replace(
                self.view,
                agents=list_agent_states(self.agents, org_id),
                results=list_results(self.view.results, org_id),
                locks=MappingProxyType(locks),
                reports=reports,
                raised=raised,
                skills=self.skills.get(org_id, MappingProxyType({})),
                claims=self.claims.get(org_id, NO_CLAIMS),
                all_claims=(),
                blockers=open_by_agent(self.questions.get(org_id, ())),
                handoffs=group_by_agent(self.handoffs.by_session.get(org_id, {})),
                **self.crews.get(org_id, NO_CREW)._asdict(),
            )
            view = self._parts.setdefault(org_id, view)
        return view


_NOTHING = _CachedViews(StateView(version=-1), {}, {}, {}, {}, {}, {}, {}, NO_HANDOFFS)


class Views:
    """The last view, and how it becomes the next one."""

    def __init__(self, context: StoreContext) -> None:
        self._context = context
        self._refreshing = Lock()
        self._cached = _NOTHING
        self._version = VersionReader(context)

    def read(self, org_id: str | None = None) -> StateView:
        """The state now, for an organization. Without one, its agents are those that are stored for all organizations."""
        with self._refreshing:
            if self._version.read() != self._cached.view.version:
                # All tables at one moment, and the version of that moment.
                with self._context.reading() as connection:
                    version = connection.execute(select(state_version.c.version)).scalar_one()
                    if version != self._cached.view.version:
                        self._cached = _refresh(self._cached, connection, version)
            return self._cached.get_part(org_id)

    def last(self, org_id: str | None = None) -> StateView:
        """The view that was read last, without a look at what others did since."""
        cached = self._cached
        return cached.get_part(org_id) if cached.view.version >= 0 else self.read(org_id)

    def is_current(self) -> bool:
        """Whether the last view is known to be current. It never waits; if unsure, the answer is False."""
        if not self._refreshing.acquire(blocking=False):
            return False
        try:
            return self._version.peek() == self._cached.view.version
        finally:
            self._refreshing.release()

    def version(self) -> int:
        """The state version now."""
        with self._refreshing:
            return self._version.read()

    def close(self) -> None:
        """Give its connection back."""
        self._version.end()


def _refresh(cached: _CachedViews, connection: Connection, version: int) -> _CachedViews:
    """The views at a version: the cached ones, with the rows that changed since."""
    # A restored store can be older than the cached view.
    known = cached if version > cached.view.version else _NOTHING
    last, locks, since = known.view, dict(known.locks), known.view.version
    for row in _list_changed(connection, tool_locks, since):
        if row.holder is None:
            locks.pop((row.org_id, row.tool_id), None)
        else:
            locks[row.org_id, row.tool_id] = decode_record(ToolLock, row)
    known_agents = dict(known.agents)
    for row in _list_changed(connection, agents, since):
        known_agents[row.org_id, row.agent_id] = decode_record(AgentState, row)
    granted = _list_changed(connection, grants, since)
    tested = _list_changed(connection, qualification_results, since)
    practiced = _list_changed(connection, skill_records, since)
    skills = _patch_raises(_patch_skills(known.skills, practiced), connection, practiced)
    reports = {**known.reports, **map_by_unit(_read_reported_since(connection, since))}
    latest, raised = group_reports_by_subject(reports, None)
    view = StateView(
        version=version,
        agents=list_agent_states(known_agents, ALL_ORGANIZATIONS),
        # Revoked or used-up records are dropped; a clock that is set back must not bring them back.
        grants=MappingProxyType(_replace_rows(last.grants, "grant_id", Grant, granted, _is_given)),
        restrictions=MappingProxyType(
            _replace_rows(
                last.restrictions,
                "restriction_id",
                Restriction,
                _list_changed(connection, restrictions, since),
                _is_not_lifted,
            )
        ),
        results=MappingProxyType(_patch_results(last.results, tested)),
        locks=MappingProxyType({tool_id: lock for (_, tool_id), lock in sorted(locks.items())}),
        # But a caller that misses a grant needs to know that it was used up.
        expired=MappingProxyType(_replace_rows(last.expired, "grant_id", Grant, granted, _is_used_up)),
        reports=latest,
        raised=raised,
        asleep=MappingProxyType(_replace_rows(last.asleep, "grant_id", Grant, granted, _is_asleep)),
        skills=_merge_all(skills),
    )
    crews = patch_crews(known.crews, connection, since)
    claims = patch_claims(known.claims, read_changed_claims(connection, since))
    handoffs = patch_open_handoffs(known.handoffs, connection, since)
    view = msgspec.structs.replace(
        view,
        all_claims=tuple(claims[each] for each in sorted(claims) if claims[each]),
        handoffs=group_by_agent(*(each for _, each in sorted(handoffs.by_session.items()))),
    )
    questions = patch_questions(known.questions, connection, since)
    return _CachedViews(view, locks, reports, known_agents, skills, crews, claims, questions, handoffs)


def _patch_results(
    old: Mapping[str, tuple[QualificationResult, ...]], rows: Iterable[Any]
) -> dict[str, tuple[QualificationResult, ...]]:
    """The results of each agent, in the order of their ids. A result that was invalidated stays in its place."""
    changed: dict[str, dict[int, QualificationResult | None]] = {}
    for row in rows:
        result = decode_record(QualificationResult, row)
        changed.setdefault(result.agent_id, {})[result.result_id] = result
    patched = dict(old)
    for agent_id, records in changed.items():
        patched[agent_id] = tuple(_merge_rows(patched.get(agent_id, ()), attrgetter("result_id"), records))
    return patched


def _merge_all(skills: SkillsByOrganization) -> Mapping[str, tuple[SkillRecord, ...]]:
    """The skills of every organization by agent id."""
    if len(skills) == 1:
        return next(iter(skills.values()))
    merged: dict[str, tuple[SkillRecord, ...]] = {}
    for _, by_agent in sorted(skills.items()):
        for agent_id, records in by_agent.items():
            merged[agent_id] = (*merged.get(agent_id, ()), *records)
    return MappingProxyType(merged)


def _patch_skills(old: SkillsByOrganization, rows: Iterable[Any]) -> SkillsByOrganization:
    """The skills of each agent, in the order of their ids; organizations in which nothing changed stay as they are."""
    changed: dict[str, dict[str, dict[str, SkillRecord | None]]] = {}
    for row in rows:
        record = decode_record(SkillRecord, row)
        changed.setdefault(record.org_id, {}).setdefault(record.agent_id, {})[record.skill] = record
    patched = dict(old)
    for org_id, by_agent in changed.items():
        agents_now = dict(patched.get(org_id, {}))
        for agent_id, records in by_agent.items():
            agents_now[agent_id] = tuple(
                _merge_rows(agents_now.get(agent_id, ()), attrgetter("skill"), records)
            )
        patched[org_id] = MappingProxyType(agents_now)
    return patched


def _patch_raises(
    old: SkillsByOrganization, connection: Connection, changed: Iterable[Any]
) -> SkillsByOrganization:
    """The skills with the qualifications that raised them. Only agents with changed skills are read again."""
    agents = {(row.org_id, row.agent_id) for row in changed}
    raised = map_raising_tests(connection, agents) if agents else {}
    patched = dict(old)
    for org_id in {org_id for org_id, _ in agents if org_id in old}:
        agents_now = dict(old[org_id])
        for agent_id in (agent_id for org, agent_id in agents if org == org_id and agent_id in agents_now):
            agents_now[agent_id] = tuple(
                _set_raising_tests(each, raised.get((org_id, agent_id, each.skill), ()))
                for each in agents_now[agent_id]
            )
        patched[org_id] = MappingProxyType(agents_now)
    return patched


def _set_raising_tests(record: SkillRecord, raised_by: tuple[str, ...]) -> SkillRecord:
    return record if record.raised_by == raised_by else msgspec.structs.replace(record, raised_by=raised_by)


def _is_given(row: Any) -> bool:
    return _is_in_force(row) and row.asleep_since is None


def _is_asleep(row: Any) -> bool:
    return _is_in_force(row) and row.asleep_since is not None


def _is_in_force(row: Any) -> bool:
    return row.revoked_at is None and not row.expiry_noted


def _is_not_lifted(row: Any) -> bool:
    """Whether a restriction can hold: only its dates end it. A note about its end could come from a clock that was ahead."""
    return row.revoked_at is None


def _is_used_up(row: Any) -> bool:
    return row.revoked_at is None and bool(row.expiry_noted)


def _list_changed(connection: Connection, table: Table, since: int) -> Sequence[Any]:
    """List changed rows in an order that is the same for all engines, so that views of the same state are equal."""
    return connection.execute(
        select(table).where(table.c.version > since).order_by(table.c.version, *table.primary_key)
    ).all()


def _read_reported_since(connection: Connection, since: int) -> Iterable[StoredReport]:
    query = (
        select(salute_reports)
        .join(salute_latest, salute_latest.c.number == salute_reports.c.number)
        .where(salute_latest.c.version > since)
        .order_by(salute_reports.c.number)
    )
    return [decode_record(StoredReport, row) for row in connection.execute(query)]


def _replace_rows(
    old: Mapping[str, tuple[T, ...]],
    key: str,
    kind: type[T],
    rows: Iterable[Any],
    belongs: Callable[[Any], bool],
) -> dict[str, tuple[T, ...]]:
    """The rows of each subject, ordered by id, so that a patched view equals one that is read again."""
    changed: dict[str, dict[str, T | None]] = {}
    for row in rows:
        record = decode_record(kind, row) if belongs(row) else None
        changed.setdefault(row.subject, {})[row._mapping[key]] = record
    patched = dict(old)
    for subject, records in changed.items():
        kept = tuple(_merge_rows(patched.pop(subject, ()), attrgetter(key), records))
        if kept:
            patched[subject] = kept
    return patched


def _merge_rows(rows: tuple[T, ...], key: Callable[[T], IdT], records: Mapping[IdT, T | None]) -> Iterator[T]:
    """Rows in the order of their ids with others in their places; those in between are not looked at."""
    at = 0
    for name in sorted(records):
        place = bisect_left(rows, name, at, key=key)
        yield from rows[at:place]
        record = records[name]
        if record is not None:
            yield record
        at = place + (place < len(rows) and key(rows[place]) == name)
    yield from rows[at:]
