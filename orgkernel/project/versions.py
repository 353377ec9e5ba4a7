"""Read the two trees of a comparison: paths on disk, or a revision in a git repository (`orgkernel diff`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from msgspec.structs import replace

from orgkernel.diagnostics.wording import listing, printable
from orgkernel.errors import NothingToRead, UsageError
from orgkernel.kernel.registry_state import RegistryState, compute_next_state
from orgkernel.kernel.settings import Project
from orgkernel.loading.cache import Cache
from orgkernel.loading.files import Root
from orgkernel.loading.formats import OURS
from orgkernel.loading.shipped import get_shipped_folder
from orgkernel.project.git.revision import (
    NotCovered,
    ObjectDigests,
    Revision,
    load_revision,
    show_in_repository,
)
from orgkernel.project.git.tree import Repository, find_repository, find_tree, written_tree
from orgkernel.project.requests import build_load_request
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import Request, resolve_paths
from orgkernel.snapshots.snapshot import Snapshot
from orgkernel.snapshots.sources import NO_SOURCES

PREFIX = "git:"
_WITHOUT_GIT = "compare two folders instead"


@dataclass(frozen=True, slots=True)
class TreeVersion:
    """One side of a comparison as it was read."""

    name: str
    """The side with the text that names its tree, such as `OLD (git:HEAD)`."""
    state: RegistryState


@dataclass(frozen=True, slots=True)
class ComparedTrees:
    """Both sides of a comparison."""

    old: TreeVersion
    new: TreeVersion
    save: Callable[[], None]
    """Writes what was read to the cache, after the answer, because no caller waits for it."""


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
    old: str,
    new: str | None,
    project: Project,
    folder: str,
    read_as: str | None = None,
    cache: Cache | None = None,
) -> ComparedTrees:
    """Read both sides. Paths on disk are read with the cache of the project.

    A side is a path, `git:REV` for the paths of the other side at that revision, or `git:REV:PATH`. If `new` is
    None, it is the work tree of the project. Raises `UsageError` if a side cannot be read at all.
    """
    first, second = _parse("OLD", old), _parse("NEW", new)
    if new is None and first.revision is None:
        raise UsageError(
            "NEW is missing, and OLD is not a git revision",
            "pass two trees, or `git:REV` to compare a revision with the work tree",
        )
    reader = _Reader(project, folder, read_as, cache)
    if first.revision is not None and second.revision is not None:
        reader.prepare(first, second)
    if first.revision is None or second.revision is not None:
        return ComparedTrees(reader.read(first, second), reader.read(second, first), reader.save)
    # The work tree is read first, so the revision can share its documents. If neither can be read, the first is reported.
    try:
        newer = reader.read(second, first)
    except UsageError:
        reader.read(first, second)
        raise
    return ComparedTrees(reader.read(first, second), newer, reader.save)


def _parse(side: str, text: str | None) -> _Tree:
    if text is None or not text.startswith(PREFIX):
        return _Tree(side, text or "", None, text)
    rest = text.removeprefix(PREFIX)
    depth = 0
    for number, character in enumerate(rest):
        # Braces nest: `HEAD@{2026-01-01 12:00}` and `HEAD^{/fix: a typo}` contain colons.
        depth += (character == "{") - (character == "}")
        if character == ":" and depth <= 0:
            return _Tree(side, text, rest[:number], rest[number + 1 :])
    return _Tree(side, text, rest)


class _Reader:
    """Reads sides one after the other. A side reuses unchanged documents of an earlier side."""

    def __init__(self, project: Project, folder: str, read_as: str | None, cache: Cache | None) -> None:
        self._project = project
        self._folder = folder
        self._read_as = read_as
        self._cache = cache
        self._loaders: list[Loader] = []
        self._digests: dict[str, ObjectDigests] = {}
        self._known: Snapshot | None = None

    def read(self, tree: _Tree, other: _Tree) -> TreeVersion:
        """One side. Raises `UsageError` if it cannot be read at all."""
        latest = (
            self._load_from_disk(tree, other) if tree.revision is None else self._load_revision(tree, other)
        )
        if not latest.read_anything:
            raise NothingToRead(
                f"{tree.name} has no orgkernel documents", "pass a file or a folder of documents"
            )
        return TreeVersion(tree.name, compute_next_state(latest, {})[0])

    def prepare(self, first: _Tree, second: _Tree) -> None:
        """Take the documents of the work tree from the cache, where both sides are revisions of the same paths."""
        if self._cache is None or first.path != second.path:
            return
        paths: tuple[str, ...] = ()
        with suppress(UsageError):
            if first.path is not None:
                repository, names = _find_in_repository(first, second, self._project, self._folder)
                paths = tuple(os.path.join(repository.folder, name) for name in names)
            self._load(build_load_request(self._project, self._folder, paths, self._read_as), self._cache)

    def save(self) -> None:
        """Write what was read to the cache."""
        for loader in self._loaders:
            loader.save()
        for digests in self._digests.values():
            digests.save()

    def _load_from_disk(self, tree: _Tree, other: _Tree) -> Snapshot:
        request = _request_on_disk(tree, self._project, self._folder, self._read_as)
        if tree.side == "OLD" and other.revision is None and any(root.areas for root in request.roots):
            request = _align_organization_names(
                request, _request_on_disk(other, self._project, self._folder, self._read_as)
            )
        return self._load(request, self._cache)

    def _load(self, request: Request, cache: Cache | None) -> Snapshot:
        loader = Loader(request, self._project.severities, cache)
        snapshot = loader.load()
        self._loaders.append(loader)
        # A revision can reuse only documents without sources: sources change what the documents of a tree mean.
        if loader.sources == NO_SOURCES:
            self._known = snapshot
        return snapshot

    def _load_revision(self, tree: _Tree, other: _Tree) -> Snapshot:
        assert tree.revision is not None
        repository, names = _find_in_repository(tree, other, self._project, self._folder)
        git_tree = find_tree(repository, tree.revision)
        shown_from = _find_shown_from(names, repository, self._folder)
        revision = Revision(repository, git_tree, tuple(names), shown_from, self._read_as)
        digests = self._digests.setdefault(repository.folder, ObjectDigests(repository, self._cache))
        try:
            self._known = load_revision(revision, self._project.severities, digests, self._known)
        except NotCovered:
            return self._load_written(tree, other, revision)
        return self._known

    def _load_written(self, tree: _Tree, other: _Tree, revision: Revision) -> Snapshot:
        """The documents of a revision, written to a temporary folder."""
        every_markdown = self._read_as not in (None, OURS)
        with written_tree(
            revision.repository, revision.tree, revision.names, every_markdown=every_markdown
        ) as top:
            request = _request_of_written(tree, revision, self._folder, top)
            if tree.side == "OLD" and other.revision is None and any(root.areas for root in request.roots):
                request = _align_organization_names(
                    request, _request_on_disk(other, self._project, self._folder, self._read_as)
                )
            return Loader(request, self._project.severities).load()


def _align_organization_names(request: Request, other: Request) -> Request:
    """Give the old organization the name of the new one if both are named after their folders.

    Agents in another format have no organization file, so the folder names their organization. Without this, a
    comparison of two checkouts would report one organization removed and another added.
    """
    names = [os.path.basename(root.path) for root in other.roots if root.areas]
    if len(names) != 1 or sum(bool(root.areas) for root in request.roots) != 1:
        return request
    roots = (replace(root, called=names[0]) if root.areas else root for root in request.roots)
    return replace(request, roots=tuple(roots))


def _request_on_disk(tree: _Tree, project: Project, folder: str, read_as: str | None) -> Request:
    return build_load_request(project, folder, () if tree.path is None else (tree.path,), read_as)


def _find_in_repository(
    tree: _Tree, other: _Tree, project: Project, folder: str
) -> tuple[Repository, list[str]]:
    """The repository of a revision, and the paths to read, relative to its top."""
    if tree.path is not None or (other.revision is not None and other.path is not None):
        repository = find_repository(folder, remedy=_WITHOUT_GIT)
        return repository, [_resolve_in_repository(tree, other, repository, folder)]
    real = [os.path.realpath(path) for path in _list_full_paths(other.path, project, folder)]
    repository = find_repository(real[0], remedy=_WITHOUT_GIT)
    return repository, [_require_inside(path, repository) for path in real]


def _list_full_paths(path: str | None, project: Project, folder: str) -> list[str]:
    if path is not None:
        return [os.path.join(folder, path)]
    return [os.path.join(project.folder, each) for each in project.paths]


def _resolve_in_repository(tree: _Tree, other: _Tree, repository: Repository, folder: str) -> str:
    """A path as in git's `REV:PATH`: relative to the top, or to the current folder if it begins with a dot."""
    path = tree.path if tree.path is not None else other.path
    assert path is not None
    from_here = path in (".", "..") or path.startswith(("./", "../"))
    return _require_inside(
        os.path.join(os.path.realpath(folder) if from_here else repository.folder, path), repository
    )


def _require_inside(path: str, repository: Repository) -> str:
    name = os.path.relpath(path, repository.folder)
    if name == ".." or name.startswith("../"):
        raise UsageError(f"`{printable(path)}` is not inside {repository}")
    return "" if name == "." else name


def _find_shown_from(names: Sequence[str], repository: Repository, folder: str) -> str:
    """The folder, relative to the top, from which files have the same names as on the other side; empty for the top.

    It is the current folder, if it is above all files.
    """
    here = os.path.relpath(os.path.realpath(folder), repository.folder)
    is_above = all(f"{name}/".startswith(f"{here}/") for name in names)
    return here if is_above and not here.startswith("..") else ""


def _request_of_written(tree: _Tree, revision: Revision, folder: str, top: str) -> Request:
    repository = revision.repository
    there = [name for name in revision.names if os.path.lexists(os.path.join(top, name))]
    if not there:
        paths = listing(name or "." for name in revision.names)
        raise NothingToRead(f"{tree.name} has no {paths}", "pass a path that exists in it: `git:REV:PATH`")
    request = resolve_paths(
        [os.path.join(top, name) for name in there],
        top,
        shown_from=os.path.normpath(os.path.join(top, _find_shown_from(there, repository, folder))),
        read_as=revision.read_as,
    )
    called = os.path.basename(repository.folder)
    roots = (
        replace(root, called=called) if root.areas and os.path.samefile(root.path, top) else root
        for root in _iterate_roots_with_own_ontology(request, top, repository)
    )
    return show_in_repository(replace(request, roots=tuple(roots)), top, repository)


def _iterate_roots_with_own_ontology(request: Request, top: str, repository: Repository) -> Iterator[Root]:
    """In a checkout of orgkernel itself, the shared catalogs are those of the revision too."""
    name = os.path.relpath(os.path.realpath(get_shipped_folder("ontology")), repository.folder)
    at_revision = os.path.join(top, name)
    for root in request.roots:
        if root.shared and not name.startswith("..") and os.path.isdir(at_revision):
            yield replace(root, path=at_revision)
        else:
            yield root
