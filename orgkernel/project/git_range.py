"""What a range of git commits changed, read from the object store alone: neither the index nor the work tree counts.

Both sides of a rename count. A merge counts for what it takes from none of its parents, and for what it takes back from
one: what is the same as on a side that did not change it, although another side did.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from orgkernel.decisions.ownership.changes import (
    ChangedFiles,
    EntryKind,
    FileChange,
    FileChangeKind,
    RangeCommit,
)
from orgkernel.decisions.ownership.dependency_blocks import has_dependency_block
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.loading.files import MAX_BYTES, is_candidate
from orgkernel.project.git_process import as_lines, read_git, run_git
from orgkernel.project.git_tree import find_repository
from orgkernel.runtime.paths import fold

_OBJECT: Final = re.compile(rb"[0-9a-f]{40,64}\n")
_LINK: Final = "120000"
_REGULAR: Final = ("100644", "100755", "100664")
_KINDS: Final[dict[str, EntryKind]] = {_LINK: "link", "160000": "submodule"}
_NOTHING: Final = "000000"
_STATUS: Final[dict[str, FileChangeKind]] = {
    "A": "added",
    "D": "deleted",
    "M": "modified",
    "T": "type_changed",
    "R": "renamed",
    "C": "copied",
}


class GitRange(NamedTuple):
    """A range of commits, read."""

    folder: str
    """Top of the repository."""
    base: str
    """The last common commit of both ends. Changes are counted from it."""
    head: str
    changed: ChangedFiles


class _Entry(NamedTuple):
    """An entry of a raw diff."""

    old_mode: str
    mode: str
    old_id: str
    id: str
    status: str
    path: str
    before: str | None


def read_range(path: str, base: str, head: str, branches: Sequence[str] = ()) -> GitRange:
    """The changes from a revision to another. `branches` are those of workers. Raises `UsageError` if it cannot tell."""
    folder = find_repository(path).folder
    _refuse_shallow(folder)
    first, last = _find_commit(folder, base), _find_commit(folder, head)
    # It fails where there is none.
    common = run_git(folder, "merge-base", "--all", first, last).stdout.decode().split()
    if len(common) != 1:
        raise UsageError(
            f"{quote(base)} and {quote(head)} have {len(common)} last common commits, so it cannot be told what changed",
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
        files=tuple(_changes(folder, entries)), commits=tuple(_commits(folder, first, last, tips))
    )
    return GitRange(folder, common[0], last, changed)


def find_changed_rules(found: GitRange, documents: Sequence[str]) -> list[str]:
    """Documents in the repository that say what is sacred and are not as at the base: changed, new, or gone.

    `documents` are those that count now. If none of them lies in the repository, none there says so.
    """
    inside = [
        os.path.relpath(each, found.folder).replace(os.sep, "/") for each in map(os.path.realpath, documents)
    ]
    if documents and all(each.startswith("../") for each in inside):
        return []
    changed = [each for each in inside if not each.startswith("../") and _differs(found, each)]
    gone = [
        path
        for each in found.changed.files
        for path in each.touched
        if each.existed(path)
        and path not in changed
        and is_candidate(path)
        and _MARK in _text_at(found, path)
    ]
    return [*changed, *gone]


_MARK: Final = b"orgkernel:governance"


def _differs(found: GitRange, path: str) -> bool:
    try:
        with open(os.path.join(found.folder, path), "rb") as file:
            now = file.read()
    except OSError:
        return True
    return now.replace(b"\r\n", b"\n") != _text_at(found, path).replace(b"\r\n", b"\n")


def _text_at(found: GitRange, path: str) -> bytes:
    """What a file contained at the base; empty if there was none."""
    done = run_git(found.folder, "cat-file", "blob", f"{found.base}:{path}")
    return done.stdout if done.returncode == 0 else b""


def read_staged() -> ChangedFiles:
    """What is about to be committed, for a hook of git: as one commit of nobody. Raises `UsageError`.

    Of a merge, only what is not as on one of its sides.
    """
    raw = [
        read_git(
            ".",
            "diff-index",
            "--cached",
            *_DIFF[1:],
            *_RENAMES,
            side,
            what="compare what is staged",
            in_hook=True,
        )
        for side in _sides()
    ]
    entries = list(_read_entries(_words(raw[0])))
    for other in raw[1:]:
        differing = {path for each in _read_entries(_words(other)) for path in (each.path, each.before)}
        entries = [each for each in entries if each.path in differing]
    files = tuple(_changes(".", entries, in_hook=True))
    paths = dict.fromkeys(path for each in files for path in each.touched)
    return ChangedFiles(files=files, commits=(RangeCommit(id="", paths=tuple(paths)),))


def _sides() -> list[str]:
    """The commit that the new one follows, and those that it merges. The empty tree, if it is the first."""
    first = (
        run_git(".", "rev-parse", "--verify", "--quiet", "HEAD^{commit}", in_hook=True)
        .stdout.decode()
        .strip()
    )
    merged = run_git(".", "rev-parse", "--git-path", "MERGE_HEAD", in_hook=True).stdout.decode().strip()
    others: list[str] = []
    if os.path.isfile(merged):
        with open(merged, encoding="ascii", errors="replace") as file:
            others = file.read().split()
    return [first or _empty_tree("."), *others]


def _empty_tree(folder: str) -> str:
    return (
        read_git(folder, "hash-object", "-t", "tree", "--stdin", what="name the empty tree").decode().strip()
    )


def find_pushed_base(local: str, remote: str, remote_name: str) -> str | None:
    """The commit from which on a pushed one is new to the remote; None if it is not new at all. Raises `UsageError`.

    `remote` is what the remote has there, zeros for nothing.
    """
    if remote.strip("0"):
        if run_git(".", "cat-file", "-e", f"{remote}^{{commit}}").returncode != 0:
            raise UsageError(
                f"the remote has commit {quote(remote[:12])} there, which is not known here",
                "run `git fetch` first",
            )
        return remote
    known = (
        f"--remotes={remote_name}"
        if run_git(".", "remote", "get-url", remote_name).returncode == 0
        else "--remotes"
    )
    listed = (
        read_git(".", "rev-list", "--boundary", local, "--not", known, what="list the commits")
        .decode()
        .split()
    )
    ends = [each[1:] for each in listed if each.startswith("-")]
    if not listed:
        return None
    last = run_git(".", "merge-base", "--independent", *ends).stdout.decode().split() if ends else []
    if len(last) != 1:
        raise UsageError(
            "it cannot be told which of the pushed commits are new to the remote",
            "push the branch at which the work began first, or run `git fetch`",
        )
    return last[0]


def _refuse_shallow(folder: str) -> None:
    said = read_git(folder, "rev-parse", "--is-shallow-repository", what="read the repository")
    if said.strip() != b"false":
        raise UsageError(
            "the clone is shallow, so it cannot be told what changed since when",
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
    if done is None or done.returncode != 0 or not _OBJECT.fullmatch(done.stdout):
        raise UsageError(
            f"{quote(revision)} is not a commit in the repository", "pass a branch, a tag or a commit"
        )
    return done.stdout.decode().strip()


_DIFF: Final = (
    "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none",
    "--no-relative",
)  # fmt: skip


# What is not recognized as a rename among many files counts as two files, with the same outcome.
_RENAMES: Final = ("-M", "-C", "-l400")


def _diff(folder: str, one: str, other: str) -> Iterator[_Entry]:
    """The difference of two trees, with renames and copies."""
    raw = read_git(folder, *_DIFF, *_RENAMES, one, other, what="compare the revisions")
    return _read_entries(_words(raw))


def _words(raw: bytes) -> Iterator[str]:
    return iter(raw.decode("utf-8", "surrogateescape").split("\0")[:-1])


def _read_entries(words: Iterator[str]) -> Iterator[_Entry]:
    for word in words:
        yield _read_entry(word, words)


def _read_entry(word: str, words: Iterator[str]) -> _Entry:
    old_mode, mode, old_id, id, status = word.removeprefix(":").split(" ")
    path = next(words)
    before = None
    if status[0] in "RC":
        before, path = path, next(words)
    return _Entry(old_mode, mode, old_id, id, status[0], path, before)


def _changes(folder: str, entries: Sequence[_Entry], *, in_hook: bool = False) -> Iterator[FileChange]:
    links = [each.id for each in entries if each.mode == _LINK]
    manifests = [
        id
        for each in entries
        for id, mode, path in (
            (each.old_id, each.old_mode, each.before or each.path),
            (each.id, each.mode, each.path),
        )
        if mode in _REGULAR and _is_manifest(path)
    ]
    contents = read_blobs(folder, dict.fromkeys([*links, *manifests]), in_hook=in_hook)
    for each in entries:
        change = _STATUS.get(each.status)
        if change is None:
            raise UsageError(
                f"git says {quote(each.status)} of {quote(each.path)}, which cannot be understood"
            )
        if change == "modified" and each.old_id == each.id:
            change = "mode_changed"

        def text(id: str, mode: str, path: str) -> str | None:
            is_read = mode in _REGULAR and _is_manifest(path)
            content = contents.get(id) if is_read else None
            return None if content is None else content.decode("utf-8", "surrogateescape")

        target = contents.get(each.id) if each.mode == _LINK else None
        yield FileChange(
            path=each.path,
            change=change,
            before=each.before,
            kind=_KINDS.get(each.mode if each.mode != _NOTHING else each.old_mode, "file"),
            link=None if target is None else target.decode("utf-8", "surrogateescape"),
            before_text=text(each.old_id, each.old_mode, each.before or each.path),
            after_text=text(each.id, each.mode, each.path),
        )


def _is_manifest(path: str) -> bool:
    return has_dependency_block(tuple(map(fold, path.split("/"))))


def read_blobs(folder: str, ids: Iterable[str], *, in_hook: bool = False) -> dict[str, bytes]:
    """The contents of objects, without those that are large. Raises `UsageError` if one is not there."""
    asked = list(ids)
    if not asked:
        return {}
    what = "read the files of a revision"
    sizes = (
        read_git(folder, "cat-file", "--batch-check", input=as_lines(asked), what=what, in_hook=in_hook)
        .decode()
        .splitlines()
    )
    if any(len(line.split()) != 3 for line in sizes):
        help = "this clone is partial; fetch the content first"
        raise UsageError("git does not have the content of a file", help)
    small = [line.split()[0] for line in sizes if int(line.split()[2]) <= MAX_BYTES]
    raw = (
        read_git(folder, "cat-file", "--batch", input=as_lines(small), what=what, in_hook=in_hook)
        if small
        else b""
    )
    found: dict[str, bytes] = {}
    at = 0
    for id in small:
        end = raw.index(b"\n", at)
        size = int(raw[at:end].split()[2])
        found[id] = raw[end + 1 : end + 1 + size]
        at = end + size + 2
    return found


def _commits(folder: str, first: str, last: str, tips: dict[str, str]) -> Iterator[RangeCommit]:
    """The commits from the one revision to the other, the youngest first."""
    log = read_git(
        folder, "log", "-z", "--topo-order", "--no-show-signature", "--no-notes", "--no-color",
        "--format=%H %P%n%(trailers:key=Brief,valueonly,unfold)", last, f"^{first}", what="list the commits",
    )  # fmt: skip
    heads: list[tuple[list[str], tuple[str, ...]]] = []
    for word in _words(log):
        line, _, rest = word.partition("\n")
        briefs = tuple(dict.fromkeys(each.strip().lower() for each in rest.split("\n") if each.strip()))
        heads.append((line.split(), briefs))
    touched = _touched(folder, [ids for ids, _ in heads])
    on = _branches_of(folder, first, tips)
    for ids, briefs in heads:
        yield RangeCommit(
            id=ids[0], paths=tuple(sorted(touched[ids[0]])), briefs=briefs, branches=tuple(on.get(ids[0], ()))
        )


def _touched(folder: str, heads: Sequence[Sequence[str]]) -> dict[str, set[str]]:
    """The paths that each commit changed; a line of heads is a commit with its parents."""
    pairs = [(ids[0], parent) for ids in heads for parent in ids[1:] or ("",)]
    lines = as_lines(" ".join(pair).strip() for pair in pairs)
    words = _words(
        read_git(
            folder, *_DIFF, "--stdin", "--root", "--always", "--no-renames", input=lines, what="read commits"
        )
    )
    differs: dict[tuple[str, str], set[str]] = {}
    numbered = iter(pairs)
    here: set[str] = set()
    for word in words:
        if word.startswith(":"):
            here.add(_read_entry(word, words).path)
        else:
            here = differs[next(numbered)] = set()
    found: dict[str, set[str]] = {}
    for commit, *parents in heads:
        if len(parents) < 2:
            found[commit] = differs[commit, parents[0] if parents else ""]
        else:
            sides = [differs[commit, each] for each in parents]
            found[commit] = set.intersection(*sides).union(*_taken_back(folder, parents, sides))
    return found


def _taken_back(folder: str, parents: Sequence[str], sides: Sequence[set[str]]) -> Iterator[set[str]]:
    """For each parent of a merge, the paths that it changed and that the merge does not take from it."""
    if not any(sides):
        return
    common = run_git(folder, "merge-base", "--all", "--octopus", *parents).stdout.decode().split()
    if not common:
        common = [_empty_tree(folder)]
    for parent, side in zip(parents, sides, strict=True):
        changed: set[str] = set()
        for base in common if side else ():
            raw = read_git(folder, *_DIFF, "--no-renames", base, parent, what="compare the sides of a merge")
            changed |= {each.path for each in _read_entries(_words(raw))}
        yield side & changed


def _branches_of(folder: str, first: str, tips: dict[str, str]) -> dict[str, list[str]]:
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
    found: dict[str, list[str]] = {}
    for commit in frozenset().union(*inside.values()):
        on = [branch for branch in tips if commit in inside[branch]]
        found[commit] = [
            branch
            for branch in on
            if not any(
                tips[other] != tips[branch] and tips[other] in inside[branch]
                for other in on
                if other != branch
            )
        ]
    return found
