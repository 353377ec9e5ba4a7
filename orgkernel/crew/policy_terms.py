"""What a policy lets through and what it stops, as lists that can be compared one by one, and which way it points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orgkernel.crew.changes import Effect
from orgkernel.records.access_policies import Permissions, Policy

Direction = int | None
"""1 for more, -1 for less, 0 for the same; None where it is some of both, or cannot be said."""
EFFECT_OF: Mapping[Direction, Effect] = {1: "widened", 0: "neutral", -1: "narrowed", None: "unclear"}
DIRECTION_OF: Mapping[Effect, Direction] = {effect: direction for direction, effect in EFFECT_OF.items()}
_FIELD_OF = {"allow": "allows", "ask": "asks", "deny": "denies"}


def permitted(policy: Policy) -> dict[str, Any]:
    """The lists of a policy in a manifest, in the order of their names: that in which they are written says nothing.

    One that only annotates lets nothing through and stops nothing.
    """
    terms: dict[str, set[str]] = {"allows": set(), "asks": set(), "denies": set(), "bounds": set()}
    field = _FIELD_OF.get(policy.effect)
    if field is not None:
        terms[field].update(_spoken(policy.permissions))
        terms["denies"].update(f"tool:{name}" for name in policy.permissions.excepted_tools)
    if policy.ceiling:
        terms["bounds"].update(
            kind for kind in ("tools", "credentials", "data") if getattr(policy.permissions, kind) is not None
        )
    return {name: tuple(sorted(said)) for name, said in terms.items()}


def _spoken(permissions: Permissions) -> Iterator[str]:
    named: Any = permissions.named_tools
    yield from (f"tool:{name}" for name in named or ())
    listed: Any = permissions.credentials or ()
    yield from (f"credential:{name}" for name in ((listed,) if isinstance(listed, str) else listed))
    if permissions.data is not None:
        yield f"data:{permissions.data}"


def times(direction: Direction, sign: Direction) -> Direction:
    """A direction turned round, or kept, by a sign."""
    return direction * sign if direction and sign else (0 if 0 in (direction, sign) else None)


def added(directions: Iterable[Direction]) -> Direction:
    """Several at once: more and less together cannot be said."""
    found = {each for each in directions if each != 0}
    return 0 if not found else found.pop() if len(found) == 1 else None


def said_of(record: Any) -> Mapping[str, Any]:
    """What a record says, without what it leaves out."""
    said = record if isinstance(record, Mapping) else {}
    return {name: value for name, value in said.items() if value is not None and value not in ([], ())}
