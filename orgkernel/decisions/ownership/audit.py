"""Audit changed files: whether each worker changed only the files that its brief owns.

Fails closed: a file is owned only if that is certain, and a commit without a known worker is not treated as allowed.
Sacred files are checked in addition to owners, so owning a file does not unlock it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from orgkernel.decisions.ownership.changes import (
    ChangedFiles,
    FileChange,
    FileChangeKind,
    RangeCommit,
    format_path,
)
from orgkernel.decisions.ownership.owners import (
    AuditedWorker,
    OwnedPaths,
    OwnershipOverlap,
    find_author,
    find_ownership_overlaps,
    remove_parents,
)
from orgkernel.decisions.ownership.sacred import SacredFiles, SacredTouch, TouchedFile
from orgkernel.decisions.reasons import Why
from orgkernel.diagnostics.wording import listing, quote

AuditOutcome = Literal["clean", "violations", "cannot_tell"]


class OwnershipFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A violation in a change, or a fact about it that cannot be determined."""

    code: str
    path: str | None = None
    """The path; None for a finding about a whole commit."""
    worker: str | None = None
    """The worker, if known."""
    commits: tuple[str, ...] = ()
    text: str
    help: str = ""
    why: tuple[Why, ...] = ()
    """The supporting lines."""
    is_violation: bool = True
    """Whether it is a violation. If not, it cannot be determined whether there is one."""


class AuditedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A changed file, with its owners and the workers that changed it."""

    path: str
    change: FileChangeKind
    before: str | None = None
    owners: tuple[str, ...] = ()
    workers: tuple[str, ...] = ()


Attribution = Literal["branch", "message", "only_worker"]
"""Commits are on the branch of the worker, name its brief in their messages, or there is no other worker."""


class AuditedWork(msgspec.Struct, frozen=True, kw_only=True):
    """The changes of one worker."""

    name: str
    brief: str
    """The id of the brief."""
    commits: int
    files: tuple[str, ...] = ()
    """The files the worker changed, except those that were restored."""
    attributed_by: Attribution = "only_worker"
    """Why the commits are the worker's. Anybody can write a message, so it proves nothing about the author."""


class OwnershipAudit(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an audit."""

    outcome: AuditOutcome
    code: str | None = None
    """The code of the first finding, violations first."""
    findings: tuple[OwnershipFinding, ...] = ()
    files: tuple[AuditedFile, ...] = ()
    workers: tuple[AuditedWork, ...] = ()
    unowned: tuple[str, ...] = ()
    """Changed files that no brief owns."""
    overlaps: tuple[OwnershipOverlap, ...] = ()
    """Owned paths of two workers that could match one file. Only a changed file in both is a violation."""
    restored: tuple[str, ...] = ()
    """Files that a commit changed and that were restored."""


def audit_changes(
    changes: ChangedFiles,
    workers: Sequence[AuditedWorker],
    *,
    sacred: SacredFiles | None = None,
    root: str | None = None,
    is_union: bool = False,
) -> OwnershipAudit:
    """Compare changed files with the files that workers own: each worker by its commits, and all of them together.

    `root` is the folder of the project, for absolute paths in briefs. With `is_union`, commits are not attributed to workers.
    """
    case = _Audit(changes, workers, sacred or SacredFiles(), root, is_union)
    findings = case.list_findings()
    violated = any(each.is_violation for each in findings)
    return OwnershipAudit(
        outcome="violations" if violated else "cannot_tell" if findings else "clean",
        code=findings[0].code if findings else None,
        findings=tuple(findings),
        files=tuple(map(case.build_file, changes.files)),
        workers=tuple(map(case.build_work, workers)),
        unowned=tuple(format_path(each) for each in case.touched if not case.owners[each]),
        overlaps=find_ownership_overlaps(workers),
        restored=tuple(sorted(format_path(each) for each in case.commits_of if each not in case.owners)),
    )


def list_ownership_findings(
    changes: ChangedFiles, workers: Sequence[AuditedWorker], *, sacred: SacredFiles, root: str
) -> list[OwnershipFinding]:
    """The findings of an audit alone: all that a hook needs before a write."""
    return _Audit(changes, workers, sacred, root, is_union=False).list_findings()


class _Audit:
    """The changes and workers of one audit, by path."""

    def __init__(
        self,
        changes: ChangedFiles,
        workers: Sequence[AuditedWorker],
        sacred: SacredFiles,
        root: str | None,
        is_union: bool,
    ) -> None:
        self.changed, self.workers, self.sacred, self.is_union = changes, workers, sacred, is_union
        self.touched = tuple(dict.fromkeys(path for each in changes.files for path in each.touched))
        self.owned = {each.name: OwnedPaths(each.brief.files_owned, root) for each in workers}
        self.owners = {
            path: [each for each in workers if self.owned[each.name].does_own(path)] for path in self.touched
        }
        # A mission owns the files of its pieces of work too. Only the pieces can conflict with each other.
        self.lowest = {each.name for each in remove_parents(workers)}
        # Ids in commit messages are written by hand, so their letter case is ignored.
        by_brief = {(each.brief.id or "").lower(): each for each in workers}
        self.author = {each.id: find_author(each, workers, by_brief) for each in changes.commits}
        self.commits_of: dict[str, list[RangeCommit]] = defaultdict(list)
        for commit in changes.commits:
            for path in commit.paths:
                self.commits_of[path].append(commit)

    def list_findings(self) -> list[OwnershipFinding]:
        """All findings, violations first."""
        return [*map(_truncate_finding, sorted(self.find(), key=lambda each: not each.is_violation))]

    def find(self) -> Iterator[OwnershipFinding]:
        for change in self.changed.files:
            for path in change.touched:
                yield from self._find_of_path(change, path)
                yield from self._find_sacred(change, path)
            yield from self._find_link(change)
        # The final state does not show what a commit changed and a later one restored, so these are looked up apart.
        yield from self._find_restored()
        if self.changed.files:
            yield from self._find_unreadable()
        if not self.is_union:
            yield from self._find_unattributed()

    def _find_of_path(self, change: FileChange, path: str) -> Iterator[OwnershipFinding]:
        owners, commits = self.owners[path], self.commits_of.get(path, [])
        authors = {} if self.is_union else self._find_authors(commits)
        for author, made in authors.values():
            if author not in owners:
                yield self._build_foreign_finding(change, path, author, tuple(each.id for each in made))
        # With an author, the file is already reported as foreign to that author.
        if not owners and not authors:
            yield self._build_foreign_finding(change, path, None, tuple(each.id for each in commits))
        conflicting = [
            each
            for each in self.workers
            if each.name in self.lowest and (each in owners or self.owned[each.name].may_own(path))
        ]
        # Paths that differ only in letter case are one file on some disks. One sure owner is needed to call it a
        # conflict.
        if len(conflicting) > 1 and any(each in owners for each in conflicting):
            yield OwnershipFinding(
                code="CLAIM_CONFLICT",
                path=path,
                commits=tuple(each.id for each in commits),
                text=f"{_get_verb(change, path)}, and {listing(each.name for each in conflicting)} own it",
                help="give the file to one of them, or audit their work one after the other",
            )
        if not self.is_union and not commits:
            yield OwnershipFinding(
                code="COMMIT_UNATTRIBUTED",
                path=path,
                text=f"{_get_verb(change, path)}, and no commit names its brief",
                help=_HOW_TO_SAY,
                is_violation=False,
            )

    def _find_sacred(self, change: FileChange, path: str) -> Iterator[OwnershipFinding]:
        """Findings for a sacred file: one that is never changed, or only with a key."""
        commits = self.commits_of.get(path, [])
        authors = [] if self.is_union else [author for author, _ in self._find_authors(commits).values()]
        briefs = [each.brief for each in authors or self.owners[path]]
        touched = TouchedFile(path, change.did_exist(path), change.get_texts(path))
        for touch in self.sacred.find(touched, briefs):
            yield _build_sacred_finding(
                path, touch, f"{_get_verb(change, path)}, and it {touch.text}", commits, authors
            )

    def _find_link(self, change: FileChange) -> Iterator[OwnershipFinding]:
        """Findings for a link out of the project, or to a sacred file, because a write through the link changes its target."""
        target = change.link_target()
        if target is None:
            return
        commits = self.commits_of.get(change.path, [])
        leads = f"{quote(format_path(change.path))} is a link to {quote(format_path(change.link or ''))}"
        if not target:
            yield OwnershipFinding(
                code="WRITE_NOT_OWNED",
                path=change.path,
                commits=tuple(each.id for each in commits),
                text=f"{leads}, which is outside of the project",
                help="undo the change, or let the link lead to a file of the project",
            )
        for touch in self.sacred.find_never(target) if target else ():
            yield _build_sacred_finding(change.path, touch, f"{leads}, which {touch.text}", commits, [])

    def _find_restored(self) -> Iterator[OwnershipFinding]:
        """Findings for sacred files that were changed and restored, because their content stays in the history."""
        for path, commits in self.commits_of.items():
            for touch in () if path in self.owners else self.sacred.find_never(path):
                text = f"{quote(format_path(path))} was changed and then restored; it {touch.text}"
                help = "leave these commits out of the history before it is shared"
                yield _build_sacred_finding(path, touch._replace(help=help), text, commits, [])

    def _find_unreadable(self) -> Iterator[OwnershipFinding]:
        for doubt in self.sacred.find_doubts():
            yield OwnershipFinding(
                code=doubt.code, text=doubt.text, help=doubt.help, why=doubt.why, is_violation=False
            )

    def _find_authors(
        self, commits: Sequence[RangeCommit]
    ) -> dict[str, tuple[AuditedWorker, list[RangeCommit]]]:
        """The authors of the commits, each with its commits."""
        commits_by_author: dict[str, tuple[AuditedWorker, list[RangeCommit]]] = {}
        for commit in commits:
            author = self.author[commit.id]
            if author is not None:
                commits_by_author.setdefault(author.name, (author, []))[1].append(commit)
        return commits_by_author

    def _build_foreign_finding(
        self, change: FileChange, path: str, author: AuditedWorker | None, commits: tuple[str, ...]
    ) -> OwnershipFinding:
        """A finding for a file that its author does not own."""
        others = [each for each in self.workers if each is not author and self.owned[each.name].may_own(path)]
        own = self.workers if author is None else [author]
        by = "" if author is None else f" by {quote(author.name)}"
        # Its own code: the content of an owned file leaves the files of the worker.
        is_moved_out = (
            change.change == "renamed"
            and path == change.path
            and any(self.owned[each.name].does_own(change.before or "") for each in own)
        )
        if others and author is not None:
            code = "FILE_OWNED_BY_OTHER"
            text = f"{_get_verb(change, path)}{by}, and {listing(each.name for each in others)} own{'s' if len(others) == 1 else ''} it"
            help = "undo the change, and leave it to the owner"
        else:
            code = "MOVE_NOT_OWNED" if is_moved_out else "WRITE_NOT_OWNED"
            whose = "no brief" if author is None or len(self.workers) > 1 else "the brief does not"
            text = f"{_get_verb(change, path)}{by}, and {whose} own{'s' if whose == 'no brief' else ''} it"
            help = "undo the change, or ask for more files and report it as pending"
        if any(self.owned[each.name].may_own(path) for each in own):
            text += "; an owned path differs only in letter case or in Unicode form"
        return OwnershipFinding(
            code=code,
            path=path,
            worker=None if author is None else author.name,
            commits=commits,
            text=text,
            help=help,
        )

    def _find_unattributed(self) -> Iterator[OwnershipFinding]:
        """Findings for commits that changed a file and have no known worker."""
        for commit in self.changed.commits:
            if self.author[commit.id] is None and any(path in self.owners for path in commit.paths):
                yield OwnershipFinding(
                    code="COMMIT_UNATTRIBUTED",
                    commits=(commit.id,),
                    text=f"commit {quote(commit.id[:12])} {_explain_unattributed(commit)}",
                    help=_HOW_TO_SAY,
                    is_violation=False,
                )

    def build_file(self, change: FileChange) -> AuditedFile:
        """A file for the answer."""
        return AuditedFile(
            path=format_path(change.path),
            change=change.change,
            before=None if change.before is None else format_path(change.before),
            owners=tuple(each.name for each in self.owners[change.path]),
            workers=tuple(self._find_authors(self.commits_of.get(change.path, []))),
        )

    def build_work(self, worker: AuditedWorker) -> AuditedWork:
        """The changes of one worker for the answer."""
        made = [each for each in self.changed.commits if self.author[each.id] is worker]
        paths = dict.fromkeys(path for each in made for path in each.paths if path in self.owners)
        return AuditedWork(
            name=worker.name,
            brief=worker.brief.id or "",
            commits=len(made),
            files=tuple(map(format_path, paths)),
            attributed_by=self._find_attribution(worker),
        )

    def _find_attribution(self, worker: AuditedWorker) -> Attribution:
        if worker.has_branch:
            return "branch"
        return "message" if len(self.workers) > 1 and not self.is_union else "only_worker"


_HOW_TO_SAY = (
    "end the message of each commit with `Brief: ID`, name the branch of each worker with `--worker BRANCH=FILE`, or check "
    "all workers together with `--union`"
)


def _explain_unattributed(commit: RangeCommit) -> str:
    if commit.branches:
        return f"is on the branches of {listing(commit.branches)}, so its worker is unknown"
    if commit.briefs:
        return f"names brief {listing(commit.briefs)}, which is not exactly one of the given briefs"
    return "does not name its brief"


def _get_verb(change: FileChange, path: str) -> str:
    shown = quote(format_path(path))
    if change.change == "renamed":
        other = change.before if path == change.path else change.path
        way = "from" if path == change.path else "to"
        return f"{shown} is renamed {way} {quote(format_path(other or ''))}"
    return f"{shown} is {_VERBS[change.change]}"


_VERBS = {
    "added": "added",
    "modified": "changed",
    "deleted": "deleted",
    "copied": "added as a copy",
    "mode_changed": "changed in mode",
    "type_changed": "changed in type",
}


def _build_sacred_finding(
    path: str, touch: SacredTouch, text: str, commits: Sequence[RangeCommit], authors: Sequence[AuditedWorker]
) -> OwnershipFinding:
    return OwnershipFinding(
        code=touch.code,
        path=path,
        worker=authors[0].name if len(authors) == 1 else None,
        commits=tuple(each.id for each in commits),
        text=text,
        help=touch.help,
        why=touch.why,
    )


def _truncate_finding(finding: OwnershipFinding) -> OwnershipFinding:
    if finding.path is None:
        return finding
    return msgspec.structs.replace(finding, path=format_path(finding.path))
