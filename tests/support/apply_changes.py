"""Changes applied to the normal form of a manifest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from orgkernel.diff.changes import Change
from orgkernel.diff.renames import swap_names, swap_organization
from orgkernel.diff.sections import (
    DIRECTORY,
    ELEMENTS,
    EVERY_HOLDER,
    GROUPS,
    ROLES,
    UNORDERED,
    Path,
    get_item_key,
    list_item_keys,
    numbered,
)
from tests.support.reverse_changes import renames_in

_Edit = tuple[Path, Change]


def apply_changes(manifest: Mapping[str, Any], changes: Sequence[Change]) -> dict[str, Any]:
    """The normal form the changes lead to, from the one they start from; that is left as it is.

    Takes the changes of one organization, those that add or remove it whole excepted.
    """
    edits: list[_Edit] = []
    for change in changes:
        if change.path[0] == DIRECTORY:
            continue  # no manifest says it
        if change.path[:2] == (ROLES, EVERY_HOLDER):
            edits += [((ROLES, role_id, *change.path[2:]), change) for role_id in change.roles]
        elif change.kind != "renamed":
            edits.append((change.path, change))
    return _record(swap_organization(manifest, swap_names(renames_in(changes))), edits)


def _record(record: Mapping[str, Any], edits: Iterable[_Edit]) -> dict[str, Any]:
    """An organization, or a role."""
    result = dict(record)
    for step, below in _grouped(edits).items():
        part = str(step)
        whole = next((change for path, change in below if not path), None)
        result[part] = _items(part, result[part], below) if whole is None else whole.after
    return result


def _items(part: str, items: Sequence[Mapping[str, Any]], edits: Sequence[_Edit]) -> list[Any]:
    """A list of items: without what is lost, in the new order, with what is gained in its place."""
    edited: dict[Path, list[_Edit]] = defaultdict(list)
    lost: set[Path] = set()
    gained: list[tuple[int, Any]] = []
    order: Sequence[Any] | None = None
    for path, change in edits:
        steps = 2 if len(path) > 1 and isinstance(path[1], int) else 1
        key, below = path[:steps], path[steps:]
        if below:
            edited[key].append((below, change))
        elif change.kind in ("gained", "added"):
            gained.append((change.at_after[0] if change.at_after else len(items), change.after))
        elif change.kind in ("lost", "removed"):
            lost.add(key)
        else:
            order = change.after
    kept: dict[Path, Any] = {}
    for key, item in zip(list_item_keys(part, items), items, strict=True):
        if key not in lost:
            apply = _record if part == ROLES else partial(_item, part)
            kept[key] = apply(item, edited[key]) if key in edited else item
    merged = _merged(kept, order, gained)
    return sorted(merged, key=partial(get_item_key, part)) if part in UNORDERED else merged


def _item(part: str, item: Mapping[str, Any], edits: Sequence[_Edit]) -> dict[str, Any]:
    result = dict(item)
    elements: dict[str, list[Change]] = {}
    for path, change in edits:
        field = str(path[0])
        if field in ELEMENTS:
            elements.setdefault(field, []).append(change)
        else:
            put_field(part, result, field, change.after)
    for field, its in elements.items():
        result[field] = _elements(result[field], its)
    return result


def _elements(elements: Sequence[str], changes: Iterable[Change]) -> list[str]:
    kept = dict(zip(numbered(elements), elements, strict=True))
    gained: list[tuple[int, str]] = []
    order = None
    for change in changes:
        if change.kind == "lost":
            for key in [key for number, key in enumerate(numbered(elements)) if number in change.at_before]:
                del kept[key]
        elif change.kind == "gained":
            gained += zip(change.at_after, change.after, strict=True)
        else:
            order = change.after
    return _merged(kept, order, gained)


def _merged(
    kept: Mapping[Path, Any], order: Sequence[Any] | None, gained: Iterable[tuple[int, Any]]
) -> list[Any]:
    merged = list(kept.values()) if order is None else [kept[tuple(key)] for key in order]
    for position, each in sorted(gained, key=lambda one: one[0]):
        merged.insert(position, each)
    return merged


def _grouped(edits: Iterable[_Edit]) -> dict[str | int, list[_Edit]]:
    """By their first step, which is taken off."""
    groups: dict[str | int, list[_Edit]] = defaultdict(list)
    for path, change in edits:
        groups[path[0]].append((path[1:], change))
    return groups


def put_field(part: str, item: dict[str, Any], field: str, value: Any) -> None:
    """Write back what `read_field` read."""
    fields = GROUPS.get(part, {}).get(field)
    if fields is None:
        item[field] = value
        return
    for each in fields:
        item.pop(each, None)
    item.update(value or {})
