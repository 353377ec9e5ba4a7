"""What an answer depends on at one moment: the documents held, the state that is stored, and the time.

An answer may be given again for as long as the answer_version is the same object. It changes with a reload, with a change
of the state, when something that is stored runs out, and every minute where a policy speaks of the time of day.
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
    """One such moment, and how long it lasts."""

    __slots__ = ("_since", "_until", "lasts", "state", "stored_version")

    def __init__(self, state: RegistryState, stored_version: int, since: float, until: float) -> None:
        self.state = state
        self.stored_version = stored_version
        """Version of what is stored."""
        self._since = since
        self._until = until
        self.lasts = until == _NEVER
        """Whether time alone never ends it."""

    def holds(self, state: RegistryState, stored_version: int, now: float) -> bool:
        """Whether nothing has changed since. A clock that was set back changes what has run out, too."""
        return (
            self.state is state
            and self.stored_version == stored_version
            and (self.lasts or self._since <= now < self._until)
        )


class AnswerVersions:
    """The current one. Safe between threads: at worst two are made of the same moment, and one of them is kept."""

    def __init__(self) -> None:
        self._last: AnswerVersion | None = None
        self._ends: tuple[object, int, tuple[float, ...]] = (None, -1, ())

    def current(self, state: RegistryState, source: StateSource | None, clock: Clock | None) -> AnswerVersion:
        """The answer_version now. Raises what reading the state raises."""
        last = self._last
        if source is None and last is not None and last.state is state and last.lasts:
            return last
        from orgkernel.kernel.clock import (
            read_clock,
        )  # not needed by a command that asks nothing about access

        stored = None if source is None else source.read_view()
        version = 0 if stored is None else stored.version
        now, _ = (clock or read_clock)()
        if last is not None and last.holds(state, version, now):
            return last
        ends = () if stored is None else self._list_ends_of(state, stored)
        place = bisect_right(ends, now)
        since = ends[place - 1] if place else -_NEVER
        until = ends[place] if place < len(ends) else _NEVER
        has_skills = stored is not None and bool(stored.skills)  # which decay
        if has_skills or any(_iterate_time_dependence(state)):
            since, until = max(since, now - now % _MINUTE), min(until, now - now % _MINUTE + _MINUTE)
        self._last = AnswerVersion(state, version, since, until)
        return self._last

    def _list_ends_of(self, state: RegistryState, stored: StateView) -> tuple[float, ...]:
        """When something that is stored runs out, in order."""
        held, version, ends = self._ends
        if held is not state or version != stored.version:
            ends = tuple(sorted(set(_iterate_ends(state, stored))))
            self._ends = (state, stored.version, ends)
        return ends


def _iterate_ends(state: RegistryState, stored: StateView) -> Iterator[float]:
    from orgkernel.decisions.evidence.state_view import REPORT_COUNTS_FOR

    for grants in stored.grants.values():
        yield from (grant.expires_at for grant in grants if grant.expires_at is not None)
    for restrictions in stored.restrictions.values():
        yield from (each.expires_at for each in restrictions if each.expires_at is not None)
    yield from (lock.expires_at for lock in stored.locks.values() if lock.expires_at is not None)
    for claims in stored.all_claims:
        yield from claims.ends()
    for reports in stored.reports.values():
        yield from (report.at + REPORT_COUNTS_FOR for report in reports)
    for results in stored.results.values():
        for result in results:
            if result.expires_at is not None:
                yield result.expires_at
            for organization in state.served.values():
                declared = organization.snapshot.records.qualifications.get(result.qualification)
                if declared is not None and declared.record.expires_after_days is not None:
                    yield result.at + declared.record.expires_after_days * _DAY


def _iterate_time_dependence(state: RegistryState) -> Iterator[bool]:
    for organization in state.served.values():
        for policy in organization.snapshot.records.policies.values():
            yield any(condition.time is not None for condition in policy.record.match.conditions)
