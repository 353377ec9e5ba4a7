"""The lines behind a change, on the side that has them; what made the difference comes first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from orgkernel.decisions.reasons import Why
from orgkernel.diff.renames import Names
from orgkernel.diff.sections import ACTIONS, CATALOG, ROLES
from orgkernel.manifest.places import Places

_Item = Mapping[str, Any]


@dataclass(frozen=True)
class Side:
    """One of the two versions: its working form, in which roles are called by their new ids, and its documents."""

    form: Mapping[str, Any]
    places: Places
    own_names: Names
    """What this side itself calls roles that are renamed."""

    @cached_property
    def roles(self) -> Mapping[str, Mapping[str, Any]]:
        """Every role by its id."""
        return {role["role_id"]: role for role in self.form[ROLES]}

    def why_part(self, role_id: str | None, part: str) -> tuple[Why, ...]:
        """The lines of a plain part; where nobody writes it, those of the role or the organization."""
        if role_id is None:
            return self.places("organization", self.form["org_id"], part) or why_of(self.form)
        return self.places("role", self.own_names.get(role_id, role_id), part) or why_of(self.roles[role_id])

    def why_item(self, role_id: str | None, part: str, item: _Item) -> tuple[Why, ...]:
        """The lines of an item; where it has none, those of the part it stands in."""
        return why_of(item) or self.why_part(role_id, part)


def why_of(item: _Item) -> tuple[Why, ...]:
    """The reasons an item carries."""
    return msgspec.convert(item.get("why", ()), tuple[Why, ...])


def causes_of(
    side: Side, other: Side, role_id: str | None, part: str, items: tuple[_Item, _Item], field: str
) -> tuple[Why, ...]:
    """The lines of one side behind a field of an item that differs; `items` are the item here and there."""
    here, there = items
    found: list[Why] = []
    if part in CATALOG and role_id is not None:
        kind, fields = CATALOG[part]
        if field in fields:
            return side.places(kind, here["id"], field) or side.why_item(role_id, part, here)
        if field == ACTIONS and here["level"] == there["level"]:
            found += side.places(kind, here["id"], "actions")
        if field == "runnable":
            found += _of_tools(side, other, role_id, here, there)
            found = found or [*side.places(kind, here["id"], "tools")]
    return tuple(dict.fromkeys((*found, *side.why_item(role_id, part, here))))


def _of_tools(side: Side, other: Side, role_id: str, here: _Item, there: _Item) -> Iterator[Why]:
    """The tools this side has and the other lacks for the plan."""
    lacking = set(there["missing_tools"]) - set(here["missing_tools"])
    theirs = {item["id"] for item in tools_in(other.roles[role_id])}
    for item in tools_in(side.roles[role_id]):
        if item["id"] in lacking - theirs:
            yield from why_of(item)


def tools_in(role: Mapping[str, Any]) -> Iterable[_Item]:
    """The tools a role is equipped with, and those it always has."""
    return (*role["tools"], *role["essential_tools"])
