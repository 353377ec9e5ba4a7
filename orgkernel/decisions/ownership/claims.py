"""Current claims of files: their holders, paths and expiries, and the claims that a path or glob overlaps.

Claims are indexed by the fixed names at the beginning of a path, so a lookup examines only a few of them. The result
equals what `do_owned_paths_overlap` returns for every claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from orgkernel.decisions.ownership.overlap import OwnedPath, do_parsed_paths_overlap, read_owned_path
from orgkernel.decisions.ownership.paths import BadPath, Key
from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.runtime.paths import get_fixed_names

_PLAIN: Final = lazy_pattern(r"[A-Za-z0-9_./-]+")
"""Characters of paths that can be compared without parsing."""


class FileClaim(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Files that a worker has claimed for a time. A claim does not grant permission to write."""

    org_id: str
    token: int
    """The fencing token and number of the claim. Each claim of an organization has a higher one than those before it."""
    holder: str
    """The worker, such as `agent:ID`."""
    paths: tuple[str, ...]
    """Paths and globs, relative to the root of the project."""
    session: str | None = None
    """The session of the holder."""
    planner: str | None = None
    """The agent that planned the work."""
    claimed_at: float
    """The time since when the files are claimed. A transfer does not change it."""
    expires_at: float
    """The end of the lease. After it, the files are free."""
    reason: str = ""
    brief: str | None = None
    """The brief that the holder follows."""
    mission: str | None = None
    """The brief that this one is derived from. The claim can be inside the claim of that brief."""


class ClaimConflict(NamedTuple):
    """A path that overlaps with a claimed path."""

    path: str
    claim: FileClaim
    claimed: str
    """The claimed path."""


class _Entry(NamedTuple):
    order: tuple[str, int, int]
    """The sort key: organization, token, and position among the paths of the claim."""
    owned: OwnedPath | BadPath
    text: str
    claim: FileClaim


class _Tables(NamedTuple):
    """Claimed paths, by the fixed names that they begin with and by each prefix of those. The lists in it are never changed."""

    at: dict[Key, list[_Entry]]
    below: dict[Key, list[_Entry]]


class ClaimIndex:
    """The current claims of an organization. It is immutable: `copy_with` returns a new one."""

    __slots__ = ("_claims", "_holders", "_missions", "_tables")

    def __init__(self, claims: Iterable[FileClaim] = ()) -> None:
        self._claims = {(claim.org_id, claim.token): claim for claim in claims}
        self._missions: dict[str, list[FileClaim]] = {}
        for claim in self._claims.values():
            if claim.mission is not None:
                self._missions.setdefault(claim.mission, []).append(claim)
        # These tables are built only if a caller asks about paths or holders.
        self._tables: _Tables | None = None
        self._holders: dict[str, list[FileClaim]] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClaimIndex) and self.claims == other.claims

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self._claims)

    def __repr__(self) -> str:
        return f"ClaimIndex({list(self.claims)!r})"

    @property
    def claims(self) -> tuple[FileClaim, ...]:
        """All claims, by organization and token."""
        return tuple(self._claims[key] for key in sorted(self._claims))

    def copy_with(self, claims: Iterable[FileClaim], ended: Iterable[tuple[str, int]] = ()) -> ClaimIndex:
        """A copy with some claims added or replaced, and without those that have ended."""
        added = {(claim.org_id, claim.token): claim for claim in claims}
        removed = {*added, *ended} & self._claims.keys()
        kept = (
            {key: claim for key, claim in self._claims.items() if key not in removed}
            if removed
            else self._claims
        )
        other = ClaimIndex()
        other._claims = {**kept, **added}
        missions = {claim.mission for claim in (*added.values(), *(self._claims[key] for key in removed))}
        other._missions = {name: each for name, each in self._missions.items() if name not in missions}
        for claim in other._claims.values() if missions - {None} else ():
            if claim.mission is not None and claim.mission in missions:
                other._missions.setdefault(claim.mission, []).append(claim)
        if self._tables is not None:
            other._tables = _patch(self._tables, added.values(), [self._claims[key] for key in removed])
        return other

    def find_by_mission(self, brief: str) -> Sequence[FileClaim]:
        """The claims for briefs that are derived from a brief."""
        return self._missions.get(brief, ())

    def list_ends(self) -> Iterator[float]:
        """The expiries of all claims, unsorted."""
        return (claim.expires_at for claim in self._claims.values())

    def find_by_holder(self, holder: str) -> Sequence[FileClaim]:
        """The claims of a holder, in the order of their tokens."""
        if self._holders is None:
            holders: dict[str, list[FileClaim]] = {}
            for claim in self.claims:
                holders.setdefault(claim.holder, []).append(claim)
            self._holders = holders
        return self._holders.get(holder, ())

    def find_conflicts(self, paths: Iterable[str], now: float = 0.0) -> tuple[ClaimConflict, ...]:
        """Every claimed path that overlaps with one of the paths or globs, in the order of the paths and then of the
        claims.

        Claims that end before `now` are skipped.

        >>> claim = FileClaim(org_id="shop", token=1, holder="agent:a", paths=("src/**",), claimed_at=0, expires_at=60)
        >>> [each.claimed for each in ClaimIndex([claim]).find_conflicts(["docs/a.md", "SRC/a.py"])]
        ['src/**']
        """
        if not self._claims:
            return ()
        if self._tables is None:
            self._tables = _patch(_Tables({}, {}), self._claims.values(), ())
        at, below = self._tables
        conflicts: list[ClaimConflict] = []
        for path in paths:
            owned, start = _read_asked(path)
            # A path that could match anywhere is compared with everything.
            near = [*below.get(start, ())] if start else [each for entries in at.values() for each in entries]
            for length in range(len(start) + 1) if start else ():
                near += at.get(start[:length], ())
            near.sort()
            conflicts += [
                ClaimConflict(path, entry.claim, entry.text)
                for entry in near
                if entry.claim.expires_at > now and do_parsed_paths_overlap(owned, entry.owned)
            ]
        return tuple(conflicts)


NO_CLAIMS: Final = ClaimIndex()


def _patch(tables: _Tables, added: Iterable[FileClaim], removed: Iterable[FileClaim]) -> _Tables:
    """A copy of the tables with some claims added and others removed."""
    at, below = tables.at.copy(), tables.below.copy()
    for table, which in ((at, _find_at), (below, _find_below)):
        gone = {entry.order[:2] for claim in removed for entry in _build_entries(claim)}
        for key in {key for claim in removed for entry in _build_entries(claim) for key in which(entry)}:
            left = [entry for entry in table[key] if entry.order[:2] not in gone]
            if left:
                table[key] = left
            else:
                del table[key]
        more: dict[Key, list[_Entry]] = {}
        for claim in added:
            for entry in _build_entries(claim):
                for key in which(entry):
                    more.setdefault(key, []).append(entry)
        for key, entries in more.items():
            table[key] = [*table.get(key, ()), *entries]
    return _Tables(at, below)


def _build_entries(claim: FileClaim) -> Iterator[_Entry]:
    for number, text in enumerate(claim.paths):
        yield _Entry((claim.org_id, claim.token, number), _read_claimed(text)[0], text, claim)


def _find_at(entry: _Entry) -> Iterable[Key]:
    return (_read_claimed(entry.text)[1],)


def _find_below(entry: _Entry) -> Iterable[Key]:
    start = _read_claimed(entry.text)[1]
    return (start[:length] for length in range(1, len(start)))


def _read(path: str) -> tuple[OwnedPath | BadPath, Key]:
    """A path or glob with its index key: two of them overlap only if one key is a prefix of the other."""
    owned = read_owned_path(path)
    return owned, _get_fixed_start(owned)


# Cached, because indexes are rebuilt from the same claims often, and a brief is checked several times.
_read_claimed = lru_cache(maxsize=32_768)(_read)
_read_asked = lru_cache(maxsize=4_096)(_read)


def may_be_anywhere(path: str) -> bool:
    """Whether a path or glob could match files anywhere in the project.

    >>> may_be_anywhere("**/*.py"), may_be_anywhere("src/**")
    (True, False)
    """
    return not _read_asked(path)[1]


def _get_fixed_start(owned: OwnedPath | BadPath) -> Key:
    if isinstance(owned, BadPath):
        return ()
    if owned.key is not None:
        # A path that cannot be compared with globs is compared with paths by its names, and conflicts with every glob.
        is_plain = _PLAIN.fullmatch(owned.text) is not None
        return owned.key if is_plain or get_fixed_names(owned.text) is not None else ()
    fixed = get_fixed_names(owned.text) if "/" in owned.text else None
    return () if fixed is None else fixed[1]
