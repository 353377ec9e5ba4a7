"""Grants and restrictions that are stored for a subject and speak of a resource (policies and governance §4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from orgkernel.decisions.access.cells import FULL, LEVEL, Cell
from orgkernel.decisions.access.circumstances import matches_path
from orgkernel.decisions.access.codes import (
    NOT_IN_RESTRICTED_TO,
    NOT_VISIBLE,
    QUALIFICATION_MISSING,
    RANK_TOO_LOW,
)
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.state_view import Grant, Restriction
from orgkernel.records.access_policies import DATA_TIERS, STAR

# What a grant may lift, and the failing bit it takes away.
WAIVED = {
    "visibility": NOT_VISIBLE,
    "restricted_to": NOT_IN_RESTRICTED_TO,
    "rank": RANK_TOO_LOW,
    "qualification": QUALIFICATION_MISSING,
}
WAIVABLE = NOT_VISIBLE | NOT_IN_RESTRICTED_TO | RANK_TOO_LOW | QUALIFICATION_MISSING


class Given(NamedTuple):
    """What the stored grants of a subject add to one resource."""

    level: int
    waived: int
    """The failing bits they lift."""
    grants: tuple[Grant, ...]
    """Those that add anything, in the order of their ids."""


NOTHING_GIVEN = Given(0, 0, ())


def is_active(stored: Grant | Restriction, org_id: str, now: float) -> bool:
    """Whether it holds at a moment: what has expired, was revoked or is used up is absent."""
    return (
        (stored.org_id is None or stored.org_id == org_id)
        and (stored.expires_at is None or stored.expires_at > now)
        and (stored.revoked_at is None or stored.revoked_at > now)
        and (not isinstance(stored, Grant) or stored.uses_left is None or stored.uses_left > 0)
    )


def level_in(stored: Grant | Restriction, cell: Cell, path: str | None) -> int | None:
    """The level it gives or leaves in a resource; None where it does not speak of it.

    A restriction of a path speaks of a request without one too: access fails closed.
    """
    best: int | None = None
    for resource in stored.resources:
        level = _level(stored, resource, cell, path)
        if level is not None:
            best = level if best is None else max(best, level)
    return best


def _level(stored: Grant | Restriction, resource: str, cell: Cell, path: str | None) -> int | None:
    kind, _, name = resource.partition(":")
    if kind != cell.kind:
        return None
    level = LEVEL[stored.level]
    if kind == "data" and cell.id in DATA_TIERS:
        if name == STAR:
            return level
        if name not in DATA_TIERS:
            return None
        tier = DATA_TIERS.index(name)
        if isinstance(stored, Grant):
            return min(tier, level)
        # What is withheld of a tier is withheld of the higher ones.
        return level if DATA_TIERS.index(cell.id) >= tier else None
    glob: str | None = None
    if kind == "tool":
        name, colon, rest = name.partition(":")
        glob = rest if colon else None
    if not (cell.id == name or (name.endswith(STAR) and cell.id.startswith(name[:-1]))):
        return None
    if glob is None:
        return level
    if path is None:
        return None if isinstance(stored, Grant) else level
    return level if matches_path(path, glob) else None


def gather_grants(
    grants: Mapping[str, Sequence[Grant]],
    keys: tuple[str, ...],
    cell: Cell,
    path: str | None,
    org_id: str,
    context: AccessContext,
) -> Given:
    """What the active grants of a subject give."""
    level, waived, found = 0, 0, []
    for grant in _of(grants, keys):
        if not is_active(grant, org_id, context.now):
            continue
        if grant.channel not in (None, context.channel) or grant.session not in (None, context.session):
            continue
        given = level_in(grant, cell, path)
        if given is not None:
            level = max(level, given)
            for waiver in grant.waives:
                waived |= WAIVED[waiver]
            found.append(grant)
    return (
        Given(level, waived, tuple(sorted(found, key=lambda grant: grant.grant_id)))
        if found
        else NOTHING_GIVEN
    )


def lowest_restriction(
    restrictions: Mapping[str, Sequence[Restriction]],
    keys: tuple[str, ...],
    cell: Cell,
    path: str | None,
    org_id: str,
    now: float,
) -> tuple[int, tuple[Restriction, ...]]:
    """The most that the active restrictions of a subject leave, and the restrictions."""
    ceiling, found = FULL, []
    for restriction in _of(restrictions, keys):
        if is_active(restriction, org_id, now):
            left = level_in(restriction, cell, path)
            if left is not None:
                ceiling = min(ceiling, left)
                found.append(restriction)
    return ceiling, tuple(sorted(found, key=lambda each: each.restriction_id))


def _of(
    stored: Mapping[str, Sequence[Grant]] | Mapping[str, Sequence[Restriction]], keys: tuple[str, ...]
) -> Iterator:  # type: ignore[type-arg]
    for key in keys:
        yield from stored.get(key, ())
