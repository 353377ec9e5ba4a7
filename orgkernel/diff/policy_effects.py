"""Whether a change of a policy lets anybody do more.

A policy reaches the principals and circumstances of its `match`, and allows or stops what its `permissions` name. If one
side reaches or names everything that the other does, the direction is certain. Everything else, such as one channel in
place of another, is `unclear`: a subject could be able to do more, so it is shown like a widening. The same is true of a
policy that denies something and silences a fallback that denied more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orgkernel.diff.changes import Change, ChangeEffect
from orgkernel.diff.sections import ELEMENTS

Direction = int | None
"""1 for more, -1 for less, 0 for the same, and None if it is both or unknown."""
EFFECT_OF: Mapping[Direction, ChangeEffect] = {1: "widened", 0: "neutral", -1: "narrowed", None: "unclear"}
_Policy = Mapping[str, Any]
_Policies = Mapping[str, _Policy]
"""Those in force on one side, by their ids."""
_EFFECTS = ("deny", "ask", "annotate", "allow")
_CREW = ("role", "agent")
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
# No subject is two of these; an agent can fill two roles.
_ONE_OF = ("relationship", "person_id", "system", "webhook", "agent")


def multiply_direction(direction: Direction, sign: Direction) -> Direction:
    """A direction turned round, or kept, by a sign."""
    return direction * sign if direction and sign else (0 if 0 in (direction, sign) else None)


def combine_directions(directions: Iterable[Direction]) -> Direction:
    """The combined direction. More and less together are unknown."""
    signs = {each for each in directions if each != 0}
    return 0 if not signs else signs.pop() if len(signs) == 1 else None


def get_written_fields(record: Any) -> Mapping[str, Any]:
    """What a record says, without what it leaves out."""
    fields = record if isinstance(record, Mapping) else {}
    return {name: value for name, value in fields.items() if value is not None and value not in ([], ())}


def compute_policy_effect(
    change: Change, field: str | None, policy_id: str, before: _Policies, after: _Policies
) -> ChangeEffect:
    """What a change of one policy does, by itself and through the fallbacks it silences."""
    old, new = before.get(policy_id), after.get(policy_id)
    reach = None if old is None or new is None else _reach(old, new)
    fallbacks = (
        (each, _get_policy_direction(each))
        for side in (before, after)
        for each in side.values()
        if each["fallback"] and each["id"] != policy_id
    )
    directions = find_fallback_directions(change, field, (old, new), fallbacks, reach)
    return EFFECT_OF[combine_directions((_compute_own_direction(change, field, old, new), *directions))]


def _compute_own_direction(
    change: Change, field: str | None, old: _Policy | None, new: _Policy | None
) -> Direction:
    if old is None or new is None:
        policy = new or old
        sign = 1 if old is None else -1
        return 0 if policy is None else multiply_direction(_get_policy_direction(policy), sign)
    if field == "approvals":
        return _compare_approvals(old["approvals"], new["approvals"])
    if field in ("effect", "ceiling", "fallback"):
        return _compute_field_direction(field, change, old, new)
    if field in ELEMENTS:
        more = 1 if change.kind == "gained" else -1
        return more if field in ("allows", "spares") else -more
    does = _get_policy_direction(old), _get_policy_direction(new)
    if field != "match" or does == (0, 0):
        return 0
    # With another effect, the direction of the match cannot be told apart from that of the effect.
    if any(old[name] != new[name] for name in ("effect", "ceiling", "fallback")):
        return None
    reach = _reach(old, new)
    # A request that the policy now also covers gets its new effect. A request that it no longer covers
    # loses the old one.
    return None if reach is None else multiply_direction(reach, does[1] if reach > 0 else does[0])


def _compare_approvals(old: Mapping[str, Any], new: Mapping[str, Any]) -> Direction:
    """Fewer approvals, or of more subjects, are more. Where one side asks for both more and less, it is unknown."""
    if not old or not new:
        return bool(old) - bool(new)
    everyone = (not old["by"], not new["by"])
    before, after = ({*each["by"]} for each in (old, new))
    wider = everyone[1] or (not everyone[0] and after >= before)
    narrower = everyone[0] or (not everyone[1] and before >= after)
    by = _compared(wider, narrower)
    fewer = (old["count"] > new["count"]) - (old["count"] < new["count"])
    return combine_directions((by, fewer))


def _reach(old: _Policy, new: _Policy) -> Direction:
    """Whether a policy now matches more."""
    before, after = old["match"], new["match"]
    return _compared(_does_reach(after, before), _does_reach(before, after))


def _compute_field_direction(field: str, change: Change, old: _Policy, new: _Policy) -> Direction:
    if field == "effect":
        before, after = (_EFFECTS.index(each) for each in (change.before, change.after))
        return (after > before) - (after < before)
    less = int(change.after) - int(change.before)
    if field == "ceiling":
        return -less
    # A fallback says less: what it gives is given less often, and so is what it stops.
    does = _get_policy_direction(new)
    if old["effect"] != new["effect"] or does != _get_policy_direction(old):
        return None
    return multiply_direction(does, -less)


def _get_policy_direction(policy: _Policy) -> Direction:
    """What it does to be there: give, take, or both."""
    takes = _is_bounding(policy) or bool(policy["denies"])
    if policy["effect"] != "allow":
        return -1 if takes or policy["asks"] else 0
    principal = get_written_fields(policy["match"].get("principal"))
    if any(name in principal for name in _CREW):  # whom only roles give anything
        return -1 if takes else 0
    return None if takes else 1


def _is_bounding(policy: _Policy) -> bool:
    """Whether it is a ceiling that leaves out anything: one that allows all tools caps none."""
    return policy["ceiling"] and any(
        f"{kind.removesuffix('s')}:*" not in policy["allows"] for kind in policy["bounds"]
    )


def _does_reach(wide: Mapping[str, Any], narrow: Mapping[str, Any]) -> bool:
    """Whether one match holds wherever another does."""
    if not _does_ask_no_more(wide.get("principal"), narrow.get("principal")):
        return False
    conditions, others = wide.get("conditions") or (), narrow.get("conditions") or ()
    if not conditions:
        return True
    return bool(others) and all(
        any(_does_ask_no_more(each, other) for each in conditions) for other in others
    )


def _does_ask_no_more(less: Any, more: Any) -> bool:
    demands = get_written_fields(more)
    return all(_is_met(value, demands.get(name)) for name, value in get_written_fields(less).items())


def _is_met(wanted: Any, given: Any) -> bool:
    if isinstance(wanted, list | tuple) and isinstance(given, list | tuple):
        return set(wanted) <= set(given)
    return bool(wanted == given or (wanted == "*" and given is not None))


def _compared(grows: bool, shrinks: bool) -> Direction:
    """From whether the later side covers the earlier, and the other way round."""
    if grows and shrinks:
        return 0
    return 1 if grows else -1 if shrinks else None


def find_fallback_directions(
    change: Change,
    field: str | None,
    policies: tuple[_Policy | None, _Policy | None],
    fallbacks: Iterable[tuple[_Policy, Direction]],
    reach: Direction,
) -> Iterator[Direction]:
    """What becomes of each fallback it may meet: nothing where it silences as much as before.

    A policy that takes away keeps fallbacks from giving. One that allows also keeps them from taking away. `fallbacks`
    come with what they do where they speak; `reach` is how a changed match compares with the one before.
    """
    met = [
        does
        for fallback, does in fallbacks
        if any(policy is not None and _may_meet(policy["match"], fallback["match"]) for policy in policies)
    ]
    for aspect, effects in ((1, ("allow", "deny", "ask")), (-1, ("allow",))):
        silences = _compute_silencing_direction(change, field, policies, reach, effects)
        if silences != 0 and any(does in (aspect, None) for does in met):
            yield multiply_direction(aspect, None if silences is None else -silences)


def _compute_silencing_direction(
    change: Change,
    field: str | None,
    policies: tuple[_Policy | None, _Policy | None],
    reach: Direction,
    effects: tuple[str, ...],
) -> Direction:
    """Whether it silences fallbacks more often than before, by having one of these effects."""
    was, now = (
        policy is not None and policy["effect"] in effects and not policy["fallback"] for policy in policies
    )
    if was != now:
        return int(now) - int(was) if field in (None, "effect", "fallback") else 0
    return reach if was and field == "match" else 0


def _may_meet(one: Any, other: Any) -> bool:
    """Whether one subject can match both, whatever the circumstances."""
    principals = get_written_fields(one.get("principal")), get_written_fields(other.get("principal"))
    if not _list_subjects(principals[0]) & _list_subjects(principals[1]):
        return False
    for name in _ONE_OF:
        named = [principal.get(name) for principal in principals]
        if None not in named and "*" not in named and named[0] != named[1]:
            return False
    return True


def _list_subjects(principal: Mapping[str, Any]) -> frozenset[str]:
    kinds = _SUBJECTS
    for name in principal:
        kinds &= _CAN_BE.get(name, _SUBJECTS)
    if "unknown" in principal:
        kinds &= {"unknown"} if principal["unknown"] else _SUBJECTS - {"unknown"}
    return kinds
