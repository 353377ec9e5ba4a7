"""The version of answers: it changes with the documents, the stored state and the time.

An answer can be cached while the answer version is the same object. The version changes after a reload, after a change
of the state, when a stored row expires, and every minute if a policy depends on the time of day.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orgkernel.decisions.evidence.state_view import StateView
    from orgkernel.kernel.clock import Clock, StateSource
    from orgkernel.kernel.registry_state import RegistryState

_DAY, _MINUTE = 86_400.0, 60.0
_NEVER = float("inf")


class AnswerVersion:
    """One answer version, and its lifetime."""

    __slots__ = ("_since", "_until", "lasts", "state", "stored_version")

    def __init__(self, state: RegistryState, stored_version: int, since: float, until: float) -> None:
        self.state = state
        self.stored_version = stored_version
        """The version of the stored state."""
        self._since = since
        self._until = until
        self.lasts = until == _NEVER
        """Whether it never ends because of the time alone."""

    def holds(self, state: RegistryState, stored_version: int, now: float) -> bool:
        """Whether it is still current. If the clock was set back, it is not, because expired rows change too."""
        return (
            self.state is state
            and self.stored_version == stored_version
            and (self.lasts or self._since <= now < self._until)
        )


class AnswerVersions:
    """The current answer version. Thread-safe: two threads can build one at the same moment, and one of them is kept."""

    def __init__(self) -> None:
        self._last: AnswerVersion | None = None
        self._ends: tuple[object, int, tuple[float, ...]] = (None, -1, ())

    def current(self, state: RegistryState, source: StateSource | None, clock: Clock | None) -> AnswerVersion:
        """The current answer version. Raises the errors of reading the state."""
        last = self._last
        # The common case of a kernel without a store: neither the state nor the clock is read.
        if source is None and last is not None and last.state is state and last.lasts:
            return last
        from orgkernel.kernel.clock import (
            read_clock,
        )  # not needed by commands without access decisions

        stored = None if source is None else source.read_view()
        version = 0 if stored is None else stored.version
        now, _ = (clock or read_clock)()
        if last is not None and last.holds(state, version, now):
            return last
        ends = () if stored is None else self._list_ends_of(state, stored)
        # Nothing expires between two neighboring ends, so the version lasts from the last one to the next one.
        place = bisect_right(ends, now)
        since = ends[place - 1] if place else -_NEVER
        until = ends[place] if place < len(ends) else _NEVER
        has_skills = stored is not None and bool(stored.skills)  # whose levels decay
        # Times of day and decay change continuously or at any minute, so the answer lasts to the end of this minute.
        if has_skills or any(_iterate_time_dependence(state)):
            since, until = max(since, now - now % _MINUTE), min(until, now - now % _MINUTE + _MINUTE)
        self._last = AnswerVersion(state, version, since, until)
        return self._last

    def _list_ends_of(self, state: RegistryState, stored_state: StateView) -> tuple[float, ...]:
        """The expiries of stored rows, earliest first."""
        held, version, ends = self._ends
        if held is not state or version != stored_state.version:
            ends = tuple(sorted(set(_iterate_ends(state, stored_state))))
            self._ends = (state, stored_state.version, ends)
        return ends


def _iterate_ends(state: RegistryState, stored_state: StateView) -> Iterator[float]:
    from orgkernel.decisions.evidence.state_view import REPORT_COUNTS_FOR

    for grants in stored_state.grants.values():
        yield from (grant.expires_at for grant in grants if grant.expires_at is not None)
    for restrictions in stored_state.restrictions.values():
        yield from (each.expires_at for each in restrictions if each.expires_at is not None)
    yield from (lock.expires_at for lock in stored_state.locks.values() if lock.expires_at is not None)
    # Every kind of row with an end belongs here: one that is missing would be answered from the cache after its end.
    for claims in stored_state.all_claims:
        yield from claims.list_ends()
    for handoffs in stored_state.handoffs.values():
        yield from (each.expires_at for each in handoffs)
    for reports in stored_state.reports.values():
        yield from (report.at + REPORT_COUNTS_FOR for report in reports)
    for results in stored_state.results.values():
        for result in results:
            if result.expires_at is not None:
                yield result.expires_at
            # The document can shorten the validity that was recorded with a result.
            for organization in state.served.values():
                declared = organization.snapshot.records.qualifications.get(result.qualification)
                if declared is not None and declared.record.expires_after_days is not None:
                    yield result.at + declared.record.expires_after_days * _DAY


def _iterate_time_dependence(state: RegistryState) -> Iterator[bool]:
    for organization in state.served.values():
        for policy in organization.snapshot.records.policies.values():
            yield any(condition.time is not None for condition in policy.record.match.conditions)
