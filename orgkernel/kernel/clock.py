"""The ports for the clock and the stored state."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import msgspec

from orgkernel.decisions.evidence.crew_records import RankMove
from orgkernel.decisions.evidence.state_view import StateView

if TYPE_CHECKING:
    from orgkernel.decisions.access.request import AccessRequest
    from orgkernel.decisions.evidence.limit_usage import Charge, LimitUsage
    from orgkernel.decisions.evidence.state_records import ToolUsage

# Returns the seconds since 1970-01-01 UTC, and the seconds by which local time is ahead.
Clock = Callable[[], tuple[float, int]]


class StateSource(Protocol):
    """A source of stored state, such as a store of `orgkernel.state`."""

    def read_view(self, org_id: str | None = None) -> StateView:
        """The latest state that decisions of an organization depend on."""


@runtime_checkable
class StateHistory(StateSource, Protocol):
    """A source that also knows past states."""

    def read_past(self, org_id: str, at: float) -> StateView:
        """The state of an organization at a time, in seconds since 1970."""

    def list_rank_changes(
        self, org_id: str, agent_id: str, start: str | None, until: float | None = None
    ) -> tuple[RankMove, ...]:
        """The changes of an agent's rank up to a time, oldest first. `start` is the rank in the documents."""

    def list_tool_usage(self, agent_ids: Collection[str]) -> tuple[ToolUsage, ...] | None:
        """The calls of these agents, counted by agent and tool. None if they are not known."""


class LimitReader(Protocol):
    """Reads the usage of limits."""

    def read_usage(self, org_id: str, charges: Sequence[Charge]) -> tuple[LimitUsage, ...] | None:
        """The usage of the counters that charges name, at one moment. None if it is not known."""


@runtime_checkable
class LimitSource(StateSource, Protocol):
    """A source that counts the usage of limits."""

    @property
    def limits(self) -> LimitReader:
        """The reader of usage."""


class PastState:
    """The state at one time, as a source for the kernel. Each organization is read once."""

    def __init__(self, history: StateHistory, at: float) -> None:
        self._history = history
        self._at = at
        self._views: dict[str, StateView] = {}

    def read_view(self, org_id: str | None = None) -> StateView:
        """The state of an organization at that time. State outside of organizations is not known."""
        if org_id is None:
            return StateView()
        if org_id not in self._views:
            self._views[org_id] = self._history.read_past(org_id, self._at)
        return self._views[org_id]

    def read_past(self, org_id: str, at: float) -> StateView:
        """The state at an earlier time."""
        return self._history.read_past(org_id, min(at, self._at))

    def list_rank_changes(
        self, org_id: str, agent_id: str, start: str | None, until: float | None = None
    ) -> tuple[RankMove, ...]:
        """The changes of an agent's rank up to that time, oldest first."""
        until = self._at if until is None else min(until, self._at)
        return self._history.list_rank_changes(org_id, agent_id, start, until)

    def list_tool_usage(self, agent_ids: Collection[str]) -> None:
        """None: calls are counted for the present only."""


def read_clock() -> tuple[float, int]:
    """The time of this machine."""
    now = time.time()
    return now, time.localtime(now).tm_gmtoff


def add_current_time(request: AccessRequest, clock: Clock) -> AccessRequest:
    """A request with the current time, unless it states one."""
    if request.context.now:
        return request
    now, offset = clock()
    context = msgspec.structs.replace(request.context, now=now, utc_offset=offset)
    return msgspec.structs.replace(request, context=context)
