"""What a change of a policy does through the fallbacks it silences: they speak only where no other policy matches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from orgkernel.diff.changes import Change
from orgkernel.diff.directions import Direction, said_of, times

_Policy = Mapping[str, Any]
_SUBJECTS = frozenset({"person", "unknown", "system", "webhook", "crew"})
_CAN_BE: Mapping[str, frozenset[str]] = {
    "relationship": frozenset({"person"}),
    "tags": frozenset({"person"}),
    "person_id": frozenset({"person"}),
    "system": frozenset({"system"}),
    "webhook": frozenset({"webhook"}),
    "agent": frozenset({"crew"}),
    "role": frozenset({"crew"}),
}
# Nobody is two of these; an agent can fill two roles.
_ONE_OF = ("relationship", "person_id", "system", "webhook", "agent")


def through_fallbacks(
    change: Change,
    field: str | None,
    policies: tuple[_Policy | None, _Policy | None],
    fallbacks: Iterator[tuple[_Policy, Direction]],
    reach: Direction,
) -> Iterator[Direction]:
    """What becomes of each fallback it may meet: nothing where it silences as much as before.

    `fallbacks` come with what they do where they speak; `reach` is how a changed match compares with the one before.
    """
    silences = _times_more(change, field, policies, reach)
    if silences == 0:
        return
    for fallback, does in fallbacks:
        if any(policy is not None and _may_meet(policy["match"], fallback["match"]) for policy in policies):
            yield times(does, None if silences is None else -silences)


def _times_more(
    change: Change, field: str | None, policies: tuple[_Policy | None, _Policy | None], reach: Direction
) -> Direction:
    """Whether it silences fallbacks more often than before."""
    was, now = (policy is not None and _silences(policy) for policy in policies)
    if was != now:
        return int(now) - int(was) if field in (None, "effect", "fallback") else 0
    return reach if was and field == "match" else 0


def _silences(policy: _Policy) -> bool:
    return policy["effect"] != "annotate" and not policy["fallback"]


def _may_meet(one: Any, other: Any) -> bool:
    """Whether somebody can be whom both speak of; circumstances are not looked at."""
    principals = said_of(one.get("principal")), said_of(other.get("principal"))
    if not _subjects(principals[0]) & _subjects(principals[1]):
        return False
    for name in _ONE_OF:
        named = [principal.get(name) for principal in principals]
        if None not in named and "*" not in named and named[0] != named[1]:
            return False
    return True


def _subjects(principal: Mapping[str, Any]) -> frozenset[str]:
    found = _SUBJECTS
    for name in principal:
        found &= _CAN_BE.get(name, _SUBJECTS)
    if "unknown" in principal:
        found &= {"unknown"} if principal["unknown"] else _SUBJECTS - {"unknown"}
    return found
