"""Circumstances of a request: times of day, and the policy conditions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import product

from msgspec.structs import asdict, replace

from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.documents.records import Condition, Match

_DAY, _MINUTE = 86_400, 60
# 1970-01-01 was a Thursday; weeks are counted from Monday.
_FIRST_WEEKDAY = 3
WEEKENDS = "weekends"


def is_within(window: str, now: float, utc_offset: int) -> bool:
    """Whether a moment is in the window `HH:MM-HH:MM` of local time, which can extend past midnight, or on a weekend.

    The window includes its start and excludes its end. `08:00-08:00` is the whole day.

    >>> is_within("23:00-08:00", now=7 * 3600, utc_offset=0), is_within("23:00-08:00", now=7 * 3600, utc_offset=3600)
    (True, False)
    >>> is_within("weekends", now=2 * 86400, utc_offset=0), is_within("weekends", now=2 * 86400, utc_offset=-1)
    (True, False)
    """
    local = now + utc_offset
    if window == WEEKENDS:
        return (local // _DAY + _FIRST_WEEKDAY) % 7 >= 5
    start, end = map(_parse_minutes, window.split("-"))
    minute = local % _DAY // _MINUTE
    return start <= minute < end if start < end else minute >= start or minute < end


def _parse_minutes(text: str) -> int:
    hours, minutes = text.split(":")
    return int(hours) * 60 + int(minutes)


class Circumstance(Condition, frozen=True, kw_only=True):
    """A condition of a policy, together with an alert and a watch of the organization."""

    alert: str | None = None
    watch: str | None = None


def read_circumstances(match: Match) -> tuple[Circumstance, ...]:
    """The circumstances in which a policy applies, one of which must be satisfied. An empty result means always.

    >>> [(each.alert, each.watch) for each in read_circumstances(Match(alert=("RED",), watch=("beta", "gamma")))]
    [('RED', 'beta'), ('RED', 'gamma')]
    """
    if not (match.conditions or match.alert or match.watch):
        return ()
    conditions = [asdict(each) for each in match.conditions or (Condition(),)]
    return tuple(
        Circumstance(**condition, alert=alert, watch=watch)
        for condition, alert, watch in product(conditions, match.alert or (None,), match.watch or (None,))
    )


def with_status(
    context: AccessContext, state: StateView, declared_status: Mapping[str, Collection[str]]
) -> AccessContext:
    """The context with the recorded alert and watch in place of those that the caller states."""
    recorded = {
        kind: status.value for kind, status in state.status.items() if status.value in declared_status[kind]
    }
    return replace(context, **recorded) if recorded else context


def is_satisfied(condition: Circumstance, context: AccessContext) -> bool:
    """Whether every part of a condition is satisfied. A value that the context does not state satisfies nothing."""
    return (
        (condition.channel is None or condition.channel == context.channel)
        and (condition.peer_kind is None or condition.peer_kind == context.peer_kind)
        and (condition.account is None or condition.account == context.account)
        and (condition.guild is None or condition.guild == context.guild)
        and (condition.hook_id is None or condition.hook_id == context.hook_id)
        and (condition.event_type is None or condition.event_type == context.event_type)
        and (condition.alert is None or condition.alert == context.alert)
        and (condition.watch is None or condition.watch == context.watch)
        and (condition.time is None or is_within(condition.time, context.now, context.utc_offset))
    )


CIRCUMSTANCES = ("channel", "peer_kind", "account", "guild", "hook_id", "event_type", "alert", "watch")
"""The fields of conditions that only the caller or the store knows. The time is always known."""


def find_unstated(condition: Circumstance, context: AccessContext) -> dict[str, str]:
    """The context fields that must be stated to satisfy a condition, with the value that each needs.

    Empty if the condition is satisfied already or cannot be satisfied.

    >>> find_unstated(Circumstance(channel="slack", peer_kind="group"), AccessContext(channel="slack"))
    {'peer_kind': 'group'}
    """
    values_by_name = {}
    for name in CIRCUMSTANCES:
        wanted = getattr(condition, name)
        if wanted is not None:
            stated = getattr(context, name)
            if stated is None:
                values_by_name[name] = wanted
            elif stated != wanted:
                return {}
    if condition.time is not None and not is_within(condition.time, context.now, context.utc_offset):
        return {}
    return values_by_name


def list_condition_words(condition: Circumstance) -> tuple[str, ...]:
    """A condition as `KEY:VALUE` words."""
    return tuple(
        f"{key}:{value}" for key in ("time", *CIRCUMSTANCES) if (value := getattr(condition, key)) is not None
    )
