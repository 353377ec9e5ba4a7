"""Roles that are called differently: finding them, and calling them by the other name everywhere.

A role is renamed if it is gone, another role is new, and both are equal apart from the id, the name made from the id, and
the other roles they name. Facts from catalogs, and what follows from them, do not count.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import msgspec

from orgkernel.diff.normal_form import remove_why
from orgkernel.diff.sections import (
    ACTIONS,
    CATALOG,
    MEMBERS,
    ROLES,
    SINGLE,
    UNORDERED,
    get_item_key,
    is_item_list,
)

RoleNames = Mapping[str, str]
"""Role id to the other one, both ways round: swapping twice changes nothing."""

_NOT_OF_THE_PROFILE = MEMBERS | {"role_id", "org_id", "org_name", "chain", "findings", "essential_tools"}
_DERIVED = {
    "plans": {"runnable", "missing_tools"},
    "tools": {ACTIONS},
    "pace": {"escalate_to"},
    "domains": {"chosen"},
}
# Where role ids stand in the items of a part, and in which fields; `id` may stand in the key too.
_NAMING = {
    **dict.fromkeys((*MEMBERS, "chain"), ("id",)),
    "pace": ("escalate_to",),
    "domains": ("role_id", "routing"),
    "channels": ("allowed_pairs",),
    "findings": ("message", "help"),
}
_QUOTED = re.compile(r"`([^`]*)`")


def find_renames(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, str]:
    """Old role id to new one. Of several that say the same, those with the same superior belong together, then the first."""
    old = {role["role_id"]: role for role in before[ROLES]}
    new = {role["role_id"]: role for role in after[ROLES]}
    removed = {role_id: _encode_profile(role) for role_id, role in old.items() if role_id not in new}
    added = {role_id: _encode_profile(role) for role_id, role in new.items() if role_id not in old}
    renamed: dict[str, str] = {}

    def pair(key_of_old: Callable[[str], object], key_of_new: Callable[[str], object]) -> None:
        waiting = defaultdict(list)
        taken = set(renamed.values())
        for role_id in added:
            if role_id not in taken:
                waiting[key_of_new(role_id)].append(role_id)
        for role_id in removed:
            if role_id not in renamed and waiting[key_of_old(role_id)]:
                renamed[role_id] = waiting[key_of_old(role_id)].pop(0)

    # In two passes: equal profiles under the same superior first, or two alike roles could be paired crosswise.
    pair(
        lambda role_id: (removed[role_id], _superior(old[role_id])),
        lambda role_id: (added[role_id], _superior(new[role_id])),
    )
    pair(removed.__getitem__, added.__getitem__)
    return renamed


def swap_names(renamed: Mapping[str, str]) -> RoleNames:
    """For swapping the ids."""
    return {**renamed, **{new: old for old, new in renamed.items()}}


def swap_organization(organization: Mapping[str, Any], names: RoleNames) -> dict[str, Any]:
    """An organization, with its reasons or without, in which the roles are called by the other name."""
    if not names:
        return dict(organization)
    swapped = swap_record(organization, names)
    swapped[ROLES] = [swap_record(role, names) for role in organization[ROLES]]
    return swapped


def swap_record(record: Mapping[str, Any], names: RoleNames) -> dict[str, Any]:
    """The parts of an organization, roles excepted, or of a role."""
    return {part: swap_part(part, value, names) for part, value in record.items()}


def swap_part(part: str, value: Any, names: RoleNames) -> Any:
    """The value of a part."""
    if part in ("role_id", "roots"):
        return _swap_ids(value, names)
    if part in SINGLE:
        return None if value is None else swap_item(part, value, names)
    if part in _NAMING and is_item_list(value):
        swapped = [swap_item(part, item, names) for item in value]
        return sorted(swapped, key=partial(get_item_key, part)) if part in UNORDERED else swapped
    return value


def swap_item(part: str, item: Mapping[str, Any], names: RoleNames) -> dict[str, Any]:
    """An item of a part."""
    return {field: swap_field(part, field, value, names) for field, value in item.items()}


def swap_field(part: str, field: str, value: Any, names: RoleNames) -> Any:
    """A field of an item."""
    if field not in _NAMING.get(part, ()):
        return value
    if part == "findings":
        # Only in backticks: a role id such as `lead` is also a word of the message.
        return _QUOTED.sub(lambda match: f"`{names.get(match[1], match[1])}`", value)
    return _swap_ids(value, names)


def _swap_ids(value: Any, names: RoleNames) -> Any:
    if isinstance(value, str):
        return names.get(value, value)
    return [_swap_ids(each, names) for each in value] if isinstance(value, list) else value


def _encode_profile(role: Mapping[str, Any]) -> bytes:
    """What makes a role the same under another id."""
    parts: dict[str, Any] = {}
    for part, value in remove_why(role).items():
        if part in _NOT_OF_THE_PROFILE:
            continue
        if is_item_list(value):
            apart = CATALOG.get(part, ("", frozenset()))[1] | _DERIVED.get(part, set())
            parts[part] = [_drop_fields(item, apart) for item in value]
        else:
            parts[part] = value
    return msgspec.json.encode(parts, order="sorted")


def _drop_fields(item: Mapping[str, Any], fields: Iterable[str]) -> dict[str, Any]:
    return {field: value for field, value in item.items() if field not in fields}


def _superior(role: Mapping[str, Any]) -> object:
    return role["superior"]["id"] if role["superior"] else None
