"""What happened to the files of a project between two revisions, commit by commit and as a whole."""

from __future__ import annotations

from typing import Literal

import msgspec

FileChangeKind = Literal["added", "modified", "deleted", "renamed", "copied", "mode_changed", "type_changed"]
EntryKind = Literal["file", "link", "submodule"]


class FileChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file that is not the same at the end as at the beginning. Paths start at the root of the project."""

    path: str
    """The path at the end; that of a deleted file at the beginning."""
    change: FileChangeKind
    before: str | None = None
    """The path at the beginning, of a file that was renamed or copied."""
    kind: EntryKind = "file"
    """What it is at the end; what a deleted file was."""
    link: str | None = None
    """Where a link leads, as it is written in it."""

    @property
    def touched(self) -> tuple[str, ...]:
        """The paths that are not what they were. What was copied still is."""
        return (self.path, self.before) if self.before and self.change == "renamed" else (self.path,)


class RangeCommit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A commit, and what it changed. A merge changes what it takes from no parent, or takes back from one."""

    id: str
    paths: tuple[str, ...] = ()
    briefs: tuple[str, ...] = ()
    """Ids of briefs that the commit names itself."""
    branches: tuple[str, ...] = ()
    """Branches of workers it belongs to. More than one: it cannot be told to which."""


class ChangedFiles(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The changes between two revisions."""

    files: tuple[FileChange, ...] = ()
    commits: tuple[RangeCommit, ...] = ()


def shown_path(path: str) -> str:
    r"""A path as answers show it: bytes that are no text are written out.

    >>> shown_path("src/\udcff.py")
    'src/\\xff.py'
    """
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
