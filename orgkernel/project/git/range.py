"""What a range of git commits changed, read from the object store alone: neither the index nor the work tree counts.

Both sides of a rename count. A merge counts for what it takes from none of its parents, and for what it takes back from
one: what is the same as on a side that did not change it, although another side did.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from orgkernel.decisions.ownership.changes import (
    ChangedFiles,
    RangeCommit,
)
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.loading.files import is_candidate
from orgkernel.project.git.diff import (
    RAW_DIFF,
    RENAMES,
    DiffEntry,
    find_empty_tree,
    read_changes,
    read_entries,
    read_entry,
    split_words,
)
from orgkernel.project.git.process import OBJECT_ID, as_lines, read_git, run_git
from orgkernel.project.git.tree import find_repository


class GitRange(NamedTuple):
    """A range of commits, read."""

    folder: str
    """Top of the repository."""
    base: str
    """The last common commit of both ends. Changes are counted from it."""
    head: str
    changed: ChangedFiles


def read_range(path: str, base: str, head: str, branches: Sequence[str] = ()) -> GitRange:
    """The changes from a revision to another. `branches` are those of workers. Raises `UsageError` if it cannot tell."""
    folder = find_repository(path).folder
    _refuse_shallow(folder)
    first, last = _find_commit(folder, base), _find_commit(folder, head)
    # It fails where there is none.
    common = run_git(folder, "merge-base", "--all", first, last).stdout.decode().split()
    if len(common) != 1:
        raise UsageError(
            f"{quote(base)} and {quote(head)} have {len(common)} last common commits, so the changes are ambiguous",
            "merge one of them into the other, or pass the commit at which the work began",
        )
    entries = tuple(_diff(folder, common[0], last))
    tips = {each: _find_commit(folder, each) for each in branches}
    for branch, tip in tips.items():
        if run_git(folder, "merge-base", "--is-ancestor", tip, last).returncode != 0:
            raise UsageError(
                f"branch {quote(branch)} has commits that are not in {quote(head)}, so they would not be audited",
                f"merge the branch first, or audit it by itself with `--head {branch}`",
            )
    changed = ChangedFiles(
        files=tuple(read_changes(folder, entries)), commits=tuple(_commits(folder, first, last, tips))
    )
    return GitRange(folder, common[0], last, changed)


def list_authors(path: str, base: str, head: str) -> dict[str, str]:
    """The email addresses of the authors of the commits from a revision to another, by commit. Raises `UsageError`."""
    done = read_git(
        path, "log", "--no-show-signature", "--no-notes", "--no-color", "--format=%H %ae", head, f"^{base}", what="list the commits"
    )  # fmt: skip
    lines = done.decode("utf-8", "surrogateescape").splitlines()
    return {commit: author for commit, _, author in (each.partition(" ") for each in lines)}


def find_changed_rules(git_range: GitRange, documents: Sequence[str]) -> list[str]:
    """Documents in the repository that say what is sacred and are not as at the base: changed, new, or gone.

    `documents` are those that count now. If none of them lies in the repository, none there says so.
    """
    inside = [
        os.path.relpath(each, git_range.folder).replace(os.sep, "/")
        for each in map(os.path.realpath, documents)
    ]
    if documents and all(each.startswith("../") for each in inside):
        return []
    changed = [each for each in inside if not each.startswith("../") and _differs(git_range, each)]
    gone = [
        path
        for each in git_range.changed.files
        for path in each.touched
        if each.did_exist(path)
        and path not in changed
        and is_candidate(path)
        and _MARK in _text_at(git_range, path)
    ]
    return [*changed, *gone]


_MARK: Final = b"orgkernel:governance"


def _differs(git_range: GitRange, path: str) -> bool:
    try:
        with open(os.path.join(git_range.folder, path), "rb") as file:
            now = file.read()
    except OSError:
        return True
    return now.replace(b"\r\n", b"\n") != _text_at(git_range, path).replace(b"\r\n", b"\n")


def _text_at(git_range: GitRange, path: str) -> bytes:
    """What a file contained at the base; empty if there was none."""
    done = run_git(git_range.folder, "cat-file", "blob", f"{git_range.base}:{path}")
    return done.stdout if done.returncode == 0 else b""


def _refuse_shallow(folder: str) -> None:
    output = read_git(folder, "rev-parse", "--is-shallow-repository", what="read the repository")
    if output.strip() != b"false":
        raise UsageError(
            "the clone is shallow, so the changes between the revisions are unknown",
            "run `git fetch --unshallow` first; in CI, check out the whole history",
        )


def _find_commit(folder: str, revision: str) -> str:
    done = None
    if revision and not revision.startswith(("-", "^")) and "\0" not in revision:
        done = run_git(folder, "rev-parse", "--verify", f"{revision}^{{commit}}")
        if b"ambiguous" in done.stderr:
            raise UsageError(
                f"{quote(revision)} names more than one commit",
                "pass `refs/heads/BRANCH`, or the id of the commit",
            )
    if done is None or done.returncode != 0 or not OBJECT_ID.fullmatch(done.stdout):
        raise UsageError(
            f"{quote(revision)} is not a commit in the repository", "pass a branch, a tag or a commit"
        )
    return done.stdout.decode().strip()


def _diff(folder: str, one: str, other: str) -> Iterator[DiffEntry]:
    """The difference of two trees, with renames and copies."""
    raw = read_git(folder, *RAW_DIFF, *RENAMES, one, other, what="compare the revisions")
    return read_entries(split_words(raw))


def _commits(folder: str, first: str, last: str, tips: dict[str, str]) -> Iterator[RangeCommit]:
    """The commits from the one revision to the other, the youngest first."""
    log = read_git(
        folder, "log", "-z", "--topo-order", "--no-show-signature", "--no-notes", "--no-color",
        "--format=%H %P%n%(trailers:key=Brief,valueonly,unfold)", last, f"^{first}", what="list the commits",
    )  # fmt: skip
    heads: list[tuple[list[str], tuple[str, ...]]] = []
    for word in split_words(log):
        line, _, rest = word.partition("\n")
        briefs = tuple(dict.fromkeys(each.strip().lower() for each in rest.split("\n") if each.strip()))
        heads.append((line.split(), briefs))
    touched = _touched(folder, [ids for ids, _ in heads])
    on = _map_commits_to_branches(folder, first, tips)
    for ids, briefs in heads:
        yield RangeCommit(
            id=ids[0], paths=tuple(sorted(touched[ids[0]])), briefs=briefs, branches=tuple(on.get(ids[0], ()))
        )


def _touched(folder: str, heads: Sequence[Sequence[str]]) -> dict[str, set[str]]:
    """The paths that each commit changed; a line of heads is a commit with its parents."""
    pairs = [(ids[0], parent) for ids in heads for parent in ids[1:] or ("",)]
    lines = as_lines(" ".join(pair).strip() for pair in pairs)
    words = split_words(
        read_git(
            folder,
            *RAW_DIFF,
            "--stdin",
            "--root",
            "--always",
            "--no-renames",
            input=lines,
            what="read commits",
        )
    )
    differs: dict[tuple[str, str], set[str]] = {}
    numbered = iter(pairs)
    here: set[str] = set()
    for word in words:
        if word.startswith(":"):
            here.add(read_entry(word, words).path)
        else:
            here = differs[next(numbered)] = set()
    paths_by_commit: dict[str, set[str]] = {}
    for commit, *parents in heads:
        if len(parents) < 2:
            paths_by_commit[commit] = differs[commit, parents[0] if parents else ""]
        else:
            sides = [differs[commit, each] for each in parents]
            paths_by_commit[commit] = set.intersection(*sides).union(*_taken_back(folder, parents, sides))
    return paths_by_commit


def _taken_back(folder: str, parents: Sequence[str], sides: Sequence[set[str]]) -> Iterator[set[str]]:
    """For each parent of a merge, the paths that it changed and that the merge does not take from it."""
    if not any(sides):
        return
    common = run_git(folder, "merge-base", "--all", "--octopus", *parents).stdout.decode().split()
    if not common:
        common = [find_empty_tree(folder)]
    for parent, side in zip(parents, sides, strict=True):
        changed: set[str] = set()
        for base in common if side else ():
            raw = read_git(
                folder, *RAW_DIFF, "--no-renames", base, parent, what="compare the sides of a merge"
            )
            changed |= {each.path for each in read_entries(split_words(raw))}
        yield side & changed


def _map_commits_to_branches(folder: str, first: str, tips: dict[str, str]) -> dict[str, list[str]]:
    """Commits and the branches they belong to.

    A branch that contains the end of another one has merged it, or began with it: the commits stay those of the other.
    """
    inside = {
        branch: frozenset(
            read_git(folder, "rev-list", tip, f"^{first}", what="list the commits of a branch")
            .decode()
            .split()
        )
        for branch, tip in tips.items()
    }
    branches_by_commit: dict[str, list[str]] = {}
    for commit in frozenset().union(*inside.values()):
        on = [branch for branch in tips if commit in inside[branch]]
        branches_by_commit[commit] = [
            branch
            for branch in on
            if not any(
                tips[other] != tips[branch] and tips[other] in inside[branch]
                for other in on
                if other != branch
            )
        ]
    return branches_by_commit
