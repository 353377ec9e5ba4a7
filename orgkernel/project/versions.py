"""Read the two trees of a comparison: paths on disk, or a revision in a git repository (`orgkernel diff`)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from msgspec.structs import replace

from orgkernel.diagnostics.wording import listing, printable
from orgkernel.errors import NothingToRead, UsageError
from orgkernel.kernel.registry_state import RegistryState, compute_next_state
from orgkernel.kernel.settings import Project
from orgkernel.loading.files import Root
from orgkernel.loading.formats import OURS
from orgkernel.project.git.tree import Repository, find_repository, find_tree, written_tree
from orgkernel.project.requests import request_of
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import Request, resolve_paths
from orgkernel.snapshots.shipped import get_shipped_folder

PREFIX = "git:"
_WITHOUT_GIT = "compare two folders instead"


@dataclass(frozen=True, slots=True)
class TreeVersion:
    """One side of a comparison as it was read."""

    name: str
    """The side with the text that names its tree, such as `OLD (git:HEAD)`."""
    state: RegistryState


@dataclass(frozen=True, slots=True)
class _Tree:
    """One side: paths on disk, or a revision with an optional path."""

    side: str
    text: str
    revision: str | None = None
    path: str | None = None

    @property
    def name(self) -> str:
        return f"{self.side} ({self.text})" if self.text else self.side


def read_versions(
    old: str, new: str | None, project: Project, folder: str, read_as: str | None = None
) -> tuple[TreeVersion, TreeVersion]:
    """Read both sides.

    A side is a path, `git:REV` for the paths of the other side at that revision, or `git:REV:PATH`. Without `new` it is
    the project's work tree. Raises `UsageError` if a side cannot be read at all.
    """
    first, second = _parse("OLD", old), _parse("NEW", new)
    if new is None and first.revision is None:
        raise UsageError(
            "NEW is missing, and OLD is not a git revision",
            "pass two trees, or `git:REV` to compare a revision with the work tree",
        )
    return (
        _read_side(first, second, project, folder, read_as),
        _read_side(second, first, project, folder, read_as),
    )


def _parse(side: str, text: str | None) -> _Tree:
    if text is None or not text.startswith(PREFIX):
        return _Tree(side, text or "", None, text)
    rest = text.removeprefix(PREFIX)
    depth = 0
    for number, character in enumerate(rest):
        depth += (character == "{") - (character == "}")
        if character == ":" and depth <= 0:  # `HEAD@{2026-01-01 12:00}`: these colons belong to the revision
            return _Tree(side, text, rest[:number], rest[number + 1 :])
    return _Tree(side, text, rest)


def _read_side(tree: _Tree, other: _Tree, project: Project, folder: str, read_as: str | None) -> TreeVersion:
    with ExitStack() as stack:
        request = _request(tree, other, project, folder, stack, read_as)
        if tree.side == "OLD" and other.revision is None and any(root.areas for root in request.roots):
            request = _called_alike(request, _request(other, tree, project, folder, stack, read_as))
        latest = Loader(request, project.severities).load()
    if not latest.read_anything:
        raise NothingToRead(f"{tree.name} has no orgkernel documents", "pass a file or a folder of documents")
    return TreeVersion(tree.name, compute_next_state(latest, {})[0])


def _called_alike(request: Request, other: Request) -> Request:
    """An organization that is called as its folder is the one in another folder that it is compared with."""
    names = [os.path.basename(root.path) for root in other.roots if root.areas]
    if len(names) != 1 or sum(bool(root.areas) for root in request.roots) != 1:
        return request
    roots = (replace(root, called=names[0]) if root.areas else root for root in request.roots)
    return replace(request, roots=tuple(roots))


def _request(
    tree: _Tree, other: _Tree, project: Project, folder: str, stack: ExitStack, read_as: str | None
) -> Request:
    if tree.revision is None:
        return request_of(project, folder, () if tree.path is None else (tree.path,), read_as)
    if tree.path is not None or (other.revision is not None and other.path is not None):
        repository = find_repository(folder, remedy=_WITHOUT_GIT)
        named = [_in_repository(tree, other, repository, folder)]
        return _request_of_revision(tree, repository, named, folder, stack, read_as)
    full = _full_paths(other.path, project, folder)
    real = [os.path.realpath(path) for path in full]
    repository = find_repository(real[0], remedy=_WITHOUT_GIT)
    named = [_inside(path, repository) for path in real]
    return _request_of_revision(tree, repository, named, folder, stack, read_as)


def _full_paths(path: str | None, project: Project, folder: str) -> list[str]:
    if path is not None:
        return [os.path.join(folder, path)]
    return [os.path.join(project.folder, each) for each in project.paths]


def _in_repository(tree: _Tree, other: _Tree, repository: Repository, folder: str) -> str:
    """A path as in git's `REV:PATH`: relative to the top, or to the current folder if it begins with a dot."""
    path = tree.path if tree.path is not None else other.path
    assert path is not None
    from_here = path in (".", "..") or path.startswith(("./", "../"))
    return _inside(
        os.path.join(os.path.realpath(folder) if from_here else repository.folder, path), repository
    )


def _inside(path: str, repository: Repository) -> str:
    name = os.path.relpath(path, repository.folder)
    if name == ".." or name.startswith("../"):
        raise UsageError(f"`{printable(path)}` is not inside {repository}")
    return "" if name == "." else name


def _request_of_revision(
    tree: _Tree,
    repository: Repository,
    names: Sequence[str],
    folder: str,
    stack: ExitStack,
    read_as: str | None,
) -> Request:
    assert tree.revision is not None
    git_tree = find_tree(repository, tree.revision)
    every_markdown = read_as not in (None, OURS)
    top = stack.enter_context(written_tree(repository, git_tree, tuple(names), every_markdown=every_markdown))
    there = [name for name in names if os.path.lexists(os.path.join(top, name))]
    if not there:
        paths = listing(name or "." for name in names)
        raise NothingToRead(f"{tree.name} has no {paths}", "pass a path that exists in it: `git:REV:PATH`")
    # Files have the same names as on the other side: relative to the current folder, if it is above all of them.
    here = os.path.relpath(os.path.realpath(folder), repository.folder)
    above = all(f"{name}/".startswith(f"{here}/") for name in there)
    shown_from = os.path.join(top, here) if above and not here.startswith("..") else top
    request = resolve_paths(
        [os.path.join(top, name) for name in there],
        top,
        shown_from=os.path.normpath(shown_from),
        read_as=read_as,
    )
    called = os.path.basename(repository.folder)
    roots = (
        replace(root, called=called) if root.areas and os.path.samefile(root.path, top) else root
        for root in _own_ontology(request, top, repository)
    )
    return replace(request, roots=tuple(roots))


def _own_ontology(request: Request, top: str, repository: Repository) -> Iterator[Root]:
    """In a checkout of orgkernel itself, the shared catalogs are those of the revision too."""
    name = os.path.relpath(os.path.realpath(get_shipped_folder("ontology")), repository.folder)
    at_revision = os.path.join(top, name)
    for root in request.roots:
        if root.shared and not name.startswith("..") and os.path.isdir(at_revision):
            yield replace(root, path=at_revision)
        else:
            yield root
