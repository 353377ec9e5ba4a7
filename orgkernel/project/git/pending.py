"""What is about to be committed or pushed, as the hooks of git ask."""

from __future__ import annotations

import os

from msgspec.structs import replace

from orgkernel.decisions.ownership.changes import ChangedFiles, RangeCommit
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.project.git.diff import (
    RAW_DIFF,
    RENAMES,
    find_empty_tree,
    read_changes,
    read_entries,
    split_words,
)
from orgkernel.project.git.process import read_git, run_git


def read_staged() -> ChangedFiles:
    """What is about to be committed, for a hook of git: as one commit without a known author. Raises `UsageError`.

    Of a merge, only what is not as on one of its sides.
    """
    raw = [
        read_git(
            ".",
            "diff-index",
            "--cached",
            *RAW_DIFF[1:],
            *RENAMES,
            side,
            what="compare what is staged",
            in_hook=True,
        )
        for side in list_staged_sides()
    ]
    entries = list(read_entries(split_words(raw[0])))
    for other in raw[1:]:
        differing = {path for each in read_entries(split_words(other)) for path in (each.path, each.before)}
        entries = [each for each in entries if each.path in differing]
    files = tuple(read_changes(".", entries, in_hook=True))
    paths = dict.fromkeys(path for each in files for path in each.touched)
    return ChangedFiles(files=files, commits=(RangeCommit(id="", paths=tuple(paths)),))


def list_staged_sides() -> list[str]:
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
    return [first or find_empty_tree("."), *others]


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
            "which of the pushed commits are new to the remote is unknown",
            "push the branch at which the work began first, or run `git fetch`",
        )
    return last[0]


def list_message_briefs(message: str) -> list[str]:
    """The ids of the briefs that a commit message names, as `git log` will find them. Raises `UsageError`."""
    trailers = read_git(
        ".",
        "interpret-trailers",
        "--parse",
        input=message.encode("utf-8", "replace"),
        what="read the message",
    )
    pairs = (line.partition(":") for line in trailers.decode("utf-8", "replace").splitlines())
    return [
        value.strip().lower() for key, _, value in pairs if key.strip().lower() == "brief" and value.strip()
    ]


def find_superproject() -> tuple[str, str] | None:
    """The work tree that contains this one as a submodule, and the path of this one in it. None outside of submodules."""
    top = _print_path("--show-toplevel", ".")
    above, folder = "", top
    while outer := _print_path("--show-superproject-working-tree", folder):
        above = folder = outer
    return (above, os.path.relpath(top, above)) if above else None


def _print_path(option: str, folder: str) -> str:
    """The real path that git prints; empty outside of a work tree."""
    done = run_git(folder or ".", "rev-parse", option)
    path = os.fsdecode(done.stdout).removesuffix("\n") if done.returncode == 0 else ""
    return os.path.realpath(path) if path else ""


def move_changes(changed: ChangedFiles, folder: str) -> ChangedFiles:
    """The same changes, in a folder of another project."""
    files = tuple(
        replace(
            each,
            path=f"{folder}/{each.path}",
            before=None if each.before is None else f"{folder}/{each.before}",
        )
        for each in changed.files
    )
    commits = tuple(
        replace(each, paths=tuple(f"{folder}/{path}" for path in each.paths)) for each in changed.commits
    )
    return ChangedFiles(files=files, commits=commits)
