"""Live claims of files: who works on which paths until when, and which of them a scope would overlap.

Claims are found by the fixed names at the beginning of a scope, so that one question looks at a few claims and not at
all of them. What a look finds is what `scopes_overlap` says of every claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from orgkernel.decisions.ownership.overlap import OwnedScope, read_scope, read_scopes_overlap
from orgkernel.decisions.ownership.paths import BadPath, Key
from orgkernel.runtime.paths import fixed_names

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


class ClaimConflict(NamedTuple):
    """A path that overlaps with one that is claimed."""

    path: str
    claim: FileClaim
    claimed: str
    """The path of the claim."""


class _Entry(NamedTuple):
    order: int
    scope: OwnedScope | BadPath
    text: str
    claim: FileClaim


class ClaimIndex:
    """The live claims of an organization."""

    def __init__(self, claims: Iterable[FileClaim]) -> None:
        self._at: dict[Key, list[_Entry]] = {}
        self._below: dict[Key, list[_Entry]] = {}
        count = 0
        for claim in claims:
            for text in claim.paths:
                scope, start = _read_claimed(text)
                entry = _Entry(count, scope, text, claim)
                self._at.setdefault(start, []).append(entry)
                for length in range(len(start)):
                    self._below.setdefault(start[:length], []).append(entry)
                count += 1

    def find_conflicts(self, paths: Iterable[str]) -> tuple[ClaimConflict, ...]:
        """Every claimed path that one of the paths or globs overlaps, in the order of the paths and then of the claims.

        >>> claim = FileClaim(org_id="shop", token=1, holder="agent:a", paths=("src/**",), claimed_at=0, expires_at=60)
        >>> [each.claimed for each in ClaimIndex([claim]).find_conflicts(["docs/a.md", "SRC/a.py"])]
        ['src/**']
        """
        found: list[ClaimConflict] = []
        for path in paths:
            scope, start = _read(path)
            near = [*self._below.get(start, ())]
            for length in range(len(start) + 1):
                near += self._at.get(start[:length], ())
            near.sort()
            found += [
                ClaimConflict(path, entry.claim, entry.text)
                for entry in near
                if read_scopes_overlap(scope, entry.scope)
            ]
        return tuple(found)


def _read(path: str) -> tuple[OwnedScope | BadPath, Key]:
    """A scope, and the names it is found by: two scopes overlap only if one's names are the beginning of the other's."""
    scope = read_scope(path)
    return scope, _fixed_start(scope)


# An index is made anew from the same claims again and again.
_read_claimed = lru_cache(maxsize=32_768)(_read)


def _fixed_start(scope: OwnedScope | BadPath) -> Key:
    if isinstance(scope, BadPath):
        return ()
    if scope.key is not None:
        # What globs cannot be compared with is compared with paths by its names, and with every glob.
        is_plain = _PLAIN.fullmatch(scope.text) is not None
        return scope.key if is_plain or fixed_names(scope.text) is not None else ()
    fixed = fixed_names(scope.text) if "/" in scope.text else None
    return () if fixed is None else fixed[1]
