"""An index of stored rows, so the time for an answer does not grow with the number of rows of its subject.

Rows are indexed by their resource. Rows of one resource that differ only in their id and expiry form a group, in which
one row represents all. The level of a row is computed in `stored.py`. The law
`indexed_equals_scanned` compares both, and `python -m benchmarks --only own` measures the gain.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, product
from typing import Any, Generic, NamedTuple, TypeVar, overload

from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.access.resource import Resource
from orgkernel.decisions.access.stated import StatedPaths
from orgkernel.decisions.access.tool_input import find_digest
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS, Grant, Restriction
from orgkernel.documents.records import DATA_TIERS, STAR
from orgkernel.runtime.paths import FixedNames, get_fixed_names, get_folded_names

Row = TypeVar("Row", bound=Grant | Restriction)
T = TypeVar("T")
ENABLED = True
"""The switch. If it is off, every row is its own group, and every question examines all rows."""
_FEW = 4
"""Up to this many groups, all are examined one by one."""
_MAX_ROWS, _MIN_COST = 200_000, 10
"""The number of rows for which indexes are cached, and the lowest cost of one index. Older indexes are dropped."""
_MAX_CACHED = 64
_NEVER = float("inf")
Bond = tuple[str | None, str | None, str | None]
"""The channel, session and input digest that a row is bound to."""
FREE: Bond = (None, None, None)
"""The bond of a row without such limits."""
_Terms = tuple[Bond, str | None]
"""A bond, and the only version of the documents that a row applies to."""
_FREE: _Terms = (FREE, None)


class CommonTerms(NamedTuple):
    """The terms of a group of rows: everything that they say about a resource except their expiry."""

    org_id: str
    level: str
    words: tuple[str, ...]
    """The words in their resources that match it."""
    waives: tuple[str, ...] = ()
    action: str | None = None
    bond: Bond = FREE
    snapshot: str | None = None
    """The only version of the documents that they apply to."""
    approved_by: tuple[str, ...] = ()
    only: str = ""
    """The id of the only row, if every row is its own group."""


class GroupAtTime(NamedTuple, Generic[Row]):
    """The rows of a group at one time, and how long this stays the same."""

    since: float
    until: float
    active: tuple[Row, ...]
    """The rows in effect, in the order of their ids."""
    one: tuple[Row, ...]
    """One of the rows in effect that represents all, preferably without a limited number of uses; empty if there is none."""
    lasting: Row | None
    """A row without an expiry, if any."""
    end: float | None
    """The expiry of the last row; None if one has no expiry."""
    last: Row | None
    """The row in effect that ends last or never."""
    ended: Row | None
    """The row that expired last."""


class RowGroup(Generic[Row]):
    """Rows that are equal for a resource except for their expiry."""

    __slots__ = ("_known", "globs", "parts", "rows", "terms")

    def __init__(self, terms: CommonTerms, rows: Sequence[Row]) -> None:
        self.terms = terms
        self.rows = rows
        parts = [word.split(":", 2)[2:] for word in terms.words if word.startswith("tool:")]
        self.parts = tuple(each for part in parts for each in part)
        """The parts of a tool in their resources."""
        self.globs = self.parts if all(parts) else ()
        """The same parts, if the rows are only about parts."""
        self._known: GroupAtTime[Row] | None = None

    def select_at(self, now: float) -> GroupAtTime[Row]:
        """The rows at a time."""
        known = self._known
        if known is None or not known.since <= now < known.until:
            known = self._known = _select_at(self.rows, now)
        return known

    def is_for(self, org_id: str, snapshot: str) -> bool:
        """Whether they apply to an organization and to this version of its documents."""
        return self.terms.org_id in (org_id, ALL_ORGANIZATIONS) and self.terms.snapshot in (None, snapshot)


def _select_at(rows: Sequence[Row], now: float) -> GroupAtTime[Row]:
    changes = [end for each in rows for end in (each.expires_at, each.revoked_at) if end is not None]
    kept = [each for each in rows if each.revoked_at is None or each.revoked_at > now]
    active = [each for each in kept if each.expires_at is None or each.expires_at > now]
    active.sort(key=get_row_id)
    ends = [each.expires_at for each in active if each.expires_at is not None]
    ended = [each for each in kept if each.expires_at is not None and each.expires_at <= now]
    lasting = next((each for each in active if each.expires_at is None), None)
    return GroupAtTime(
        # Nothing changes between two neighboring ends, so the selection is kept for the time between them.
        max((each for each in changes if each <= now), default=-_NEVER),
        min((each for each in changes if each > now), default=_NEVER),
        tuple(active),
        (max(active, key=_get_representative_key),) if active else (),
        lasting,
        max(ends) if ends and lasting is None else None,
        lasting or max(active, key=lambda each: each.expires_at or 0.0, default=None),
        max(ended, key=lambda each: (each.expires_at or 0.0, get_row_id(each)), default=None),
    )


def get_row_id(row: Grant | Restriction) -> str:
    """The id of a row."""
    return row.grant_id if isinstance(row, Grant) else row.restriction_id


def _get_representative_key(row: Grant | Restriction) -> tuple[bool, str]:
    return isinstance(row, Grant) and row.uses_left is None, get_row_id(row)


# -- resources of rows -------------------------------------------------------------------------------------------------


def get_root_resource(word: str) -> str:
    """The resource of a row without the part of a tool."""
    kind, _, name = word.partition(":")
    return f"tool:{name.partition(':')[0]}" if kind == "tool" else word


def is_named(resource: Resource, name: str) -> bool:
    """Whether a name in a row, which can end with a star, matches a resource."""
    return resource.id == name or (name.endswith(STAR) and resource.id.startswith(name[:-1]))


def _does_mean(word: str, resource: Resource) -> bool:
    kind, _, name = word.partition(":")
    if kind != resource.kind:
        return False
    if kind == "data" and resource.id in DATA_TIERS:
        return name in DATA_TIERS or name == STAR
    # Here the part of a tool is ignored: a row about a part is about the tool, and the part is compared for each request.
    if kind == "tool":
        name = name.partition(":")[0]
    return is_named(resource, name)


def is_about(row: Grant | Restriction, resource: Resource) -> bool:
    """Whether a row is about a resource or a part of it."""
    return any(_does_mean(word, resource) for word in row.resources)


def _group_rows(rows: Iterable[Row], resource: Resource) -> list[RowGroup[Row]]:
    """The rows about a resource, grouped. Rows that never have an effect are left out."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    meant: dict[str, bool] = {}
    for row in rows:
        for word in row.resources:
            if word not in meant:
                meant[word] = _does_mean(word, resource)
        words = tuple([word for word in row.resources if meant[word]])
        only = "" if ENABLED else get_row_id(row)
        if not isinstance(row, Grant):
            terms: tuple[Any, ...] = row.org_id, row.level, words, (), None, FREE, None, (), only
        elif row.asleep_since is None and (row.uses_left is None or row.uses_left > 0):
            waives = row.waives if len(row.waives) < 2 else tuple(sorted(row.waives))
            bond = row.channel, row.session, row.input_digest
            terms = (
                row.org_id,
                row.level,
                words,
                waives,
                row.action,
                bond,
                row.snapshot,
                row.approved_by,
                only,
            )
        else:
            continue
        groups.setdefault(terms, []).append(row)
    return [RowGroup(CommonTerms(*terms), each) for terms, each in groups.items()]


class _Parts(Generic[Row]):
    """Groups about parts of a tool, indexed by the fixed names that their globs begin with."""

    def __init__(self, groups: Iterable[RowGroup[Row]], root: str | None) -> None:
        self._unknown: list[RowGroup[Row]] = []
        self._starts: set[str] = set()
        self._within: dict[FixedNames, list[RowGroup[Row]]] = {}
        """Groups by all names before the first wildcard."""
        self._below: dict[FixedNames, list[RowGroup[Row]]] = {}
        """Groups by the names of each folder above that."""
        for group in groups:
            for glob in group.globs:
                fixed = get_fixed_names(glob, root)
                if fixed is None:
                    self._unknown.append(group)
                    continue
                start, names = fixed
                self._starts.add(start)
                self._within.setdefault(fixed, []).append(group)
                # Below: a request for a folder touches every glob inside it.
                for length in range(len(names)):
                    self._below.setdefault((start, names[:length]), []).append(group)

    def find_holding(self, path: StatedPaths) -> Iterable[RowGroup[Row]]:
        """The groups that could cover every path."""
        text = path.texts[0]
        read = None if text is None else get_folded_names(text, path.root)
        return () if read is None else dict.fromkeys(self._find_around(read))

    def find_touching(self, path: StatedPaths) -> Iterable[RowGroup[Row]] | None:
        """The groups that one of the paths could match; None if any of them could."""
        groups = list(self._unknown)
        for text in path.texts:
            read = None if text is None else get_folded_names(text, path.root)
            # Paths that start elsewhere (at home, at the root) cannot be compared by their names, so any group could match.
            if read is None or self._starts - {read[0]}:
                return None
            groups += self._find_around(read)
            groups += self._below.get(read, ())
        return dict.fromkeys(groups)

    def _find_around(self, read: FixedNames) -> Iterator[RowGroup[Row]]:
        start, names = read
        for length in range(len(names) + 1):
            yield from self._within.get((start, names[:length]), ())


class ResourceRows(Generic[Row]):
    """The rows of a subject that are about one resource."""

    def __init__(self, rows: Iterable[Row], resource: Resource) -> None:
        self.rows = tuple(rows)
        self.groups = _group_rows(self.rows, resource)
        self.has_actions = any(each.terms.action is not None for each in self.groups)
        self.has_snapshots = any(each.terms.snapshot is not None for each in self.groups)
        self.is_plain = not (self.has_actions or self.has_snapshots) and all(
            each.terms.bond == FREE and not each.globs for each in self.groups
        )
        """Whether their effect on the resource depends only on the time."""
        self._kept: dict[object, tuple[float, float, Any]] = {}
        self._loose: dict[tuple[bool, str | None], list[RowGroup[Row]]] = {}
        self._parts: dict[tuple[_Terms, str | None], _Parts[Row]] = {}

    def find_kept(self, key: object, now: float) -> Any:
        """The cached result for a key; None if there is none or a row has ended since.

        `key` names everything else the result depends on.
        """
        kept = self._kept.get(key)
        return kept[2] if kept is not None and kept[0] <= now < kept[1] else None

    def keep(self, key: object, now: float, answer: T) -> T:
        """Cache a result until one of the rows ends."""
        moments = [group.select_at(now) for group in self.groups]
        # The result can change only when a row of some group ends, so it is valid between the last and the next such moment.
        since = max((each.since for each in moments), default=-_NEVER)
        until = min((each.until for each in moments), default=_NEVER)
        if len(self._kept) >= _MAX_CACHED:  # invented circumstances must not fill the memory
            self._kept.clear()
        self._kept[key] = since, until, answer
        return answer

    def is_lasting(self, now: float) -> bool:
        """Whether the effect of the rows never ends by itself."""
        known: bool | None = self.find_kept((), now)
        if known is None:
            known = self.keep((), now, all(group.select_at(now).end is None for group in self.groups))
        return known

    def find_unconditional(self, *, parts: bool, snapshot: str | None = None) -> list[RowGroup[Row]]:
        """The groups regardless of their circumstances; unless `parts`, also regardless of the part they are about.

        Groups for another version of the documents are left out, because the version is not a circumstance.
        """
        key = parts, snapshot if self.has_snapshots else None
        groups = self._loose.get(key)
        if groups is None:
            merged: dict[CommonTerms, list[Row]] = {}
            for each in self.groups:
                if each.terms.snapshot in (None, snapshot):
                    terms = each.terms._replace(bond=FREE, snapshot=None)
                    merged.setdefault(terms if parts else terms._replace(words=()), []).extend(each.rows)
            if len(self._loose) >= _MAX_CACHED:
                self._loose.clear()
            groups = self._loose[key] = [RowGroup(terms, rows) for terms, rows in merged.items()]
        return groups

    def find_outdated_rows(self, snapshot: str, now: float) -> tuple[Row, ...]:
        """The rows in effect that are for another version of the documents. Of equal ones, the one that was issued last."""
        if not self.has_snapshots:
            return ()
        known: tuple[Row, ...] | None = self.find_kept(("outdated", snapshot), now)
        if known is not None:
            return known
        last: dict[CommonTerms, Row] = {}
        for group in self.groups:
            if group.terms.snapshot not in (None, snapshot):
                terms = group.terms._replace(snapshot=None)
                for row in group.select_at(now).active:
                    last[terms] = max(
                        last.get(terms, row), row, key=lambda each: (each.issued_at, get_row_id(each))
                    )
        return self.keep(("outdated", snapshot), now, tuple(last.values()))

    @cached_property
    def whole(self) -> list[RowGroup[Row]]:
        """The groups that are about the whole tool."""
        return [each for each in self.groups if not each.globs]

    def find_giving(
        self, path: StatedPaths | None, context: AccessContext, snapshot: str
    ) -> Iterable[RowGroup[Row]]:
        """The groups of grants that could apply to a request about a version of the documents."""
        if self.is_plain or len(self.groups) <= _FEW or not ENABLED:
            return self.groups
        return chain.from_iterable(self._iterate_giving(path, context, snapshot))

    def _iterate_giving(
        self, path: StatedPaths | None, context: AccessContext, snapshot: str
    ) -> Iterator[Iterable[RowGroup[Row]]]:
        # A digest costs a pass over the input, so it is computed only if a grant is for one input.
        digest = None
        if context.input is not None and self._by_bond.digests:
            digest = find_digest(context.input)
        stated = ({None, context.channel}, {None, context.session}, {None, digest})
        for bond, version in product(product(*stated), {None, snapshot if self.has_snapshots else None}):
            terms = bond, version
            yield self._by_bond.whole.get(terms, ())
            if path is not None and terms in self._by_bond.parts:
                yield self._index_parts(terms, path.root).find_holding(path)

    def find_leaving(self, path: StatedPaths | None) -> Iterable[RowGroup[Row]]:
        """The groups of restrictions that could apply to a request."""
        if len(self.groups) <= _FEW or not ENABLED or not self._by_bond.parts:
            return self.groups
        if path is None:
            return self.find_unconditional(parts=False)
        touched = self._index_parts(_FREE, path.root).find_touching(path)
        return self.groups if touched is None else chain(self._by_bond.whole.get(_FREE, ()), touched)

    def _index_parts(self, terms: _Terms, root: str | None) -> _Parts[Row]:
        parts = self._parts.get((terms, root))
        if parts is None:
            parts = self._parts[terms, root] = _Parts(self._by_bond.parts[terms], root)
        return parts

    @cached_property
    def _by_bond(self) -> _ByBond[Row]:
        whole: dict[_Terms, list[RowGroup[Row]]] = {}
        parts: dict[_Terms, list[RowGroup[Row]]] = {}
        for each in self.groups:
            terms = each.terms.bond, each.terms.snapshot
            (parts if each.globs else whole).setdefault(terms, []).append(each)
        return _ByBond(whole, parts, any(bond[2] for bond, _ in (*whole, *parts)))


class _ByBond(NamedTuple, Generic[Row]):
    """Groups indexed by their circumstances and by the version of the documents that they apply to."""

    whole: dict[_Terms, list[RowGroup[Row]]]
    parts: dict[_Terms, list[RowGroup[Row]]]
    digests: bool
    """Whether some of them are for one input only."""


# -- the rows of a subject ---------------------------------------------------------------------------------------------


class _Index(Generic[Row]):
    """The rows of a subject, indexed by resource."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self._by_root: dict[str, list[int]] = {}
        for number, row in enumerate(rows):
            for root in {get_root_resource(word) for word in row.resources}:
                self._by_root.setdefault(root, []).append(number)
        self.roots = tuple(sorted(self._by_root))
        self._wide = [root for root in self.roots if root.endswith(STAR)]
        self._data = [root for root in self.roots if root.startswith("data:")]
        self.limited = tuple(row for row in rows if isinstance(row, Grant) and row.uses_left is not None)
        self._about: dict[str, tuple[ResourceRows[Row], ...]] = {}

    def find_about(self, resource: Resource) -> tuple[ResourceRows[Row], ...]:
        """The rows about a resource; empty if there are none."""
        resource_rows = self._about.get(resource.resource)
        if resource_rows is None:
            roots = {resource.resource, *self._wide, *(self._data if resource.kind == "data" else ())}
            numbers = {
                number
                for root in roots
                if _does_mean(root, resource)
                for number in self._by_root.get(root, ())
            }
            rows = [self.rows[number] for number in sorted(numbers)]
            resource_rows = (ResourceRows(rows, resource),) if rows else ()
            if not resource.unknown:  # invented names must not fill the memory
                self._about[resource.resource] = resource_rows
        return resource_rows


class PatchedRows(Sequence[Row]):
    """The rows of a subject with some added or removed, without copying the others."""

    def __init__(self, base: Sequence[Row], added: Sequence[Row] = (), dropped: Collection[str] = ()) -> None:
        self.base = base
        self.added = added
        self.dropped = dropped

    def __iter__(self) -> Iterator[Row]:
        return chain((row for row in self.base if get_row_id(row) not in self.dropped), self.added)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return bool(self.base or self.added)

    @overload
    def __getitem__(self, number: int) -> Row: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Row]: ...
    def __getitem__(self, number: int | slice) -> Row | Sequence[Row]:
        return tuple(self)[number]

    def find_about(self, resource: Resource) -> Iterator[ResourceRows[Row]]:
        """The rows that are about a resource."""
        for about in find_rows_about(self.base, resource):
            if self.dropped and any(get_row_id(row) in self.dropped for row in about.rows):
                yield ResourceRows(
                    [row for row in about.rows if get_row_id(row) not in self.dropped], resource
                )
            else:
                yield about
        yield from find_rows_about([*self.added], resource)


class _Indexes:
    """A cache of indexes with a limit on their total size."""

    def __init__(self) -> None:
        self._kept: dict[int, _Index[Any]] = {}
        self._cost = 0

    def of(self, rows: Sequence[Row]) -> _Index[Row]:
        """The index of rows, built once."""
        index = self._kept.get(id(rows))
        if index is None or index.rows is not rows:
            self._cost += len(rows) + _MIN_COST
            if self._cost > _MAX_ROWS:
                self._kept, self._cost = {}, len(rows) + _MIN_COST
            # INVARIANT: an index keeps its rows alive, so no other object can get their id.
            index = self._kept[id(rows)] = _Index(rows)
        return index


get_index = _Indexes().of


def is_scanned(rows: Sequence[Grant | Restriction]) -> bool:
    """Whether rows are examined one by one. Rows of a state are tuples; assumed rows are a list."""
    return type(rows) is not tuple or not ENABLED


def find_rows_about(rows: Sequence[Row], resource: Resource) -> Sequence[ResourceRows[Row]]:
    """The rows of a subject that are about a resource; empty if there are none."""
    if type(rows) is tuple and ENABLED:
        return get_index(rows).find_about(resource) if rows else ()
    if type(rows) is PatchedRows:
        return tuple(rows.find_about(resource))
    few = [row for row in rows if is_about(row, resource)]
    return (ResourceRows(few, resource),) if few else ()


def find_about(
    rows_by_subject: Mapping[str, Sequence[Row]], keys: Iterable[str], resource: Resource
) -> list[ResourceRows[Row]]:
    """The stored rows of a subject that are about a resource."""
    return [about for key in keys for about in find_rows_about(rows_by_subject.get(key, ()), resource)]


def list_root_resources(rows: Sequence[Row]) -> Iterable[str]:
    """The resources of a subject's rows, without the parts of tools."""
    if type(rows) is PatchedRows:
        return {*list_root_resources(rows.base), *list_root_resources([*rows.added])}
    if is_scanned(rows):
        return {get_root_resource(word) for row in rows for word in row.resources}
    return get_index(rows).roots


def find_limited_grants(grants_by_subject: Mapping[str, Sequence[Grant]]) -> Iterator[Grant]:
    """All grants with a limited number of uses."""
    for rows in grants_by_subject.values():
        if is_scanned(rows):
            yield from (row for row in rows if row.uses_left is not None)
        else:
            yield from get_index(rows).limited
