"""Finds secrets in the lines that a commit or a push would add."""

from __future__ import annotations

from typing import Final

from orgkernel.project.git.patches import PATCH, PLAIN_PATHS, AddedSecret, find_in_patch, find_in_text
from orgkernel.project.git.pending import list_staged_sides
from orgkernel.project.git.process import read_git

_COMMIT: Final = b"\0commit "


def find_staged_secrets() -> list[AddedSecret]:
    """The secrets in what is about to be committed, for a hook of git. Of a merge, only what neither side has. Raises
    `UsageError`.
    """
    sides = [
        list(
            find_in_patch(
                read_git(
                    ".", *PLAIN_PATHS, "diff-index", "--cached", *PATCH, side, what="compare what is staged", in_hook=True
                )
            )
        )
        for side in list_staged_sides()
    ]  # fmt: skip
    return [each for each in sides[0] if all(each in other for other in sides[1:])]


def find_pushed_secrets(base: str, head: str) -> list[AddedSecret]:
    """The secrets that a commit after `base` up to `head` adds, even if a later one removes them. Raises `UsageError`."""
    log = read_git(
        ".", *PLAIN_PATHS, "log", "--format=%x00commit %H%n%B%x00", "--diff-merges=dense-combined", *PATCH, f"{base}..{head}",
        what="read the commits",
    )  # fmt: skip
    secrets: list[AddedSecret] = []
    for entry in log.split(_COMMIT)[1:]:
        message, _, patch = entry.partition(b"\0")
        commit_id, _, text = message.decode("utf-8", "replace").partition("\n")
        name = f"commit {commit_id[:12]}"
        secrets += (
            AddedSecret(f"the message of {name}", what, shown) for _, what, shown in find_in_text(text)
        )
        secrets += (each._replace(place=f"{each.place} in {name}") for each in find_in_patch(patch))
    return secrets
