"""The stored state and circumstances of a decision case, as values that decisions take."""

from __future__ import annotations

import calendar
from datetime import datetime

import msgspec

from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.state_view import (
    EMPTY_STATE,
    AgentState,
    Grant,
    QualificationResult,
    Restriction,
    StateView,
    ToolLock,
)
from orgkernel.records.decision_cases import AccessQuestion, Circumstances, Given


def read_moment(written: str) -> float:
    """Local date and time as seconds since 1970; local time counts as UTC. Raises `ValueError` for a day that does not exist.

    >>> read_moment("1970-01-02 00:01")
    86460.0
    """
    return float(calendar.timegm(datetime.fromisoformat(written).timetuple()))


def build_context(given: Circumstances) -> AccessContext:
    """The circumstances of a question. Local time counts as UTC."""
    fields = {
        name: getattr(given, name) for name in msgspec.structs.asdict(AccessContext()) if hasattr(given, name)
    }
    return AccessContext(**fields, now=_NOON if given.at is None else read_moment(given.at))


# Noon: a question without a time is not about the night.
_NOON = 43_200.0


def build_request(asked: AccessQuestion) -> AccessRequest:
    """The request of a question about access."""
    return AccessRequest(
        asked.subject, asked.action, asked.resource, build_context(asked.context), asked.on_behalf_of, asked.via,
        asked.envelope,
    )  # fmt: skip


def build_state(given: Given, org_id: str) -> StateView:
    """The state that a case assumes."""
    if not (given.agents or given.grants or given.restrictions or given.locks):
        return EMPTY_STATE
    grants: dict[str, tuple[Grant, ...]] = {}
    for grant_id, grant in given.grants.items():
        stored = Grant(
            grant_id, grant.subject, grant.resources, grant.level, grant.waives, org_id, grant.channel, grant.session,
            expires_at=None if grant.expires is None else read_moment(grant.expires), uses_left=grant.uses_left,
        )  # fmt: skip
        grants[grant.subject] = (*grants.get(grant.subject, ()), stored)
    restrictions: dict[str, tuple[Restriction, ...]] = {}
    for restriction_id, each in given.restrictions.items():
        bound = Restriction(
            restriction_id, each.subject, each.resources, each.level, org_id,
            expires_at=None if each.expires is None else read_moment(each.expires),
        )  # fmt: skip
        restrictions[each.subject] = (*restrictions.get(each.subject, ()), bound)
    return StateView(
        1,
        {
            name: AgentState(name, agent.rank, agent.trust, agent.lifecycle)
            for name, agent in given.agents.items()
        },
        grants,
        restrictions,
        {
            name: tuple(QualificationResult(name, each, 1.0, True, 0.0) for each in agent.passed)
            for name, agent in given.agents.items()
        },
        {tool: ToolLock(org_id, tool, holder, 1, 0.0) for tool, holder in given.locks.items()},
    )


class FixedState:
    """A store that always returns one state."""

    def __init__(self, state: StateView) -> None:
        self._state = state

    def read_view(self, org_id: str | None = None) -> StateView:
        """The state, for every organization."""
        return self._state
