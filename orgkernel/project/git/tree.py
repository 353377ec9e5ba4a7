"""Write the documents of a git revision to a temporary folder.

Only the object store is read: `ls-tree` and `cat-file` apply no attributes or filters, run no hooks, and ignore the index
and the work tree. Only files that could be documents are written, and links that stay inside the tree.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, NamedTuple

from orgkernel.diagnostics.wording import printable, quote
from orgkernel.errors import UsageError
from orgkernel.loading.files import MARKDOWN, is_candidate
from orgkernel.loading.formats import may_be_foreign
from orgkernel.project.git.process import OBJECT_ID, first_line, run_git

_LINK = b"120000"
_FILES = (b"100644", b"100755", b"100664", _LINK)
# The search for a path's organization goes up some folders: above the tree it must find nothing.
_ABOVE = os.path.join("1", "2", "3", "4", "5")
# An object's id always stands for the same content.
_AS_STORED = "--no-replace-objects"
_IMPOSSIBLE = frozenset({"", ".", ".."})
_GIT = ".git"
_MAX_PATH_LENGTH = 16 * 1024


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository and the top of its work tree. The top of a bare repository is the repository itself."""

    folder: str

    def __str__(self) -> str:
        return f"the repository `{printable(self.folder)}`"


class TreeEntry(NamedTuple):
    """A file or a link in a tree."""

    mode: bytes
    object_id: bytes
    path: str

    @property
    def is_link(self) -> bool:
        """Whether it is a link; its content is the target."""
        return self.mode == _LINK


def find_repository(path: str, *, remedy: str = "name a folder in a git repository") -> Repository:
    """The repository that contains a path; the path need not exist. Raises `UsageError`, with `remedy` if there is none.

    It is the one whose `.git` is the nearest above the path, whatever its configuration says about its work tree.
    """
    folder = path
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    top = _find_top(os.path.realpath(folder))
    if top is None:
        raise UsageError(f"`{printable(folder)}` is not in a git repository", remedy)
    done = run_git(top, "rev-parse", "--absolute-git-dir", as_user=True)
    if done.returncode != 0:
        if b"not a git repository" in done.stderr:
            raise UsageError(f"`{printable(folder)}` is not in a git repository", remedy)
        raise UsageError(f"git cannot read the repository of `{printable(folder)}`", first_line(done.stderr))
    git_folder = os.path.realpath(os.fsdecode(done.stdout.removesuffix(b"\n")))
    if git_folder not in (top, os.path.join(top, _GIT)) and not _does_name(git_folder, top):
        raise UsageError(
            f"`{printable(os.path.join(top, _GIT))}` names a repository that does not name this folder",
            f"pass the repository itself: {printable(git_folder)}",
        )
    return Repository(top)


def _find_top(folder: str) -> str | None:
    """The nearest folder with a `.git`, or a bare repository."""
    while not os.path.lexists(os.path.join(folder, _GIT)):
        if os.path.isfile(os.path.join(folder, "HEAD")) and all(
            os.path.isdir(os.path.join(folder, each)) for each in ("objects", "refs")
        ):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _does_name(git_folder: str, top: str) -> bool:
    """Whether a folder of git belongs to a work tree elsewhere: as a worktree, or as a submodule."""
    try:
        with open(os.path.join(git_folder, "gitdir"), "rb") as file:
            there = os.fsdecode(file.read(_MAX_PATH_LENGTH).strip())
            return os.path.realpath(os.path.join(git_folder, there)) == os.path.join(top, _GIT)
    except OSError:
        done = run_git(top, "--git-dir", git_folder, "config", "--local", "--get", "core.worktree")
        there = os.fsdecode(done.stdout.removesuffix(b"\n"))
        return bool(there) and os.path.realpath(os.path.join(git_folder, there)) == top


def find_tree(repository: Repository, revision: str) -> str:
    """The id of the tree of a revision. Raises `UsageError`."""
    done = None
    if revision and not revision.startswith(("-", "^")) and "\0" not in revision:
        done = run_git(repository.folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{tree}}")
    if done is None or done.returncode != 0 or not OBJECT_ID.fullmatch(done.stdout):
        raise UsageError(
            f"{quote(revision)} is not a revision in {repository}",
            "pass a branch, a tag or a commit; in a shallow clone, run `git fetch` for it first",
        )
    return done.stdout.decode().strip()


def list_entries(repository: Repository, tree: str) -> list[TreeEntry]:
    """The files and links of a tree, sorted by git. Raises `UsageError`."""
    done = run_git(repository.folder, _AS_STORED, "ls-tree", "-r", "-z", "--full-tree", tree)
    if done.returncode != 0:
        raise UsageError(f"git cannot list the tree {quote(tree)}", first_line(done.stderr))
    entries = []
    for line in done.stdout.split(b"\0"):
        head, tab, name = line.partition(b"\t")
        if not tab:
            continue
        mode, _, object_id = head.split(b" ")[:3]
        path = os.fsdecode(name)
        # git rejects such names, but other programs can create such a tree.
        if mode in _FILES and _IMPOSSIBLE.isdisjoint(path.split("/")):
            entries.append(TreeEntry(mode, object_id, path))
    return entries


def is_document(entry: TreeEntry) -> bool:
    """Whether a file could be a document, in our format or in that of others."""
    return is_candidate(entry.path) or may_be_foreign(entry.path)


@contextmanager
def written_tree(
    repository: Repository, tree: str, named: tuple[str, ...], *, every_markdown: bool = False
) -> Iterator[str]:
    """A folder with the documents of a tree. It exists until the block ends.

    `named` are paths that were asked for explicitly: they are written under any name. `every_markdown` is for another
    format that the caller chose. Raises `UsageError`.
    """
    entries = list_entries(repository, tree)
    wanted = [
        entry
        for entry in entries
        if entry.is_link
        or is_document(entry)
        or (every_markdown and entry.path.endswith(MARKDOWN))
        or entry.path in named
    ]
    folders = [name for name in named if any(entry.path.startswith(f"{name}/") for entry in entries)]
    with written_entries(repository, wanted, folders) as top:
        yield top


@contextmanager
def written_entries(
    repository: Repository, entries: Sequence[TreeEntry], folders: Iterable[str] = ()
) -> Iterator[str]:
    """A folder with some files of a tree, and with empty folders. It exists until the block ends. Raises `UsageError`.

    It is called as the top of the repository, because the name of a folder can name an organization.
    """
    with tempfile.TemporaryDirectory(prefix="orgkernel-diff-") as temporary:
        top = os.path.join(temporary, _ABOVE, os.path.basename(repository.folder))
        for folder in ("", *folders):
            os.makedirs(os.path.join(top, folder), exist_ok=True)
        links = []
        for entry, content in zip(entries, read_objects(repository, entries), strict=True):
            path = os.path.join(top, entry.path)
            if entry.is_link:
                links.append((path, content))
                continue
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)
        _link(links, top)
        yield top


def read_objects(repository: Repository, entries: Sequence[TreeEntry]) -> Iterator[bytes]:
    """The contents of files and links, in their order. Raises `UsageError`."""
    if not entries:
        return
    # In a file, because git would wait for a reader of its output before it reads all names.
    with tempfile.TemporaryFile() as objects:
        request_lines = b"".join(entry.object_id + b"\n" for entry in entries)
        done = run_git(
            repository.folder, _AS_STORED, "cat-file", "--batch", input=request_lines, output=objects
        )
        if done.returncode != 0:
            raise UsageError("git cannot read the files of a revision", first_line(done.stderr))
        objects.seek(0)
        for entry in entries:
            yield _next_object(objects, entry)


def _next_object(objects: IO[bytes], entry: TreeEntry) -> bytes:
    head = objects.readline().split()
    if len(head) != 3:
        raise UsageError(
            f"git does not have the content of {quote(entry.path)}",
            "this clone is partial; fetch the content with `git fetch`",
        )
    content = objects.read(int(head[2]))
    objects.read(1)
    return content


def _link(links: list[tuple[str, bytes]], top: str) -> None:
    """Create links last, so that nothing is written through one. Remove those that lead out of the tree."""
    made = []
    real_top = os.path.realpath(top)
    for path, target in links:
        folder = os.path.dirname(path)
        through_link = os.path.realpath(folder) != os.path.normpath(
            os.path.join(real_top, os.path.relpath(folder, top))
        )
        if through_link or not target or b"\0" in target or target.startswith(b"/") or os.path.lexists(path):
            continue
        os.makedirs(folder, exist_ok=True)
        os.symlink(os.fsdecode(target), path)
        made.append(path)
    inside = os.path.join(real_top, "")
    for path in [path for path in made if not os.path.join(os.path.realpath(path), "").startswith(inside)]:
        os.unlink(path)
