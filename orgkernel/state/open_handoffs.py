"""The work that was handed to each agent and has not ended, in a view.

Work that owns files is left out: its claims show it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, exists, not_, or_, select

from orgkernel.decisions.evidence.state_view import OpenHandoff
from orgkernel.state.tables import contract_records, handoffs

_AGENT = "agent:"
_COLUMNS = handoffs.c
_IS_OPEN = and_(_COLUMNS.brief.is_not(None), _COLUMNS.token.is_(None), _COLUMNS.holder.startswith(_AGENT))


class KnownHandoffs(NamedTuple):
    """The hand-offs that were read."""

    last: Mapping[str, int]
    """The number of the last hand-off of each organization."""
    by_session: Mapping[str, Mapping[str, OpenHandoff]]
    """Those that are open, by organization and session."""


NO_HANDOFFS = KnownHandoffs({}, {})


def patch_open_handoffs(old: KnownHandoffs, connection: Connection, since: int) -> KnownHandoffs:
    """Add the hand-offs that were recorded since the last patch, and leave out those that got a result since a version."""
    last, by_session = dict(old.last), {org_id: dict(each) for org_id, each in old.by_session.items()}
    ends = contract_records.c
    has_result = exists().where(and_(ends.org_id == _COLUMNS.org_id, ends.ends == _COLUMNS.session))
    # Rows are only added, in the order of their numbers.
    query = select(
        _COLUMNS.org_id, _COLUMNS.number, _COLUMNS.holder, _COLUMNS.session, _COLUMNS.expires_at,
        and_(_IS_OPEN, not_(has_result)).label("is_open"),
    ).order_by(_COLUMNS.org_id, _COLUMNS.number)  # fmt: skip
    if last:
        newer = (and_(_COLUMNS.org_id == org_id, _COLUMNS.number > number) for org_id, number in last.items())
        query = query.where(or_(_COLUMNS.org_id.not_in(sorted(last)), *newer))
    for row in connection.execute(query):
        last[row.org_id] = row.number
        if row.is_open:
            by_session.setdefault(row.org_id, {})[row.session] = _build(row)
    ended = select(ends.org_id, ends.ends).where(ends.version > since, ends.ends.is_not(None))
    for org_id, session in connection.execute(ended):
        by_session.get(org_id, {}).pop(session, None)
    return KnownHandoffs(last, by_session)


def list_open_handoffs_at(
    connection: Connection, org_id: str, at: float
) -> Mapping[str, tuple[OpenHandoff, ...]]:
    """The hand-offs of an organization that had not ended at a time, by agent."""
    ends = contract_records.c
    has_result = exists().where(and_(ends.org_id == org_id, ends.ends == _COLUMNS.session, ends.at <= at))
    query = select(_COLUMNS.number, _COLUMNS.holder, _COLUMNS.session, _COLUMNS.expires_at)
    query = query.where(_IS_OPEN, _COLUMNS.org_id == org_id, _COLUMNS.at <= at, not_(has_result))
    return group_by_agent(
        {row.session: _build(row) for row in connection.execute(query.order_by(_COLUMNS.number))}
    )


def _build(row: Any) -> OpenHandoff:
    return OpenHandoff(row.holder.removeprefix(_AGENT), row.session, row.number, row.expires_at)


def group_by_agent(*by_session: Mapping[str, OpenHandoff]) -> Mapping[str, tuple[OpenHandoff, ...]]:
    """Hand-offs by the agent that works on them."""
    by_agent: dict[str, list[OpenHandoff]] = {}
    for handoffs_of_org in by_session:
        for each in handoffs_of_org.values():
            by_agent.setdefault(each.agent_id, []).append(each)
    return MappingProxyType({agent_id: tuple(each) for agent_id, each in by_agent.items()})
