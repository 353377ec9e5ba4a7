"""Grants and restrictions that are stored for a subject and speak of a resource."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.access.resource import FULL, LEVEL, Resource
from orgkernel.decisions.access.stated import StatedPaths
from orgkernel.decisions.access.tool_input import is_input_of
from orgkernel.decisions.state_view import ALL_ORGANIZATIONS, Grant, Restriction, StateView
from orgkernel.records.access_policies import DATA_TIERS, STAR


class GrantedLevel(NamedTuple):
    """What the stored grants of a subject add to one resource."""

    level: int = 0
    waives: Mapping[str, int] = MappingProxyType({})
    """The caps they lift, each with the level up to which it is lifted: the highest of a grant that waives it."""
    grants: tuple[Grant, ...] = ()
    """Those that add anything, in the order of their ids."""


NOTHING_GRANTED = GrantedLevel()


def is_stored_for(state: StateView, keys: Iterable[str]) -> bool:
    """Whether a state holds grants or restrictions for somebody."""
    grants, restrictions = state.grants, state.restrictions
    if grants or restrictions:
        for key in keys:
            if key in grants or key in restrictions:
                return True
    return False


def replace_stored(
    state: StateView,
    grants: Mapping[str, tuple[Grant, ...]] | None = None,
    restrictions: Mapping[str, tuple[Restriction, ...]] | None = None,
) -> StateView:
    """A state with other grants and restrictions for some subjects, without copying those of all the others."""
    # The upper map of a chain is the only one that is ever written to, and nobody writes to it.
    return replace(
        state,
        grants=ChainMap(grants or {}, state.grants),  # type: ignore[arg-type]
        restrictions=ChainMap(restrictions or {}, state.restrictions),  # type: ignore[arg-type]
    )


def is_active(stored: Grant | Restriction, org_id: str, now: float) -> bool:
    """Whether it holds at a moment: what has expired, was revoked or is used up is absent."""
    return (
        stored.org_id in (org_id, ALL_ORGANIZATIONS)
        and (stored.expires_at is None or stored.expires_at > now)
        and (stored.revoked_at is None or stored.revoked_at > now)
        and (not isinstance(stored, Grant) or _can_be_used(stored))
    )


def _can_be_used(grant: Grant) -> bool:
    return grant.asleep_since is None and (grant.uses_left is None or grant.uses_left > 0)


def level_in(stored: Grant | Restriction, resource: Resource, path: StatedPaths | None) -> int | None:
    """The level it gives or leaves in a resource; None where it does not speak of it.

    A restriction of a path speaks also of a request without one, and of a path that cannot be compared with it.
    """
    best: int | None = None
    for written in stored.resources:
        level = _level(stored, written, resource, path)
        if level is not None:
            best = level if best is None else max(best, level)
    return best


def _level(
    stored: Grant | Restriction, written: str, resource: Resource, path: StatedPaths | None
) -> int | None:
    kind, _, name = written.partition(":")
    if kind != resource.kind:
        return None
    level = LEVEL[stored.level]
    if kind == "data" and resource.id in DATA_TIERS:
        if name == STAR:
            return level
        if name not in DATA_TIERS:
            return None
        tier = DATA_TIERS.index(name)
        if isinstance(stored, Grant):
            return min(tier, level)
        # What is withheld of a tier is withheld of the higher ones.
        return level if DATA_TIERS.index(resource.id) >= tier else None
    glob: str | None = None
    if kind == "tool":
        name, colon, rest = name.partition(":")
        glob = rest if colon else None
    if not (resource.id == name or (name.endswith(STAR) and resource.id.startswith(name[:-1]))):
        return None
    if glob is None:
        return level
    if path is None:
        return None if isinstance(stored, Grant) else level
    speaks = path.are_inside((glob,)) if isinstance(stored, Grant) else path.may_touch(glob)
    return level if speaks else None


def paths_in(stored: Grant | Restriction, resource: Resource) -> tuple[str, ...]:
    """The paths of a tool to which something stored is limited."""
    if resource.kind != "tool":
        return ()
    found = []
    for written in stored.resources:
        kind, _, rest = written.partition(":")
        name, colon, glob = rest.partition(":")
        fits = resource.id == name or (name.endswith(STAR) and resource.id.startswith(name[:-1]))
        if kind == "tool" and colon and fits:
            found.append(glob)
    return tuple(found)


def gather_grants(
    grants: Iterable[Grant],
    resource: Resource,
    path: StatedPaths | None,
    action: str,
    org_id: str,
    context: AccessContext,
) -> GrantedLevel:
    """What those of some grants give to an action that are active."""
    level, waives, found = 0, dict[str, int](), []
    for grant in grants:
        if not is_active(grant, org_id, context.now):
            continue
        if grant.channel not in (None, context.channel) or grant.session not in (None, context.session):
            continue
        if grant.action not in (None, action):
            continue
        if grant.input_digest is not None and not is_input_of(grant.input_digest, context.input):
            continue
        given = level_in(grant, resource, path)
        if given is not None:
            level = max(level, given)
            for waiver in grant.waives:
                waives[waiver] = max(given, waives.get(waiver, 0))
            found.append(grant)
    if not found:
        return NOTHING_GRANTED
    return GrantedLevel(level, waives, tuple(sorted(found, key=lambda each: each.grant_id)))


def lowest_restriction(
    restrictions: Iterable[Restriction], resource: Resource, path: StatedPaths | None, org_id: str, now: float
) -> tuple[int, tuple[Restriction, ...]]:
    """The most that those of some restrictions leave that are active, and these."""
    ceiling, found = FULL, []
    for restriction in restrictions:
        if is_active(restriction, org_id, now):
            left = level_in(restriction, resource, path)
            if left is not None:
                ceiling = min(ceiling, left)
                found.append(restriction)
    return ceiling, tuple(sorted(found, key=lambda each: each.restriction_id))
