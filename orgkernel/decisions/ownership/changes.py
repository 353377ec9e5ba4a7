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

    before_text: str | None = None
    """What a package manifest contained. Only those that `has_dependency_block` names are read."""
    after_text: str | None = None
    """What it contains."""

    @property
    def touched(self) -> tuple[str, ...]:
        """The paths that are not what they were. What was copied still is."""
        return (self.path, self.before) if self.before and self.change == "renamed" else (self.path,)

    def did_exist(self, path: str) -> bool:
        """Whether there was a file at the beginning at a path that was touched."""
        return path == self.before or self.change not in ("added", "copied", "renamed")

    def get_texts(self, path: str) -> tuple[str | None, str | None] | None:
        """What a manifest contained before and after, each None if there was no file; None if it is not known."""
        existed, exists = self.did_exist(path), self.change != "deleted" and path == self.path
        if (existed and self.before_text is None) or (exists and self.after_text is None):
            return None
        return self.before_text if existed else None, self.after_text if exists else None

    def link_target(self) -> str | None:
        """The path that a link leads to. Empty if it leads out of the project, or nobody knows where."""
        if self.kind != "link" or self.change == "deleted":
            return None
        if not self.link or self.link.startswith("/"):
            return ""
        names = self.path.split("/")[:-1]
        for name in self.link.split("/"):
            if name == "..":
                if not names:
                    return ""
                names.pop()
            elif name not in ("", "."):
                names.append(name)
        return "/".join(names)


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


def format_path(path: str) -> str:
    r"""A path as answers show it: bytes that are no text are written out.

    >>> shown_path("src/\udcff.py")
    'src/\\xff.py'
    """
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
