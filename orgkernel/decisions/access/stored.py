"""Stored grants and restrictions of a subject that apply to a resource."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.access.resource import FULL, LEVEL, Resource
from orgkernel.decisions.access.stated import StatedPaths
from orgkernel.decisions.access.stored_index import (
    GroupAtTime,
    PatchedRows,
    ResourceRows,
    RowGroup,
    find_about,
    find_rows_about,
    is_named,
)
from orgkernel.decisions.access.tool_input import is_input_of
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS, Grant, Restriction, StateView
from orgkernel.documents.records import DATA_TIERS, STAR


class NeededGrants(NamedTuple):
    """The grants without which a request would be denied."""

    grants: tuple[Grant, ...] = ()
    ids: tuple[str, ...] = ()
    are_limited: bool = False
    """Whether one of them has a limited number of uses."""


NOTHING_NEEDED = NeededGrants()


class GrantedLevel(NamedTuple):
    """The level and waivers that stored grants of a subject add to one resource."""

    level: int = 0
    waives: Mapping[str, int] = MappingProxyType({})
    """The ceilings that they waive, each with the highest level of a grant that waives it."""
    grants: tuple[Grant, ...] = ()
    """The grants that add anything, in the order of their ids, without duplicates."""
    levels: tuple[int, ...] = ()
    """The level of each grant."""
    needed: dict[tuple[int, int], NeededGrants] = {}  # noqa: RUF012  (never written to)
    """Cached: the grants without which something would fail, by failure and required level."""


NOTHING_GRANTED = GrantedLevel()


def is_stored_for(state: StateView, keys: Iterable[str]) -> bool:
    """Whether a state contains grants or restrictions for a subject."""
    grants, restrictions = state.grants, state.restrictions
    if grants or restrictions:
        for key in keys:
            if key in grants or key in restrictions:
                return True
    return False


def is_stored_about(state: StateView, keys: Iterable[str], resource: Resource) -> bool:
    """Whether a state contains grants or restrictions for a subject that are about a resource."""
    return any(
        find_about(rows, (key,), resource) for key in keys for rows in (state.grants, state.restrictions)
    )


def replace_stored(
    state: StateView,
    grants: Mapping[str, Sequence[Grant]] | None = None,
    restrictions: Mapping[str, Sequence[Restriction]] | None = None,
) -> StateView:
    """A state with other grants and restrictions for some subjects. The rows of other subjects are shared, not copied."""
    # A chain map writes only to its first map, and these maps are never written to.
    return replace(
        state,
        grants=ChainMap(grants or {}, state.grants),  # type: ignore[arg-type]
        restrictions=ChainMap(restrictions or {}, state.restrictions),  # type: ignore[arg-type]
    )


def add_grant(state: StateView, grant: Grant) -> StateView:
    """A state with one more grant."""
    return replace_stored(state, {grant.subject: PatchedRows(state.grants.get(grant.subject, ()), (grant,))})


def drop_grant(state: StateView, grant: Grant) -> StateView:
    """A state without one of its grants."""
    rest = PatchedRows(state.grants.get(grant.subject, ()), dropped=(grant.grant_id,))
    return replace_stored(state, {grant.subject: rest})


def drop_restrictions(
    state: StateView, subjects: Iterable[str], restriction_ids: Collection[str]
) -> StateView:
    """A state without some restrictions of some subjects."""
    rest = {each: PatchedRows(state.restrictions.get(each, ()), dropped=restriction_ids) for each in subjects}
    return replace_stored(state, None, rest) if rest else state


def is_active(record: Grant | Restriction, org_id: str, now: float) -> bool:
    """Whether a row is in effect at a moment: not expired, not revoked and not used up."""
    return (
        record.org_id in (org_id, ALL_ORGANIZATIONS)
        and (record.expires_at is None or record.expires_at > now)
        and (record.revoked_at is None or record.revoked_at > now)
        and (not isinstance(record, Grant) or _can_be_used(record))
    )


def _can_be_used(grant: Grant) -> bool:
    return grant.asleep_since is None and (grant.uses_left is None or grant.uses_left > 0)


def get_level_in(record: Grant | Restriction, resource: Resource, path: StatedPaths | None) -> int | None:
    """The level of a row for a resource; None if it does not apply to it.

    A restriction of a path also applies to a request without a path, and to a path that cannot be compared with it.
    """
    best: int | None = None
    for written in record.resources:
        level = _get_level_of_row(record, written, resource, path)
        if level is not None:
            best = level if best is None else max(best, level)
    return best


def _get_level_of_row(
    row: Grant | Restriction, word: str, resource: Resource, path: StatedPaths | None
) -> int | None:
    kind, _, name = word.partition(":")
    if kind != resource.kind:
        return None
    level = LEVEL[row.level]
    if kind == "data" and resource.id in DATA_TIERS:
        if name == STAR:
            return level
        if name not in DATA_TIERS:
            return None
        tier = DATA_TIERS.index(name)
        if isinstance(row, Grant):
            # A grant of a tier includes the tiers below it, and never exceeds its own level.
            return min(tier, level)
        # A restriction of a data tier also applies to the higher tiers.
        return level if DATA_TIERS.index(resource.id) >= tier else None
    glob: str | None = None
    if kind == "tool":
        name, colon, rest = name.partition(":")
        glob = rest if colon else None
    if not is_named(resource, name):
        return None
    if glob is None:
        return level
    # Without a path it is unknown whether a row about a path applies. So a grant gives no level, and a
    # restriction applies.
    if path is None:
        return None if isinstance(row, Grant) else level
    applies = path.are_inside((glob,)) if isinstance(row, Grant) else path.may_touch(glob)
    return level if applies else None


def find_given(
    grants_by_subject: Mapping[str, Sequence[Grant]],
    keys: Iterable[str],
    resource: Resource,
    path: StatedPaths | None,
    action: str,
    org_id: str,
    snapshot: str,
    context: AccessContext,
    assumed_grants: Sequence[Grant] = (),
) -> GrantedLevel:
    """The level and waivers for an action from the stored and assumed grants of a subject."""
    resource_rows: Sequence[ResourceRows[Grant]] = ()
    for key in keys:
        rows = grants_by_subject.get(key)
        if rows:
            more = find_rows_about(rows, resource)
            # Nearly every subject has rows under one key only, so no tuple is copied for it.
            resource_rows = (*resource_rows, *more) if resource_rows else more
    if not assumed_grants:
        if not resource_rows:
            return NOTHING_GRANTED
        # Rows without a path, channel, session, action or use give the same to every request, so they are added up once.
        if len(resource_rows) == 1 and resource_rows[0].is_plain:
            return compute_unconditional_level(resource_rows[0], resource, org_id, snapshot, context)
    grants = [
        row
        for about in resource_rows
        for group in about.find_giving(path, context, snapshot)
        for row in group.select_at(context.now).one
    ]
    return gather_grants((*grants, *assumed_grants), resource, path, action, org_id, snapshot, context)


def compute_unconditional_level(
    grant_rows: ResourceRows[Grant], resource: Resource, org_id: str, snapshot: str, context: AccessContext
) -> GrantedLevel:
    """The level of grants that apply in all circumstances and to all actions. It stays the same until one of them ends.

    These grants apply to every version of the documents, so the result is cached for all versions.
    """
    now = context.now
    known: GrantedLevel | None = grant_rows.find_kept(org_id, now)
    if known is not None:
        return known
    first = [row for group in grant_rows.groups for row in group.select_at(now).one]
    return grant_rows.keep(org_id, now, gather_grants(first, resource, None, "", org_id, snapshot, context))


def find_giving_grants(
    grants_by_subject: Mapping[str, Sequence[Grant]],
    keys: Iterable[str],
    resource: Resource,
    path: StatedPaths | None,
    action: str,
    org_id: str,
    snapshot: str,
    context: AccessContext,
    assumed_grants: Iterable[Grant] = (),
) -> Iterator[tuple[int, GroupAtTime[Grant]]]:
    """All grants that give a level to an action, grouped if they are equal, each group with its level."""
    resource_rows = [*find_about(grants_by_subject, keys, resource), ResourceRows(assumed_grants, resource)]
    for group in (group for about in resource_rows for group in about.find_giving(path, context, snapshot)):
        rows = group.select_at(context.now)
        # Grants of a group differ only in their ids and ends, so one of them stands for all.
        given = gather_grants(rows.active[:1], resource, path, action, org_id, snapshot, context)
        if given.grants:
            yield given.level, rows


def gather_grants(
    grants: Iterable[Grant],
    resource: Resource,
    path: StatedPaths | None,
    action: str,
    org_id: str,
    snapshot: str,
    context: AccessContext,
) -> GrantedLevel:
    """The level and waivers for an action from those grants that are in effect for this version of the documents."""
    level, waives, entries = 0, dict[str, int](), []
    for grant in grants:
        if not is_active(grant, org_id, context.now):
            continue
        if grant.channel not in (None, context.channel) or grant.session not in (None, context.session):
            continue
        if grant.action not in (None, action) or grant.snapshot not in (None, snapshot):
            continue
        # An approval of one call must not allow the same tool with other arguments.
        if grant.input_digest is not None and not is_input_of(grant.input_digest, context.input):
            continue
        given = get_level_in(grant, resource, path)
        if given is not None:
            level = max(level, given)
            for waiver in grant.waives:
                waives[waiver] = max(given, waives.get(waiver, 0))
            entries.append((grant.grant_id, grant, given))
    if not entries:
        return NOTHING_GRANTED
    if len(entries) > 1:
        entries.sort(key=lambda each: each[0])
    grants, levels = [each[1] for each in entries], [each[2] for each in entries]
    return GrantedLevel(level, waives, tuple(grants), tuple(levels), {})


def compute_lowest_restriction(
    restrictions_by_subject: Mapping[str, Sequence[Restriction]],
    keys: Iterable[str],
    resource: Resource,
    path: StatedPaths | None,
    org_id: str,
    now: float,
) -> int:
    """The lowest level that the stored restrictions of a subject allow."""
    lowest = FULL
    for key in keys:
        rows = restrictions_by_subject.get(key)
        for about in find_rows_about(rows, resource) if rows else ():
            if about.is_plain:
                known: int | None = about.find_kept(org_id, now)
                if known is None:
                    known = about.keep(
                        org_id, now, _compute_lowest(about.groups, resource, None, org_id, now)
                    )
                left = known
            else:
                left = _compute_lowest(about.find_leaving(path), resource, path, org_id, now)
            lowest = min(lowest, left)
    return lowest


def _compute_lowest(
    groups: Iterable[RowGroup[Restriction]],
    resource: Resource,
    path: StatedPaths | None,
    org_id: str,
    now: float,
) -> int:
    return min((level for level, _ in _find_left_levels(groups, resource, path, org_id, now)), default=FULL)


def find_leaving_restrictions(
    restrictions_by_subject: Mapping[str, Sequence[Restriction]],
    keys: Iterable[str],
    resource: Resource,
    path: StatedPaths | None,
    org_id: str,
    now: float,
) -> Iterator[tuple[int, tuple[Restriction, ...]]]:
    """All restrictions in effect, grouped if they are equal, with the level that each allows."""
    for about in find_about(restrictions_by_subject, keys, resource):
        yield from _find_left_levels(about.find_leaving(path), resource, path, org_id, now)


def _find_left_levels(
    groups: Iterable[RowGroup[Restriction]],
    resource: Resource,
    path: StatedPaths | None,
    org_id: str,
    now: float,
) -> Iterator[tuple[int, tuple[Restriction, ...]]]:
    for group in groups:
        rows = group.select_at(now).active
        if rows and group.is_for(org_id, ""):  # restrictions apply to all versions of the documents
            left = get_level_in(rows[0], resource, path)
            if left is not None:
                yield left, rows
