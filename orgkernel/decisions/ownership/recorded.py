"""Recorded ownership audits: the pages of changes that are audited one by one, and what is stored of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from orgkernel.decisions.ownership.audit import AuditOutcome, OwnershipAudit
from orgkernel.decisions.ownership.changes import ChangedFiles, FileChange, RangeCommit, format_path

AUDIT_KIND: Final = "ownership_audit"
"""The kind of a stored page of an audit, among the stored contracts."""
PAGE_BYTES: Final = 40 * 1024
"""Maximum size of the changes of a page as JSON, in bytes. A single file or commit can exceed it."""
PAGE_FILES: Final = 400
KEPT_FINDINGS: Final = 50


class RecordedFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A finding of a recorded audit."""

    code: str
    text: str
    path: str | None = None
    commits: tuple[str, ...] = ()


class RecordedPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a recorded audit: the verdict about the work by one brief on some of its files."""

    audit: str
    """The id of the audit. All of its pages have the same."""
    page: int = 1
    """The number of the page, from 1."""
    pages: int = 1
    brief: str
    base: str
    """The full id of the commit at which the work began."""
    head: str
    outcome: AuditOutcome
    findings: tuple[RecordedFinding, ...] = ()
    """The first findings about the work by the brief, or about unknown workers."""
    finding_count: int = 0
    files: tuple[str, ...] = ()
    """The changed files of the page."""


class ChangePage(msgspec.Struct, frozen=True, kw_only=True):
    """Some of the changes of a range. The findings about all pages are those about the whole range."""

    page: int
    pages: int
    files: tuple[FileChange, ...]
    commits: tuple[RangeCommit, ...]


def split_changes(changed: ChangedFiles) -> tuple[ChangePage, ...]:
    """Split changes into pages that fit into one request. There is at least one page.

    Each page has the commits that changed its files, with these files only. Files that a commit changed and a later one
    restored are on pages of their own, because only commits name them.
    """
    ended = {path for each in changed.files for path in each.touched}
    commit_counts = Counter(path for each in changed.commits for path in each.paths)
    items = [_Item(_shorten(each), each.touched) for each in changed.files]
    items += [_Item(None, (path,)) for path in sorted(commit_counts.keys() - ended)]
    groups: list[list[_Item]] = [[]]
    size = 0
    for item in items:
        weight = 0 if item.change is None else _measure(item.change)
        # In the worst case, a page has a commit of its own for each of its files.
        weight += sum((len(path) + 160) * commit_counts[path] for path in item.paths)
        if groups[-1] and (size + weight > PAGE_BYTES or len(groups[-1]) >= PAGE_FILES):
            groups.append([])
            size = 0
        groups[-1].append(item)
        size += weight
    return tuple(
        ChangePage(
            page=number,
            pages=len(groups),
            files=tuple(each.change for each in group if each.change is not None),
            commits=tuple(_select_commits(changed, {path for each in group for path in each.paths})),
        )
        for number, group in enumerate(groups, 1)
    )


class _Item(NamedTuple):
    """A changed file, or without a change, a file that was restored."""

    change: FileChange | None
    paths: tuple[str, ...]


def _shorten(change: FileChange) -> FileChange:
    """A change that fits on a page. The audit treats unknown contents of a manifest as a change of its dependencies."""
    if _measure(change) <= PAGE_BYTES:
        return change
    return msgspec.structs.replace(change, before_text=None, after_text=None)


def _measure(change: FileChange) -> int:
    """About the size of a change as JSON, in bytes."""
    texts = (change.path, change.before, change.link, change.before_text, change.after_text)
    return 60 + sum(2 * len(each) for each in texts if each is not None)


def _select_commits(changed: ChangedFiles, paths: set[str]) -> Iterator[RangeCommit]:
    for commit in changed.commits:
        inside = tuple(path for path in commit.paths if path in paths)
        if inside:
            yield msgspec.structs.replace(commit, paths=inside)


def build_audit_page(
    answer: OwnershipAudit,
    worker: str,
    *,
    audit: str,
    brief: str,
    base: str,
    head: str,
    page: int,
    pages: int,
) -> RecordedPage:
    """What is stored of an audit about the brief of one worker: its own findings, and those about unknown workers."""
    findings = [each for each in answer.findings if each.worker in (None, worker)]
    violated = any(each.is_violation for each in findings)
    return RecordedPage(
        audit=audit, page=page, pages=pages, brief=brief, base=base, head=head,
        outcome="violations" if violated else "cannot_tell" if findings else "clean",
        findings=tuple(
            RecordedFinding(code=each.code, text=each.text, path=each.path, commits=each.commits)
            for each in findings[:KEPT_FINDINGS]
        ),
        finding_count=len(findings),
        files=tuple(
            dict.fromkeys(
                format_path(path)
                for each in answer.files
                for path in (each.path, *([each.before] if each.before and each.change == "renamed" else []))
            )
        ),
    )  # fmt: skip
