"""Whether a change of a policy lets anybody do more.

A policy reaches the principals and circumstances of its `match`, and allows or stops what its `permissions` name. If one
side reaches or names everything that the other does, the direction is certain. Everything else, such as one channel in
place of another, is `unclear`: somebody may be able to do more, so it is shown like a widening. The same is true of a
policy that takes something away and silences a fallback that took away more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgkernel.diff.changes import Change, Effect
from orgkernel.diff.directions import EFFECT_OF, Direction, added, said_of, times
from orgkernel.diff.fallback_effects import through_fallbacks
from orgkernel.diff.sections import ELEMENTS

_Policy = Mapping[str, Any]
_Policies = Mapping[str, _Policy]
"""Those in force on one side, by their ids."""
_EFFECTS = ("deny", "ask", "annotate", "allow")
_CREW = ("role", "agent")


def effect_of_policy(
    change: Change, field: str | None, policy_id: str, before: _Policies, after: _Policies
) -> Effect:
    """What a change of one policy does, by itself and through the fallbacks it silences."""
    old, new = before.get(policy_id), after.get(policy_id)
    reach = None if old is None or new is None else _reach(old, new)
    fallbacks = (
        (each, _direction_of(each))
        for side in (before, after)
        for each in side.values()
        if each["fallback"] and each["id"] != policy_id
    )
    directions = through_fallbacks(change, field, (old, new), fallbacks, reach)
    return EFFECT_OF[added((_by_itself(change, field, old, new), *directions))]


def _by_itself(change: Change, field: str | None, old: _Policy | None, new: _Policy | None) -> Direction:
    if old is None or new is None:
        policy = new or old
        sign = 1 if old is None else -1
        return 0 if policy is None else times(_direction_of(policy), sign)
    if field in ("effect", "ceiling", "fallback"):
        return _of_kind(field, change, old, new)
    if field in ELEMENTS:
        more = 1 if change.kind == "gained" else -1
        return more if field == "allows" else -more
    if field != "match" or old["effect"] == new["effect"] == "annotate":
        return 0
    if any(old[name] != new[name] for name in ("effect", "ceiling", "fallback")):
        return None
    reach = _reach(old, new)
    if _is_mixed(old) or _is_mixed(new):
        return 0 if reach == 0 else None
    return times(reach, _direction_of(new))


def _reach(old: _Policy, new: _Policy) -> Direction:
    """Whether a policy matches more than before."""
    before, after = old["match"], new["match"]
    return _compared(_reaches(after, before), _reaches(before, after))


def _of_kind(field: str, change: Change, old: _Policy, new: _Policy) -> Direction:
    if field == "effect":
        before, after = (_EFFECTS.index(each) for each in (change.before, change.after))
        return (after > before) - (after < before)
    less = int(change.after) - int(change.before)
    if field == "ceiling":
        return -less
    # A fallback says less: what it gives is given less often, and so is what it stops.
    if old["effect"] != new["effect"]:
        return None
    return times(_direction_of(new), -less)


def _direction_of(policy: _Policy) -> Direction:
    """What it does to be there: give, take, or both."""
    if policy["effect"] == "annotate":
        return 0
    if policy["effect"] != "allow":
        return -1
    if policy["ceiling"]:
        principal = said_of(policy["match"].get("principal"))
        return -1 if any(name in principal for name in _CREW) else None
    return 1


def _is_mixed(policy: _Policy) -> bool:
    """Whether it gives one thing and takes another."""
    return policy["effect"] == "allow" and bool(policy["denies"])


def _reaches(wide: Mapping[str, Any], narrow: Mapping[str, Any]) -> bool:
    """Whether one match holds wherever another does."""
    if not _asks_no_more(wide.get("principal"), narrow.get("principal")):
        return False
    conditions, others = wide.get("conditions") or (), narrow.get("conditions") or ()
    if not conditions:
        return True
    return bool(others) and all(any(_asks_no_more(each, other) for each in conditions) for other in others)


def _asks_no_more(less: Any, more: Any) -> bool:
    asked = said_of(more)
    return all(_is_met(value, asked.get(name)) for name, value in said_of(less).items())


def _is_met(wanted: Any, given: Any) -> bool:
    if isinstance(wanted, list | tuple) and isinstance(given, list | tuple):
        return set(wanted) <= set(given)
    return bool(wanted == given or (wanted == "*" and given is not None))


def _compared(grows: bool, shrinks: bool) -> Direction:
    """From whether the later side covers the earlier, and the other way round."""
    if grows and shrinks:
        return 0
    return 1 if grows else -1 if shrinks else None
