"""Which roles can do something with a tool, where nothing but the documents decides: all of them at once, by columns.

The law `forward_and_reverse_agree` holds these answers against those decided one by one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import compress, repeat

from orgkernel.decisions.access.cells import FULL, Cell
from orgkernel.decisions.access.codes import POLICY_DENY
from orgkernel.decisions.access.decision import AccessRow
from orgkernel.decisions.access.policies import NOTHING_SAID, Said
from orgkernel.decisions.access.settled import role_cap
from orgkernel.decisions.access.subjects import identify_role
from orgkernel.decisions.access.tables import AccessTables
from orgkernel.records.levels import LEVELS

DecideRole = Callable[[str], AccessRow | None]
"""The row of one role, decided by itself; None where it cannot."""


class AbleRoles:
    """The rows of the roles that can do something, in the order of the hierarchy."""

    def __init__(self, rows: tuple[AccessRow, ...]) -> None:
        self.rows = rows

    @cached_property
    def allowed(self) -> tuple[str, ...]:
        """Those that need not ask."""
        return tuple([row.subject for row in self.rows if row.outcome == "allow"])


def find_able_roles(tables: AccessTables, cell: Cell, action: str, decide: DecideRole) -> AbleRoles:
    """The roles that can, worked out once for a tool and an action. Roles that a policy names are decided one by one."""
    known: AbleRoles | None = tables.able_roles.get((action, cell.resource))
    if known is None:
        rows = (
            _one_by_one(tables, decide) if cell.is_essential else _all_at_once(tables, cell, action, decide)
        )
        known = tables.able_roles[action, cell.resource] = AbleRoles(tuple(rows))
    return known


def _one_by_one(tables: AccessTables, decide: DecideRole) -> Iterable[AccessRow]:
    return filter(None, map(decide, tables.view.roles))


def _all_at_once(tables: AccessTables, cell: Cell, action: str, decide: DecideRole) -> list[AccessRow]:
    view = tables.view
    places, levels = view.equipped_with(cell.id)
    named = sorted(tables.named_places.intersection(places))
    _, top, stops = _said_to_others(tables, cell, places)
    if cell.is_capped:
        levels = bytes(map(min, levels, _caps(tables, cell, places)))
    # To what is left of each level, and to nothing where that is not enough.
    left = (min(level, top) if not stops & POLICY_DENY else 0 for level in range(FULL + 1))
    enough = bytes(level if level >= cell.required[action] else 0 for level in left)
    able = bytearray(levels.translate(enough.ljust(256, b"\0")))
    for place in named:
        able[bisect_left(places, place)] = 0
    chosen = list(compress(places, able))
    outcome, code = ("ask", "ASK_APPROVAL") if stops else ("allow", "BOUND_TO_ROLE")
    rows = list(
        map(
            AccessRow, map(tables.role_subjects.__getitem__, chosen), repeat(cell.resource), repeat(outcome),
            repeat((action,)), map(LEVELS.__getitem__, filter(None, able)), repeat(code), repeat(()),
        )
    )  # fmt: skip
    # From the last to the first, so that no insertion moves the place of the next.
    for place in reversed(named):
        row = decide(view.roles[place])
        if row is not None:
            rows.insert(bisect_left(chosen, place), row)
    return rows


def _caps(tables: AccessTables, cell: Cell, places: list[int]) -> Iterable[int]:
    """The most that the declaration of the tool leaves the roles at these places."""
    inside = cell.restricted_to
    standings = tables.standings(places)
    # Whether a role is one the tool is restricted to is looked at by itself.
    cap_of = [role_cap(cell, seen_by, inside or frozenset(), rank) for seen_by, rank in tables.standing_kinds]
    caps = map(cap_of.__getitem__, standings)
    if inside is None:
        return caps
    roles = tables.view.roles
    return (cap if roles[place] in inside else 0 for place, cap in zip(places, caps, strict=True))


def _said_to_others(tables: AccessTables, cell: Cell, places: Iterable[int]) -> Said:
    """What policies say of a tool to every role that none of them names."""
    role = next((tables.view.roles[place] for place in places if place not in tables.named_places), None)
    if role is None:
        return NOTHING_SAID
    found = tables.policies.set_of_roles(identify_role(tables.view, (role,)))
    return NOTHING_SAID if found is None else found.say(cell)
