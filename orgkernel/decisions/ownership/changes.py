"""The changes of a project's files between two revisions, by commit and in total."""

from __future__ import annotations

from typing import Literal

import msgspec

FileChangeKind = Literal["added", "modified", "deleted", "renamed", "copied", "mode_changed", "type_changed"]
EntryKind = Literal["file", "link", "submodule"]


class FileChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file that differs between the two revisions. Paths start at the root of the project."""

    path: str
    """The path in the newer revision; for a deleted file, in the older one."""
    change: FileChangeKind
    before: str | None = None
    """The path in the older revision, for a file that was renamed or copied."""
    kind: EntryKind = "file"
    """The kind of the file in the newer revision; for a deleted file, in the older one."""
    link: str | None = None
    """The target of a link, as written in the link."""

    before_text: str | None = None
    """The older content of a package manifest. Only files that `has_dependency_block` accepts are read."""
    after_text: str | None = None
    """The newer content."""

    @property
    def touched(self) -> tuple[str, ...]:
        """The paths that changed. The source of a copy did not."""
        return (self.path, self.before) if self.before and self.change == "renamed" else (self.path,)

    def did_exist(self, path: str) -> bool:
        """Whether a file existed at a changed path in the older revision."""
        return path == self.before or self.change not in ("added", "copied", "renamed")

    def get_texts(self, path: str) -> tuple[str | None, str | None] | None:
        """The older and newer content of a manifest, each None if there was no file. None if the contents are unknown."""
        existed, exists = self.did_exist(path), self.change != "deleted" and path == self.path
        if (existed and self.before_text is None) or (exists and self.after_text is None):
            return None
        return self.before_text if existed else None, self.after_text if exists else None

    def link_target(self) -> str | None:
        """The target of a link. Empty if it is outside the project or unknown."""
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
    """A commit and its changes. A merge changes content that comes from no parent, and changes of a parent that it drops."""

    id: str
    paths: tuple[str, ...] = ()
    briefs: tuple[str, ...] = ()
    """The ids of briefs that the commit message names."""
    branches: tuple[str, ...] = ()
    """The worker branches that contain it. With more than one, the worker is unknown."""


class ChangedFiles(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The changes between two revisions."""

    files: tuple[FileChange, ...] = ()
    commits: tuple[RangeCommit, ...] = ()


def format_path(path: str) -> str:
    r"""A path for answers. Bytes that are not valid text are escaped.

    >>> format_path("src/\udcff.py")
    'src/\\xff.py'
    """
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
