"""Workers, the files that their briefs own, and the commits that they made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from orgkernel.decisions.ownership.changes import RangeCommit
from orgkernel.decisions.ownership.overlap import read_owned_path
from orgkernel.decisions.ownership.paths import BadPath, Key
from orgkernel.errors import UsageError
from orgkernel.runtime.paths import are_names_inside, fold, may_names_be_inside

if TYPE_CHECKING:
    from orgkernel.decisions.ownership.claims import FileClaim
    from orgkernel.documents.records import Brief

# Compared in folded form. The last one is another name of the first on some file systems.
_NEVER = frozenset(["", ".git", "git~1"])


class AuditedWorker(msgspec.Struct, frozen=True):
    """A worker, with the brief that it follows."""

    name: str
    brief: Brief
    has_branch: bool = False
    """Whether the commits on the branch of this name are the worker's. If not, commits name the brief."""


class OwnedPaths:
    """The files that paths and globs own. A path without wildcards is a file, or a folder with all its content."""

    def __init__(self, owned: Sequence[str], root: str | None) -> None:
        self._root = root
        # A path such as `app/[id].tsx` could also be a file name.
        self._literal = {each.rstrip("/") for each in owned}
        self._plain: set[tuple[str, ...]] = set()
        self._folded: set[Key] = set()
        self._globs: list[str] = []
        for each in owned:
            read = read_owned_path(each)
            if isinstance(read, BadPath) or read.key is None or "\\" in each:
                self._globs.append(each)
            else:
                self._plain.add(tuple(read.text.split("/")))
            if not isinstance(read, BadPath):
                self._folded.add(read.literal)

    def does_own(self, path: str) -> bool:
        """Whether a file is certainly owned. A path that could lead elsewhere, or into `.git`, is not."""
        names = tuple(path.split("/"))
        if any(fold(name) in _NEVER for name in names):
            return False
        return (
            path in self._literal
            or any(names[:length] in self._plain for length in range(1, len(names) + 1))
            or any(are_names_inside(names, each, self._root) for each in self._globs)
        )

    def may_own(self, path: str) -> bool:
        """Whether a file could be owned, ignoring letter case and accents."""
        names = tuple(path.split("/"))
        folded = tuple(map(fold, names))
        return any(folded[:length] in self._folded for length in range(1, len(names) + 1)) or any(
            may_names_be_inside(names, each, self._root) for each in self._globs
        )


class OwnershipOverlap(msgspec.Struct, frozen=True):
    """Paths of two workers that could match one file."""

    worker: str
    other: str
    path: str
    other_path: str


def require_different(workers: Sequence[AuditedWorker]) -> None:
    """Raise `UsageError` unless there is a worker, and each has a name and a brief of its own."""
    if not workers:
        raise UsageError("no brief or claim given, so file ownership is unknown", "pass a brief")
    ids = {(each.brief.id or "").lower() for each in workers}
    if len({each.name for each in workers}) < len(workers) or len(ids) < len(workers):
        raise UsageError("two workers share a name or a brief", "give every worker its own brief")


def build_claimed_work(name: str, claims: Sequence[FileClaim]) -> AuditedWorker:
    """The holder of claims as a worker with a brief that owns the claimed paths."""
    from orgkernel.documents.records import Brief, BriefScope, BriefSpec

    owned = tuple(path for each in claims for path in each.paths)
    return AuditedWorker(name, Brief(id=name, spec=BriefSpec(scope=BriefScope(files_owned=owned))))


def find_author(
    commit: RangeCommit, workers: Sequence[AuditedWorker], by_brief: dict[str, AuditedWorker]
) -> AuditedWorker | None:
    """The author of a commit: the worker of its branch, else of the brief that it names, else the only worker."""
    if commit.branches:
        named = [each for each in workers if each.has_branch and each.name in commit.branches]
        return named[0] if len(named) == len(commit.branches) == 1 else None
    if commit.briefs:
        authors = {by_brief[each].name: by_brief[each] for each in commit.briefs if each in by_brief}
        is_known = len(authors) == 1 and all(each in by_brief for each in commit.briefs)
        return next(iter(authors.values())) if is_known else None
    return workers[0] if len(workers) == 1 and not workers[0].has_branch else None


def remove_parents(workers: Sequence[AuditedWorker]) -> list[AuditedWorker]:
    """The workers without those that handed their files down, because another worker's brief is derived from theirs."""
    by_id = {each.brief.id: each for each in workers}
    above: set[str] = set()
    for each in workers:
        parent = by_id.get(each.brief.parent)
        while parent is not None and parent.name not in above and parent is not each:
            above.add(parent.name)
            parent = by_id.get(parent.brief.parent)
    return [each for each in workers if each.name not in above]


def find_ownership_overlaps(workers: Sequence[AuditedWorker]) -> tuple[OwnershipOverlap, ...]:
    """Owned paths of two workers that could match one file, whether or not it was touched."""
    from math import inf

    from orgkernel.decisions.ownership.claims import ClaimIndex, FileClaim

    overlaps: list[OwnershipOverlap] = []
    before: list[FileClaim] = []
    for number, worker in enumerate(remove_parents(workers)):
        owned = worker.brief.files_owned
        overlaps += [
            OwnershipOverlap(each.claim.holder, worker.name, each.claimed, each.path)
            for each in ClaimIndex(before).find_conflicts(owned)
        ]
        before.append(
            FileClaim(
                org_id="", token=number, holder=worker.name, paths=owned, claimed_at=0.0, expires_at=inf
            )
        )
    return tuple(overlaps)
