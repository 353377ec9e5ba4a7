"""Live claims of files: who works on which paths until when, and which of them a path or glob would overlap.

Claims are found by the fixed names at the beginning of a path, so that one question looks at a few claims and not at
all of them. What a look finds is what `do_owned_paths_overlap` says of every claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from orgkernel.decisions.ownership.overlap import OwnedPath, do_parsed_paths_overlap, read_owned_path
from orgkernel.decisions.ownership.paths import BadPath, Key
from orgkernel.runtime.paths import get_fixed_names

_PLAIN: Final = re.compile(r"[A-Za-z0-9_./-]+")
"""Texts that any path can be compared with, seen quickly."""


class FileClaim(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Files that somebody works on, for a time. A claim is no permission: it says who, not whether they may."""

    org_id: str
    token: int
    """Fencing token, and the number of the claim: each claim of an organization has a higher one than those before it."""
    holder: str
    """Who works on them, such as `agent:ID`."""
    paths: tuple[str, ...]
    """Paths and globs from the root of the project."""
    session: str | None = None
    """The session in which the holder works."""
    planner: str | None = None
    """Who planned the work."""
    claimed_at: float
    """Since when the files are claimed; a transfer changes nothing about it."""
    expires_at: float
    """End of the lease. From then on, the claim holds nothing."""
    reason: str = ""
    brief: str | None = None
    """The brief that the holder works by."""
    mission: str | None = None
    """The brief that this one is derived from: the claim may lie within the one that was made for it."""


class ClaimConflict(NamedTuple):
    """A path that overlaps with one that is claimed."""

    path: str
    claim: FileClaim
    claimed: str
    """The path of the claim."""


class _Entry(NamedTuple):
    order: tuple[str, int, int]
    """Organization, token, and place among the paths of the claim."""
    owned: OwnedPath | BadPath
    text: str
    claim: FileClaim


class _Tables(NamedTuple):
    """Claimed paths by the fixed names they begin with, and by each beginning of those. Lists in it are never changed."""

    at: dict[Key, list[_Entry]]
    below: dict[Key, list[_Entry]]


class ClaimIndex:
    """The live claims of an organization. It never changes: `copy_with` makes another one."""

    __slots__ = ("_claims", "_holders", "_missions", "_tables")

    def __init__(self, claims: Iterable[FileClaim] = ()) -> None:
        self._claims = {(claim.org_id, claim.token): claim for claim in claims}
        self._missions: dict[str, list[FileClaim]] = {}
        for claim in self._claims.values():
            if claim.mission is not None:
                self._missions.setdefault(claim.mission, []).append(claim)
        # Whoever never asks about paths, or about a holder, does not pay for it.
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
        """All of them, by organization and token."""
        return tuple(self._claims[key] for key in sorted(self._claims))

    def copy_with(self, claims: Iterable[FileClaim], ended: Iterable[tuple[str, int]] = ()) -> ClaimIndex:
        """The index with some claims added or replaced, and without those that have ended."""
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
        """When they run out, in no order."""
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
        """Every claimed path that one of the paths or globs overlaps, in the order of the paths and then of the claims.

        A claim that ends before `now` is passed over.

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
            # What may be anywhere is compared with everything.
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
    """Tables with some claims more and others less; the given tables stay as they are."""
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
    """A path or glob, and the names it is found by: two of them overlap only if one's names are the beginning of the other's."""
    owned = read_owned_path(path)
    return owned, _get_fixed_start(owned)


# An index is made anew from the same claims again and again, and a brief is asked about several times.
_read_claimed = lru_cache(maxsize=32_768)(_read)
_read_asked = lru_cache(maxsize=4_096)(_read)


def may_be_anywhere(path: str) -> bool:
    """Whether a path or glob may hold files anywhere in the project, so that nobody knows which.

    >>> may_be_anywhere("**/*.py"), may_be_anywhere("src/**")
    (True, False)
    """
    return not _read_asked(path)[1]


def _get_fixed_start(owned: OwnedPath | BadPath) -> Key:
    if isinstance(owned, BadPath):
        return ()
    if owned.key is not None:
        # What globs cannot be compared with is compared with paths by its names, and with every glob.
        is_plain = _PLAIN.fullmatch(owned.text) is not None
        return owned.key if is_plain or get_fixed_names(owned.text) is not None else ()
    fixed = get_fixed_names(owned.text) if "/" in owned.text else None
    return () if fixed is None else fixed[1]
