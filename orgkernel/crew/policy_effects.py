"""Whether a change of a policy lets anybody do more.

A policy reaches whoever and whatever its `match` says, and lets through or stops what its `permissions` name. Where one
side reaches or names all that the other does, the direction is certain. Everything else, such as another channel in the
place of the first, is `unclear`: somebody may be able to do more, so it is shown like what does widen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orgkernel.crew.changes import Change, Effect
from orgkernel.crew.sections import ELEMENTS

_Policy = Mapping[str, Any]
_EFFECTS = ("deny", "ask", "annotate", "allow")
_CREW = ("role", "agent")
_EFFECT_OF: Mapping[int | None, Effect] = {1: "widened", 0: "neutral", -1: "narrowed", None: "unclear"}

Direction = int | None
"""1 for more, -1 for less, 0 for the same; None where it is some of both, or cannot be said."""


def effect_of_policy(change: Change, field: str | None, old: _Policy | None, new: _Policy | None) -> Effect:
    """What a change does; `old` and `new` are the policy on both sides, as far as it is there."""
    if old is None or new is None:
        policy = new or old
        sign = 1 if old is None else -1
        return "neutral" if policy is None else _EFFECT_OF[_times(_direction_of(policy), sign)]
    if field in ("effect", "ceiling", "fallback"):
        return _EFFECT_OF[_of_kind(field, change, old, new)]
    if field in ELEMENTS:
        more = 1 if change.kind == "gained" else -1
        return _EFFECT_OF[more if field == "allows" else -more]
    if field != "match" or old["effect"] == new["effect"] == "annotate":
        return "neutral"
    if any(old[name] != new[name] for name in ("effect", "ceiling")):
        return "unclear"
    reach = _compared(_reaches(change.after, change.before), _reaches(change.before, change.after))
    if _is_mixed(old) or _is_mixed(new):
        return _EFFECT_OF[0 if reach == 0 else None]
    return _EFFECT_OF[_times(reach, _direction_of(new))]


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
    return _times(_direction_of(new), -less)


def _direction_of(policy: _Policy) -> Direction:
    """What it does to be there: give, take, or both."""
    if policy["effect"] == "annotate":
        return 0
    if policy["effect"] != "allow":
        return -1
    if policy["ceiling"]:
        principal = _said(policy["match"].get("principal"))
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
    asked = _said(more)
    return all(_is_met(value, asked.get(name)) for name, value in _said(less).items())


def _is_met(wanted: Any, given: Any) -> bool:
    if isinstance(wanted, list | tuple) and isinstance(given, list | tuple):
        return set(wanted) <= set(given)
    return bool(wanted == given or (wanted == "*" and given is not None))


def _said(record: Any) -> Mapping[str, Any]:
    """What a record says, without what it leaves out."""
    said = record if isinstance(record, Mapping) else {}
    return {name: value for name, value in said.items() if value is not None and value not in ([], ())}


def _compared(grows: bool, shrinks: bool) -> Direction:
    """From whether the later side covers the earlier, and the other way round."""
    if grows and shrinks:
        return 0
    return 1 if grows else -1 if shrinks else None


def _times(direction: Direction, sign: Direction) -> Direction:
    return direction * sign if direction and sign else (0 if 0 in (direction, sign) else None)
