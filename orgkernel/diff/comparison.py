"""Compares two working forms part by part, and finds the lines behind each change: first those that caused the difference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from orgkernel.decisions.reasons import Why
from orgkernel.diff.changes import Change, Kind
from orgkernel.diff.effects import compute_effect
from orgkernel.diff.normal_form import get_plain_item, get_plain_value, remove_why
from orgkernel.diff.renames import RoleNames
from orgkernel.diff.sections import (
    ACTIONS,
    CATALOG,
    ELEMENTS,
    EVERY_HOLDER,
    ORDER,
    ROLES,
    SINGLE,
    UNORDERED,
    Path,
    get_group,
    is_item_list,
    list_item_keys,
    numbered,
    read_field,
    resolve_address,
)
from orgkernel.manifest.why import Places
from orgkernel.prepared_types import prepared

_Item = Mapping[str, Any]
_KINDS_OF_LOST_AND_GAINED: Mapping[bool, tuple[Kind, Kind]] = {
    True: ("removed", "added"),
    False: ("lost", "gained"),
}


@dataclass(frozen=True)
class Side:
    """One of the two versions: its working form, in which roles are called by their new ids, and its documents."""

    form: Mapping[str, Any]
    places: Places
    own_names: RoleNames
    """The names of renamed roles in the documents of this side. Paths have the new names on both sides."""

    @cached_property
    def roles(self) -> Mapping[str, Mapping[str, Any]]:
        """Every role by its id."""
        return {role["role_id"]: role for role in self.form[ROLES]}

    def locate_part(self, role_id: str | None, part: str) -> tuple[Why, ...]:
        """The lines of a plain part; if no document sets it, those of the role or the organization."""
        if role_id is None:
            return self.places("organization", self.form["org_id"], part) or get_why(self.form)
        return self.places("role", self.own_names.get(role_id, role_id), part) or get_why(self.roles[role_id])

    def why_item(self, role_id: str | None, part: str, item: _Item) -> tuple[Why, ...]:
        """The lines of an item; where it has none, those of the part it stands in."""
        return get_why(item) or self.locate_part(role_id, part)


def get_why(item: _Item) -> tuple[Why, ...]:
    """The reasons an item carries."""
    return msgspec.convert(item.get("why", ()), prepared(tuple[Why, ...]))


def locate_causes(
    side: Side, other: Side, role_id: str | None, part: str, items: tuple[_Item, _Item], field: str
) -> tuple[Why, ...]:
    """The lines of one side behind a field of an item that differs; `items` are the item here and there."""
    here, there = items
    causes: list[Why] = []
    if part in CATALOG and role_id is not None:
        kind, fields = CATALOG[part]
        if field in fields:
            return side.places(kind, here["id"], field) or side.why_item(role_id, part, here)
        # With the same level, only the catalog can have changed the actions that the level allows.
        if field == ACTIONS and here["level"] == there["level"]:
            causes += side.places(kind, here["id"], "actions")
        if field == "runnable":
            causes += _locate_tools(side, other, role_id, here, there)
            causes = causes or [*side.places(kind, here["id"], "tools")]
    return tuple(dict.fromkeys((*causes, *side.why_item(role_id, part, here))))


def _locate_tools(side: Side, other: Side, role_id: str, here: _Item, there: _Item) -> Iterator[Why]:
    """The tools this side has and the other lacks for the plan."""
    lacking = set(there["missing_tools"]) - set(here["missing_tools"])
    theirs = {item["id"] for item in list_tools_in(other.roles[role_id])}
    for item in list_tools_in(side.roles[role_id]):
        if item["id"] in lacking - theirs:
            yield from get_why(item)


def list_tools_in(role: Mapping[str, Any]) -> Iterable[_Item]:
    """The tools a role is equipped with, and those it always has."""
    return (*role["tools"], *role["essential_tools"])


@dataclass(frozen=True, slots=True)
class _Lists:
    """How two lists differ: where what is lost and gained stands, and what both have in the order of each."""

    lost: tuple[int, ...]
    gained: tuple[int, ...]
    kept_before: tuple[Path, ...]
    kept: tuple[Path, ...]


def compare_forms(old: Side, new: Side) -> Iterator[Change]:
    """All changes but renames, classified, without words. Roles are called by their new ids on both sides."""
    comparison = _Comparison(old, new)
    yield from comparison.record((), old.form, new.form)
    yield from comparison.items((ROLES,), old.form[ROLES], new.form[ROLES])
    shared: list[Change] = []
    for role_id in old.roles.keys() & new.roles.keys():
        for change in comparison.record((ROLES, role_id), old.roles[role_id], new.roles[role_id]):
            if _is_of_catalog(change.path):
                shared.append(change)
            else:
                yield change
    yield from _merge_catalog_changes(shared)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """The walk; a path leads to what is being compared."""

    old: Side
    new: Side

    def record(self, path: Path, before: _Item, after: _Item) -> Iterator[Change]:
        """An organization without its roles, or a role."""
        for part in dict.fromkeys((*before, *after)):
            if part in ("why", "role_id", ROLES):
                continue
            one, other = before.get(part), after.get(part)
            if get_plain_value(part, one) == get_plain_value(part, other):
                continue
            if is_item_list(one) and is_item_list(other):
                yield from self.items((*path, part), one, other)
            else:
                yield self._part((*path, part), part, one, other)

    def items(self, path: Path, before: Sequence[_Item], after: Sequence[_Item]) -> Iterator[Change]:
        """A list of items; the roles themselves are one, and what is in them is compared elsewhere."""
        part, role_id = str(path[-1]), str(path[1]) if len(path) > 1 else None
        old_keys, new_keys = list_item_keys(part, before), list_item_keys(part, after)
        old_items, new_items = (
            dict(zip(old_keys, before, strict=True)),
            dict(zip(new_keys, after, strict=True)),
        )
        lists = _compare_lists(old_keys, new_keys)
        strip = remove_why if part == ROLES else get_plain_item
        ordered = part not in UNORDERED
        lost_kind, gained_kind = _KINDS_OF_LOST_AND_GAINED[part == ROLES]
        for number in lists.lost:
            item = before[number]
            yield self._change(
                lost_kind, (*path, *old_keys[number]), before=strip(item), at_before=(number,) if ordered else (),
                why_before=self.old.why_item(role_id, part, item),
            )  # fmt: skip
        for number in lists.gained:
            item = after[number]
            yield self._change(
                gained_kind, (*path, *new_keys[number]), after=strip(item), at_after=(number,) if ordered else (),
                why_after=self.new.why_item(role_id, part, item),
            )  # fmt: skip
        if ordered and lists.kept != lists.kept_before:
            first = next(number for number, key in enumerate(lists.kept) if key != lists.kept_before[number])
            yield self._change(
                "changed", (*path, ORDER), before=[list(key) for key in lists.kept_before],
                after=[list(key) for key in lists.kept],
                why_before=self.old.why_item(role_id, part, old_items[lists.kept_before[first]]),
                why_after=self.new.why_item(role_id, part, new_items[lists.kept[first]]),
            )  # fmt: skip
        if part != ROLES:
            for key in lists.kept:
                yield from self._fields((*path, *key), part, old_items[key], new_items[key])

    def _part(self, path: Path, part: str, before: Any, after: Any) -> Change:
        role_id = str(path[1]) if len(path) > 1 else None
        moved = part == "superior" and _get_id(before) != _get_id(after)
        single = part in SINGLE
        kind: Kind = "changed"
        if moved:
            kind = "moved"
        elif single and before is None:
            kind = "gained"
        elif single and after is None:
            kind = "lost"
        return self._change(
            kind, path, before=get_plain_value(part, before), after=get_plain_value(part, after),
            why_before=(get_why(before) if before and single else self.old.locate_part(role_id, part)),
            why_after=(get_why(after) if after and single else self.new.locate_part(role_id, part)),
        )  # fmt: skip

    def _fields(self, path: Path, part: str, before: _Item, after: _Item) -> Iterator[Change]:
        for field in dict.fromkeys(get_group(part, field) for field in (*before, *after)):
            one, other = read_field(part, before, field), read_field(part, after, field)
            if field == "why" or one == other:
                continue
            if field in ELEMENTS:
                yield from self._elements((*path, field), part, before, after, field)
                continue
            why = self._why(path, part, before, after, field)
            yield self._change(
                "changed", (*path, field), before=one, after=other, why_before=why[0], why_after=why[1]
            )

    def _elements(self, path: Path, part: str, before: _Item, after: _Item, field: str) -> Iterator[Change]:
        one, other = before[field], after[field]
        lists = _compare_lists(numbered(one), numbered(other))
        why = self._why(path, part, before, after, field)
        if lists.lost:
            yield self._change(
                "lost", path, before=[one[number] for number in lists.lost], at_before=lists.lost,
                why_before=why[0], why_after=why[1],
            )  # fmt: skip
        if lists.gained:
            yield self._change(
                "gained", path, after=[other[number] for number in lists.gained], at_after=lists.gained,
                why_before=why[0], why_after=why[1],
            )  # fmt: skip
        if lists.kept != lists.kept_before:
            yield self._change(
                "changed", (*path, ORDER), before=[list(key) for key in lists.kept_before],
                after=[list(key) for key in lists.kept], why_before=why[0], why_after=why[1],
            )  # fmt: skip

    def _why(
        self, path: Path, part: str, before: _Item, after: _Item, field: str
    ) -> tuple[tuple[Why, ...], tuple[Why, ...]]:
        role_id = resolve_address(path).role_id
        return (
            locate_causes(self.old, self.new, role_id, part, (before, after), field),
            locate_causes(self.new, self.old, role_id, part, (after, before), field),
        )

    def _change(self, kind: Kind, path: Path, **fields: Any) -> Change:
        role_id = resolve_address(path).role_id
        if path[0] == ROLES and len(path) == 2 and path[1] != ORDER:
            role_id = str(path[1])
        change = Change(org_id=self.new.form["org_id"], role_id=role_id, kind=kind, path=path, **fields)
        sides: tuple[_Item | None, _Item | None] = (self.old.form, self.new.form)
        if role_id:
            sides = (self.old.roles.get(role_id), self.new.roles.get(role_id))
        return msgspec.structs.replace(change, classification=compute_effect(change, *sides))


def _get_id(member: _Item | None) -> str | None:
    return member["id"] if member else None


def _compare_lists(before: Sequence[Path], after: Sequence[Path]) -> _Lists:
    old, new = set(before), set(after)
    return _Lists(
        tuple(number for number, key in enumerate(before) if key not in new),
        tuple(number for number, key in enumerate(after) if key not in old),
        tuple(key for key in before if key in new),
        tuple(key for key in after if key in old),
    )


def _is_of_catalog(path: Path) -> bool:
    role_id, part, _, field = resolve_address(path)
    return role_id is not None and part in CATALOG and field in CATALOG[part][1]


def _merge_catalog_changes(changes: Iterable[Change]) -> Iterator[Change]:
    """What a catalog says differently, once for all roles in whose manifests it shows."""
    groups: dict[object, list[Change]] = defaultdict(list)
    for change in changes:
        groups[change.path[2:], msgspec.json.encode((change.before, change.after))].append(change)
    for group in groups.values():
        yield msgspec.structs.replace(
            group[0],
            role_id=None,
            roles=tuple(sorted(str(change.role_id) for change in group)),
            path=(ROLES, EVERY_HOLDER, *group[0].path[2:]),
            why_before=tuple(
                sorted({why for change in group for why in change.why_before}, key=_get_place_key)
            ),
            why_after=tuple(
                sorted({why for change in group for why in change.why_after}, key=_get_place_key)
            ),
        )


def _get_place_key(why: Why) -> tuple[str, int, str]:
    return why.file, why.line, why.text
