"""Changes turned round."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from orgkernel.diff.change_words import describe_change
from orgkernel.diff.changes import Change, ChangeEffect, Kind, sort_changes
from orgkernel.diff.renames import (
    RoleNames,
    swap_field,
    swap_item,
    swap_names,
    swap_part,
    swap_record,
)
from orgkernel.diff.sections import MEMBERS, ORDER, ROLES, Path, resolve_address

_OPPOSITE: Mapping[Kind, Kind] = {"removed": "added", "added": "removed", "lost": "gained", "gained": "lost"}
_INVERSE: Mapping[ChangeEffect, ChangeEffect] = {
    "widened": "narrowed",
    "narrowed": "widened",
    "unclear": "unclear",
    "neutral": "neutral",
}


def reverse(changes: Sequence[Change]) -> tuple[Change, ...]:
    """The changes from the new manifest to the old one: what comparing them the other way round yields."""
    of_organization: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        of_organization[change.org_id].append(change)
    names = {org_id: swap_names(renames_in(theirs)) for org_id, theirs in of_organization.items()}
    return sort_changes(describe_change(_turned(change, names[change.org_id])) for change in changes)


def renames_in(changes: Iterable[Change]) -> dict[str, str]:
    """Old role id to new one."""
    return {change.before: change.after for change in changes if change.kind == "renamed"}


def _turned(change: Change, names: RoleNames) -> Change:
    return msgspec.structs.replace(
        change,
        role_id=None if change.role_id is None else names.get(change.role_id, change.role_id),
        kind=_OPPOSITE.get(change.kind, change.kind),
        classification=_INVERSE[change.classification],
        before=_swapped(change, change.after, names),
        after=_swapped(change, change.before, names),
        why_before=change.why_after,
        why_after=change.why_before,
        roles=tuple(sorted(names.get(each, each) for each in change.roles)),
        path=_swap_path(change.path, names),
        at_before=change.at_after,
        at_after=change.at_before,
    )


def _swapped(change: Change, value: Any, names: RoleNames) -> Any:
    """A value of a change, with the roles in it called by the other name."""
    _, part, key, field = resolve_address(change.path)
    if value is None or change.kind == "renamed" or not names:
        return value
    if change.kind == "changed" and change.path[-1] == ORDER:
        return [[_swap_key(part, each[0], names), *each[1:]] for each in value] if field is None else value
    if part == ROLES:
        return swap_record(value, names)
    if key is None:
        return swap_part(part, value, names)
    return swap_item(part, value, names) if field is None else swap_field(part, field, value, names)


def _swap_key(part: str, key: str, names: RoleNames) -> str:
    """The key of an item."""
    if part == "findings":
        return str(swap_field(part, "message", key, names))
    if part == ROLES:
        return names.get(key, key)
    if part not in MEMBERS | {"chain"}:
        return key
    role_id, at, qualifier = key.partition("@")
    return f"{names.get(role_id, role_id)}{at}{qualifier}"


def _swap_path(path: Path, names: RoleNames) -> Path:
    """A path, with the role it leads into and the keys on it."""
    first, *rest = path
    if first == ROLES and len(rest) > 1:
        return (ROLES, _swap_key(ROLES, str(rest[0]), names), *_swap_path(path[2:], names))
    if rest and isinstance(rest[0], str):
        return (first, _swap_key(str(first), rest[0], names), *rest[1:])
    return path
