"""Finds secrets in the lines that a commit or a push would add."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from orgkernel.project.git.pending import list_staged_sides
from orgkernel.project.git.process import read_git
from orgkernel.runtime.secret_shapes import UNSEARCHED, find_secrets
from orgkernel.runtime.token_shapes import find_refused, find_runs

# An attribute of the repository could hide a file as binary, and a setting could color or rename it.
_PATCH: Final = (
    "-p", "-U0", "--text", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-relative", "--src-prefix=a/",
    "--dst-prefix=b/", "--ignore-submodules=none",
)  # fmt: skip
_PLAIN_PATHS: Final = ("-c", "core.quotePath=false")
_COMMIT: Final = b"\0commit "


class AddedSecret(NamedTuple):
    """A secret in an added line, or in the message of a commit."""

    place: str
    """The file and the line, or the commit."""
    what: str
    shown: str
    """A form of it that may be shown."""


def find_staged_secrets() -> list[AddedSecret]:
    """The secrets in what is about to be committed, for a hook of git. Of a merge, only what neither side has. Raises
    `UsageError`.
    """
    sides = [
        list(
            _find_in_patch(
                read_git(
                    ".", *_PLAIN_PATHS, "diff-index", "--cached", *_PATCH, side, what="compare what is staged", in_hook=True
                )
            )
        )
        for side in list_staged_sides()
    ]  # fmt: skip
    return [each for each in sides[0] if all(each in other for other in sides[1:])]


def find_pushed_secrets(base: str, head: str) -> list[AddedSecret]:
    """The secrets that a commit after `base` up to `head` adds, even if a later one removes them. Raises `UsageError`."""
    log = read_git(
        ".", *_PLAIN_PATHS, "log", "--format=%x00commit %H%n%B%x00", "--diff-merges=dense-combined", *_PATCH, f"{base}..{head}",
        what="read the commits",
    )  # fmt: skip
    secrets: list[AddedSecret] = []
    for entry in log.split(_COMMIT)[1:]:
        message, _, patch = entry.partition(b"\0")
        commit_id, _, text = message.decode("utf-8", "replace").partition("\n")
        name = f"commit {commit_id[:12]}"
        secrets += (
            AddedSecret(f"the message of {name}", what, shown) for _, what, shown in _find_in_text(text)
        )
        secrets += (each._replace(place=f"{each.place} in {name}") for each in _find_in_patch(patch))
    return secrets


def _find_in_patch(patch: bytes) -> Iterator[AddedSecret]:
    path, line, added, columns = "", 0, list[str](), 0

    def search() -> Iterator[AddedSecret]:
        for number, what, shown in _find_in_text("\n".join(added)):
            yield AddedSecret(f"{path}:{line + number}", what, shown)

    for each in patch.split(b"\n"):
        if each.startswith((b"@@", b"diff ")):
            yield from search()
            added.clear()
            columns = 0
            if each.startswith(b"@@"):
                columns = len(each) - len(each.lstrip(b"@")) - 1
                line = int(each.rpartition(b"+")[2].split(b" ")[0].split(b",")[0] or 0)
        elif columns == 0 and each.startswith(b"+++ "):
            path = each[4:].decode("utf-8", "replace").strip('"').removeprefix("b/")
        elif columns and b"+" in each[:columns] and b"-" not in each[:columns]:
            added.append(each[columns:].decode("utf-8", "replace"))
    yield from search()


def _find_in_text(text: str) -> Iterator[tuple[int, str, str]]:
    """The secrets of a text: the number of lines before each, its kind, and a form that may be shown."""
    for secret in find_secrets(text):
        if secret.what == UNSEARCHED:
            # A long file, such as one that is generated: tokens that are known by their form are found in any length.
            for start, _, what in find_refused(text, find_runs(text)):
                yield text.count("\n", 0, start), what, "…"
            return
        yield text.count("\n", 0, secret.start), secret.what, secret.masked
